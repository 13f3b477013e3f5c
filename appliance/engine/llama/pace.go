package llama

import "time"

// pace chooses how many threads decode. Several threads meet at a barrier
// after every operation, hundreds of times a token, and wait there spinning:
// when another process takes one of their cores, they are not a little but many
// times slower than a single thread. So now and then a step is taken the other
// way, alone or all together, and the quicker way is kept.
type pace struct {
	most  int  // threads, when all work
	alone bool // the way that is kept

	trial    bool          // the next step goes the other way
	since    int           // steps since the last trial
	interval int           // steps until the next one
	usual    time.Duration // of a step of the kept way: the mean, recent ones weighing more
	size     int           // tokens of the steps that usual is about
}

const (
	trialFirst  = 4   // steps to the first trial: on a busy machine they can take a second
	trialLast   = 128 // each trial that changes nothing doubles the steps to the next, up to this
	worthChange = 0.8 // of the usual time, for the other way to be taken
	suspicious  = 2   // times the usual time, for a trial at once
)

func newPace(threads int) *pace {
	return &pace{most: threads, interval: trialFirst}
}

// threads is how many threads the next step shall have.
func (p *pace) threads() int {
	if p.alone != p.trial {
		return 1
	}
	return p.most
}

// took learns from a step of replies alone, size tokens; steps with prompts
// differ too much from each other to compare.
func (p *pace) took(size int, d time.Duration) {
	if p.most == 1 {
		return
	}
	if size != p.size { // another number of replies: begin again to compare
		p.size, p.usual, p.trial = size, 0, false
		return
	}
	switch {
	case p.trial:
		p.trial, p.since = false, 0
		if float64(d) < worthChange*float64(p.usual) {
			p.alone, p.usual, p.interval = !p.alone, d, trialFirst
		} else {
			p.interval = min(2*p.interval, trialLast)
		}
	case p.usual == 0:
		p.usual = d
	default:
		slow := d > suspicious*p.usual && p.since >= trialFirst
		p.usual += (d - p.usual) / 4
		p.since++
		p.trial = slow || p.since >= p.interval
	}
}
