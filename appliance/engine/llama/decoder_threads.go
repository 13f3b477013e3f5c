package llama

import "time"

// threadTuner chooses how many threads decode. Several threads meet at a barrier after every
// operation, hundreds of times a token, and spin while they wait. When another process takes one of
// their cores, they are not a little but many times slower than a single thread. So now and then
// one step is a trial with the other choice, one thread or all, and the faster choice is kept.
type threadTuner struct {
	maxThreads int  // threads when all work
	single     bool // the current choice is one thread

	trial    bool          // the next step uses the other choice
	since    int           // steps since the last trial
	interval int           // steps until the next trial
	average  time.Duration // moving average of the step time with the current choice
	size     int           // tokens of the steps that average measures
}

const (
	firstTrial       = 4   // steps to the first trial: on a busy machine they can take a second
	maxTrialInterval = 128 // each trial that changes nothing doubles the interval, up to this
	minGain          = 0.8 // fraction of the average below which the other choice is taken
	slowFactor       = 2   // multiple of the average that starts a trial at once
)

func newThreadTuner(threads int) *threadTuner {
	return &threadTuner{maxThreads: threads, interval: firstTrial}
}

// threads returns the number of threads of the next step.
func (t *threadTuner) threads() int {
	if t.single != t.trial {
		return 1
	}
	return t.maxThreads
}

// record takes the duration of a step of replies alone, with size tokens. Steps with prompts differ
// too much from each other to compare.
func (t *threadTuner) record(size int, d time.Duration) {
	if t.maxThreads == 1 {
		return
	}
	if size != t.size { // another number of replies: the comparison starts again
		t.size, t.average, t.trial = size, 0, false
		return
	}
	switch {
	case t.trial:
		t.trial, t.since = false, 0
		if float64(d) < minGain*float64(t.average) {
			t.single, t.average, t.interval = !t.single, d, firstTrial
		} else {
			t.interval = min(2*t.interval, maxTrialInterval)
		}
	case t.average == 0:
		t.average = d
	default:
		slow := d > slowFactor*t.average && t.since >= firstTrial
		t.average += (d - t.average) / 4
		t.since++
		t.trial = slow || t.since >= t.interval
	}
}
