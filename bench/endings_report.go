package bench

import (
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	// cutLimit is the share of hesitant sentences, in percent, that may be cut
	// off; waitLimit how long in milliseconds a finished one may wait for its
	// answer, in the median, where the end is not found by silence.
	cutLimit, waitLimit = 5, 650
)

// cutOff is a pause in a sentence, and whether the box took it for the end.
type cutOff struct {
	pause time.Duration
	cut   bool
}

type cuts []cutOff

// share is the share that was cut off, in percent, of pauses so long; of all
// where d is 0.
func (c cuts) share(d time.Duration) float64 {
	var n, cut int
	for _, one := range c {
		if d != 0 && one.pause != d {
			continue
		}
		n++
		if one.cut {
			cut++
		}
	}
	return percent(cut, n)
}

// percent is NaN of nothing.
func percent(part, of int) float64 {
	if of == 0 {
		return math.NaN()
	}
	return 100 * float64(part) / float64(of)
}

func (c cuts) report(r *Report, prefix string) {
	var each []string
	for _, d := range pauseLengths() {
		if s := c.share(d); !math.IsNaN(s) {
			each = append(each, fmt.Sprintf("%d ms: %.0f", d.Milliseconds(), s))
		}
	}
	r.against(prefix+"cut_off", c.share(0), "%", cutLimit,
		fmt.Sprintf("of %d sentences with a pause at a phrase's end, by its length: %s; the limit", len(c),
			strings.Join(each, ", ")))
}

type waits []ending

func (w waits) report(r *Report, prefix string) {
	var taken, answered []time.Duration
	var early, never int
	for _, e := range w {
		switch {
		case e.cut():
			early++
		case len(e.taken) == 0:
			never++
		default:
			taken = append(taken, e.taken[0])
			if e.answer {
				answered = append(answered, e.answered)
			}
		}
	}
	of := fmt.Sprintf("of %d finished sentences, from the last sound", len(taken))
	r.figure(prefix+"wait_median", median(taken)/1e6, "ms", of+" to user_message")
	r.figure(prefix+"wait_p95", quantile(taken, 0.95)/1e6, "ms", of)
	r.figure(prefix+"wait_longest", quantile(taken, 1)/1e6, "ms", of)
	note := fmt.Sprintf("of %d, to the first sound of the answer", len(answered))
	if prefix == "semantic_" {
		r.against(prefix+"answer_median", median(answered)/1e6, "ms", waitLimit, note+"; the limit")
	} else {
		r.figure(prefix+"answer_median", median(answered)/1e6, "ms", note)
	}
	r.figure(prefix+"answer_p95", quantile(answered, 0.95)/1e6, "ms", note)
	r.figure(prefix+"cut_early", float64(early), "",
		"finished sentences that were taken before their last sound, or in two")
	r.figure(prefix+"not_answered", float64(never+len(taken)-len(answered)), "", fmt.Sprintf("within %v", ended))
}
