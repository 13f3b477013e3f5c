package llama

// Small models at temperature 0 now and then say one thing again and again
// until the reply is full. A penalty on repeated tokens would prevent it, but
// also bends times and prices, whose digits repeat; so a loop is noticed and
// the reply ended instead.
const (
	loopLongest = 64 // tokens of the repeated part; longer ones do not fit twice
	loopAtLeast = 24 // tokens that must repeat, however short the part: "no, no, no" is no loop
)

// loops says whether the end of said repeats: a part of up to loopLongest
// tokens twice over, a short one as often as makes loopAtLeast tokens.
func loops(said []Token) bool {
	for period := 1; period <= loopLongest; period++ {
		need := max(2*period, loopAtLeast)
		if len(said) < need {
			return false
		}
		end := said[len(said)-need:]
		if commonPrefix(end, end[period:]) == need-period {
			return true
		}
	}
	return false
}
