package llama

import (
	"slices"
	"time"
)

// A step holds the cores until it ends.
const (
	// stepTokensInteractive is the most tokens of an interactive prompt in a step, and
	// stepTokensPrefetch the most of a prefetched one. An aborted step is lost, and a step keeps
	// the cores that it began with: on a slow machine 24 tokens take half a second, and with steps
	// of 64 the first answer of a chat came a second later.
	stepTokensInteractive = 24
	stepTokensPrefetch    = 16
	// stepTokensWhole is the most tokens of interactive prompts if the step completes them. Each
	// step has a fixed cost, on a slow machine that of 15 more tokens: the words of a turn and the
	// tool choice for them are 28 tokens or so, which took a step of 24 and one of 4.
	stepTokensWhole = 40
	// stepTokensWithReplies is the most prompt tokens in a step with replies, each of which adds
	// one token.
	stepTokensWithReplies = 8
	// stepBudget is how long a step may take while others wait for it.
	stepBudget = 60 * time.Millisecond
	// sizeAge is how long a measurement of a step size is valid; the machine may have been busy
	// then.
	sizeAge = 10 * time.Second
)

// sizes are the measured step sizes in tokens; each stands for the steps with more tokens than the
// size before it.
var sizes = [...]int{1, 2, 4, 8, 16, stepTokensInteractive, stepTokensWhole}

// stepTimes measures how long steps take on this machine.
type stepTimes struct {
	took [len(sizes)]time.Duration // moving averages; 0: unknown
	at   [len(sizes)]time.Time
}

func sizeOf(tokens int) int {
	at, _ := slices.BinarySearch(sizes[:], tokens)
	return min(at, len(sizes)-1)
}

// record takes the duration of a step.
func (s *stepTimes) record(tokens int, d time.Duration, now time.Time) {
	i := sizeOf(tokens)
	if s.took[i] == 0 || now.Sub(s.at[i]) > sizeAge {
		s.took[i] = d
	} else {
		s.took[i] += (d - s.took[i]) / 4
	}
	s.at[i] = now
}

// expect returns how long a step of this size will take; 0: unknown.
func (s *stepTimes) expect(tokens int, now time.Time) time.Duration {
	i := sizeOf(tokens)
	if now.Sub(s.at[i]) > sizeAge {
		return 0
	}
	return s.took[i]
}

// fits returns how many tokens fit into a step of duration d, at least one. The next size without a
// measurement is tried.
func (s *stepTimes) fits(d time.Duration, now time.Time) int {
	n := sizes[0]
	for i, size := range sizes {
		if now.Sub(s.at[i]) > sizeAge {
			return size
		}
		if s.took[i] > d {
			break
		}
		n = size
	}
	return n
}

// marginal returns what tokens cost at most in a step that is taken anyway: their part of the
// largest measured step. Without a measurement it is an hour, more than anything is worth.
func (s *stepTimes) marginal(tokens int, now time.Time) time.Duration {
	for i := len(sizes) - 1; i > 0; i-- {
		if took := s.expect(sizes[i], now); took > 0 {
			return took * time.Duration(tokens) / time.Duration(sizes[i])
		}
	}
	return time.Hour
}
