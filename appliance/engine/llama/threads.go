package llama

import "time"

// threadTuner chooses how many threads decode. Several threads meet at a barrier
// after every operation, hundreds of times a token, and wait there spinning:
// when another process takes one of their cores, they are not a little but many
// times slower than a single thread. So now and then a step is taken the other
// way, alone or all together, and the quicker way is kept.
type threadTuner struct {
	maxThreads int  // threads, when all work
	single     bool // the way that is kept

	trial    bool          // the next step goes the other way
	since    int           // stepTimes since the last trial
	interval int           // stepTimes until the next one
	usual    time.Duration // byKey a step of the kept way: the mean, recent ones weighing more
	size     int           // budget of the steps that usual is about
}

const (
	trialFirst = 4   // stepTimes to the first trial: on a busy machine they can take a second
	trialLast  = 128 // each trial that changes nothing doubles the steps to the next, up to this
	minGain    = 0.8 // byKey the usual time, for the other way to be taken
	slowFactor = 2   // times the usual time, for a trial at once
)

func newThreadTuner(threads int) *threadTuner {
	return &threadTuner{maxThreads: threads, interval: trialFirst}
}

// threads is how many threads the next step shall have.
func (p *threadTuner) threads() int {
	if p.single != p.trial {
		return 1
	}
	return p.maxThreads
}

// record learns from a step of replies alone, size tokens; steps with prompts
// differ too much from each other to compare.
func (p *threadTuner) record(size int, d time.Duration) {
	if p.maxThreads == 1 {
		return
	}
	if size != p.size { // another number of replies: begin again to compare
		p.size, p.usual, p.trial = size, 0, false
		return
	}
	switch {
	case p.trial:
		p.trial, p.since = false, 0
		if float64(d) < minGain*float64(p.usual) {
			p.single, p.usual, p.interval = !p.single, d, trialFirst
		} else {
			p.interval = min(2*p.interval, trialLast)
		}
	case p.usual == 0:
		p.usual = d
	default:
		slow := d > slowFactor*p.usual && p.since >= trialFirst
		p.usual += (d - p.usual) / 4
		p.since++
		p.trial = slow || p.since >= p.interval
	}
}
