package llama

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"parley/appliance/engine"
)

// A client that types as fast as it can soon has a history of thousands of messages, which each
// turn has to fit.
func TestALongHistoryIsFittedInAFewTries(t *testing.T) {
	const limit, each = 8072, 12 // tokens of all messages, and of one
	for _, n := range []int{1, 7, 8, 9, 670, 680, 2390, 50_000} {
		all := dropCounts(n, limit)
		tries, most := 0, 0
		at, err := firstThatFits(len(all), func(i int) (bool, error) {
			tries++
			most = max(most, n-all[i])
			return each*(n-all[i]) <= limit, nil
		})
		if err != nil || at == len(all) || each*(n-all[at]) > limit || at > 0 && each*(n-all[at-1]) <= limit {
			t.Errorf("of %d messages it leaves out number %d of %d: %v", n, at, len(all), err)
		}
		if tries > 12 {
			t.Errorf("%d messages took %d tries", n, tries)
		}
		if most > limit+stride {
			t.Errorf("of %d messages %d were tokenized, each of which has a token; %d tokens fit", n, most, limit)
		}
	}
}

func TestTruncationEqualsExhaustiveSearch(t *testing.T) {
	m := small(t, nil)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 30 {
		messages := []engine.Message{says(engine.System, hotel)}
		for i := range 1 + rng.IntN(60) {
			role := []engine.Role{engine.User, engine.Assistant}[i%2]
			messages = append(messages, says(role, strings.Repeat("a few words ", 1+rng.IntN(20)*rng.IntN(3))))
		}
		limit := 60 + rng.IntN(1500)
		var want []Token
		for drop := range len(messages) - 1 {
			if drop%stride != 0 && drop < (len(messages)-2)/stride*stride {
				continue
			}
			rest := append(messages[:1:1], messages[1+drop:]...)
			if tokens, _, err := m.template.tokens(rest, true, map[string][]Token{}); err != nil {
				t.Fatal(err)
			} else if len(tokens) <= limit {
				want = tokens
				break
			}
		}
		got, _, err := m.template.fit(t.Context(), messages, limit, true)
		if _, full := errors.AsType[engine.ErrTooLong](err); full != (want == nil) || !slices.Equal(got, want) {
			t.Errorf("%d messages in %d tokens: %d, want %d: %v", len(messages), limit, len(got), len(want), err)
		}
	}
}

func TestACancelledPromptIsNotWritten(t *testing.T) {
	m := small(t, nil)
	messages := []engine.Message{says(engine.System, hotel)}
	for i := range 500 {
		messages = append(messages, says(engine.User, fmt.Sprint("Question ", i)))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := m.template.fit(gone, messages, 500, true); !errors.Is(err, context.Canceled) {
		t.Errorf("the prompt was written although its request was cancelled: %v", err)
	}
}
