package llama

// At temperature 0, small models sometimes repeat a phrase until the reply is full. A penalty on
// repeated tokens would prevent that, but it also distorts times and prices, whose digits repeat.
// So a loop is detected and ends the reply.
const (
	maxLoopTokens = 64 // tokens of the repeated part; a longer one does not fit twice
	minLoopTokens = 24 // tokens that must repeat, however short the part: "no, no, no" is no loop
)

// loops reports whether generated ends with a loop: a part of up to maxLoopTokens tokens twice, a
// short part until it makes minLoopTokens tokens.
func loops(generated []Token) bool {
	for period := 1; period <= maxLoopTokens; period++ {
		need := max(2*period, minLoopTokens)
		if len(generated) < need {
			return false
		}
		end := generated[len(generated)-need:]
		if commonPrefix(end, end[period:]) == need-period {
			return true
		}
	}
	return false
}
