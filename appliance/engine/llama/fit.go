package llama

import (
	"fmt"

	"parley/appliance/engine"
)

// stride is how many messages are left out at once when a conversation gets
// too long: so its kept beginning stays the same, and cached, for some turns.
const stride = 8

// fit writes messages as tokens, at most limit of them; shared is how many at
// the beginning other conversations may have too. Where they do not fit, the
// oldest after the system message are left out; the system message and the
// newest always stay, and where those two do not fit it is an engine.ErrTooLong.
func (t template) fit(messages []engine.Message, limit int, reply bool) (out []Token, shared int, err error) {
	if len(messages) == 0 {
		return nil, 0, fmt.Errorf("llama: the prompt has no messages")
	}
	head := 0
	for head < len(messages)-1 && messages[head].Role == engine.System {
		head++
	}
	memo := make(map[string][]Token)
	least := 0
	for _, drop := range drops(len(messages) - head) {
		kept := append(messages[:head:head], messages[head+drop:]...)
		tokens, shared, err := t.tokens(kept, true, memo)
		if err != nil {
			return nil, 0, err
		}
		least = len(tokens)
		if least > limit {
			continue
		}
		if reply {
			return tokens, shared, nil
		}
		return t.tokens(kept, false, memo)
	}
	return nil, 0, fmt.Errorf("llama: %w", engine.ErrTooLong{Tokens: least, Room: limit})
}

// drops are the numbers of turns to try to leave out of n, fewest first:
// multiples of stride, then, for few long messages, every number.
func drops(n int) []int {
	out := []int{0}
	for d := stride; d < n; d += stride {
		out = append(out, d)
	}
	for d := out[len(out)-1] + 1; d < n; d++ {
		out = append(out, d)
	}
	return out
}
