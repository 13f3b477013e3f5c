package llama

import (
	"slices"
	"time"
)

// A step holds the cores, and whoever else wants them waits for its end.
const (
	// stepTokensInteractive is the most of a prompt that somebody waits for, and
	// stepTokensAhead of one that is read ahead. What is given up for somebody
	// more urgent is lost, and a step keeps the cores that it began with: on a
	// slow machine 24 tokens take half a second, and with steps of 64 the first
	// answer of a chat came a second later.
	stepTokensInteractive = 24
	stepTokensPrefetch    = 16
	// stepTokensWhole is the most of prompts that somebody waits for where they are
	// read to their ends thereby. Every step has a price of its own, on a slow machine
	// as much as 15 tokens more in it: the words of a turn and the choice of a tool
	// for them are 28 tokens or so, which were read in a step of 24 and one of 4.
	stepTokensWhole = 40
	// stepTokensWithReplies is the most that is read beside replies, each of which
	// has one token in the step.
	stepTokensWithReplies = 8
	// stepBudget is how long a step may take that others wait for.
	stepBudget = 60 * time.Millisecond
	// sizeAge is how long it is believed what a size of step took: the machine
	// may have been busy then.
	sizeAge = 10 * time.Second
)

// sizes are those of steps, in tokens, whose time is measured: each stands for
// the steps of more tokens than the size before it.
var sizes = [...]int{1, 2, 4, 8, 16, stepTokensInteractive, stepTokensWhole}

// stepTimes knows how long steps take on this machine.
type stepTimes struct {
	took [len(sizes)]time.Duration // the mean, recent ones weighing more; 0: not known
	at   [len(sizes)]time.Time
}

func sizeOf(tokens int) int {
	at, _ := slices.BinarySearch(sizes[:], tokens)
	return min(at, len(sizes)-1)
}

// record learns from a step.
func (s *stepTimes) record(tokens int, d time.Duration, now time.Time) {
	i := sizeOf(tokens)
	if s.took[i] == 0 || now.Sub(s.at[i]) > sizeAge {
		s.took[i] = d
	} else {
		s.took[i] += (d - s.took[i]) / 4
	}
	s.at[i] = now
}

// expect is how long a step of so many tokens will take; 0: nobody knows.
func (s *stepTimes) expect(tokens int, now time.Time) time.Duration {
	i := sizeOf(tokens)
	if now.Sub(s.at[i]) > sizeAge {
		return 0
	}
	return s.took[i]
}

// fits is how many tokens fit into a step of so long; at least one. The next
// size that nobody has measured is tried.
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

// marginal is what so many tokens cost at most in a step that is made anyway: their
// part of one of the most tokens that was measured. It is an hour where none was,
// which is more than anything is worth.
func (s *stepTimes) marginal(tokens int, now time.Time) time.Duration {
	for i := len(sizes) - 1; i > 0; i-- {
		if took := s.expect(sizes[i], now); took > 0 {
			return took * time.Duration(tokens) / time.Duration(sizes[i])
		}
	}
	return time.Hour
}
