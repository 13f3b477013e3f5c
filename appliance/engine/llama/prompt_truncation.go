package llama

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"parley/appliance/engine"
)

// stride is how many messages are left out at once when a conversation gets too long, so that its
// cached beginning stays valid for some turns.
const stride = 8

// fit is fitTurn for a turn that consists of the newest message.
func (t template) fit(ctx context.Context, messages []engine.Message, limit int, reply bool) (out []Token, shared int,
	err error) {
	return t.fitTurn(ctx, messages, 1, limit, reply, map[string][]Token{})
}

// fitTurn tokenizes messages into at most limit tokens; shared is how many tokens at the beginning
// other conversations may share. If they do not fit, the oldest messages after the system message
// are left out. The system message and the newest turn messages always stay; if those do not fit,
// fitTurn returns an engine.ErrTooLong. memo caches the tokens of messages. A long conversation
// takes a while, so fitTurn stops when ctx ends.
func (t template) fitTurn(ctx context.Context, messages []engine.Message, turn, limit int, reply bool,
	memo map[string][]Token) (out []Token, shared int, err error) {
	if len(messages) == 0 {
		return nil, 0, fmt.Errorf("llama: prompt has no messages")
	}
	head := 0
	for head < len(messages)-1 && messages[head].Role == engine.System {
		head++
	}
	most := max(0, len(messages)-head-turn)
	all := slices.DeleteFunc(dropCounts(len(messages)-head, limit), func(drop int) bool { return drop > most })
	if len(all) == 0 {
		all = []int{most}
	}
	least := 0 // tokens of the last attempt
	at, err := firstThatFits(len(all), func(i int) (bool, error) {
		if err := context.Cause(ctx); err != nil {
			return false, err
		}
		rest := append(messages[:head:head], messages[head+all[i]:]...)
		tokens, steady, err := t.tokens(rest, true, memo)
		if err != nil {
			return false, err
		}
		least = len(tokens)
		if least > limit {
			return false, nil
		}
		if out, shared = tokens, steady; !reply {
			out, shared, err = t.tokens(rest, false, memo)
		}
		return true, err
	})
	if err == nil && at == len(all) {
		err = fmt.Errorf("llama: %w", engine.ErrTooLong{Tokens: least, Limit: limit})
	}
	if err != nil {
		return nil, 0, err
	}
	return out, shared, nil
}

// firstThatFits returns the first of n candidates that fits, where each fits if the one before it
// does; n if none does. Candidate 0 is tried first, since it fits mostly; of a thousand others
// about ten are tried, the returned one last of those that fit.
func firstThatFits(n int, fits func(int) (bool, error)) (first int, err error) {
	if fit, err := fits(0); fit || err != nil {
		return 0, err
	}
	first = 1 + sort.Search(n-1, func(i int) bool {
		if err != nil {
			return true
		}
		var fit bool
		fit, err = fits(1 + i)
		return fit
	})
	return first, err
}

// dropCounts returns the numbers of messages to try to leave out of n, fewest first: multiples of
// stride, then, for few long messages, every number. Each message has at least one token, so
// numbers that leave more than limit messages are skipped.
func dropCounts(n, limit int) []int {
	var out []int
	for d := 0; d == 0 || d < n; d += stride {
		if n-d <= limit || d+stride >= n {
			out = append(out, d)
		}
	}
	for d := out[len(out)-1] + 1; d < n; d++ {
		out = append(out, d)
	}
	return out
}
