package shape

const (
	// pauseHop is in which steps pauses are looked for, and shortestPause how long
	// one is at least: the closures of p, t and k are shorter.
	pauseHop, shortestPause = 10, 80 // ms
	// pauseLevel is the level under which nothing is said: 45 dB below full scale.
	pauseLevel = 0.0056
	// longestPause bounds what is added to one pause: nobody waits longer.
	longestPause = 1500 // ms
)

// pausing makes the pauses of speech longer or shorter.
type pausing struct {
	times    float64 // of a pause that are added; -0.5 takes half away
	hop      int
	rateHz   int
	rest     []float32 // less than a hop
	held     []float32 // the last hop of a pause
	quiet    int       // samples of the pause so far
	taken    int       // samples that were taken in
	dropped  float64   // how much of a hop is to be left out
	moves    []move
	anything bool // was said
}

// A move says by how many samples what comes at a place of the stream or behind
// comes later.
type move struct{ from, by int }

func newPausing(rateHz int, times float64) *pausing {
	return &pausing{times: times, hop: rateHz * pauseHop / 1000, rateHz: rateHz}
}

func (p *pausing) process(pcm []float32, end bool) (out []float32) {
	p.rest = append(p.rest, pcm...)
	for len(p.rest) >= p.hop {
		out = p.take(out, p.rest[:p.hop])
		p.rest = append(p.rest[:0], p.rest[p.hop:]...)
	}
	if end {
		out = append(append(out, p.held...), p.rest...)
		p.held, p.rest = nil, nil
	}
	return out
}

// take takes a hop, and appends what is finished.
func (p *pausing) take(out, hop []float32) []float32 {
	var energy float32
	for _, x := range hop {
		energy += x * x
	}
	shortest := shortestPause * p.rateHz / 1000
	silent := energy < pauseLevel*pauseLevel*float32(len(hop))
	if !silent {
		if p.anything && p.quiet >= shortest && p.times > 0 {
			add := min(int(p.times*float64(p.quiet)), longestPause*p.rateHz/1000)
			fadeOut(p.held)
			out = append(append(out, p.held...), make([]float32, add)...)
			p.held = nil
			p.move(add)
		}
		out = append(append(out, p.held...), hop...)
		p.held, p.quiet, p.dropped, p.anything = nil, 0, 0, true
		p.taken += len(hop)
		return out
	}
	if p.anything && p.times < 0 && p.quiet >= shortest {
		if p.dropped -= p.times; p.dropped >= 1 {
			p.dropped--
			p.taken += len(hop)
			p.move(-len(hop))
			p.quiet += len(hop)
			return out
		}
	}
	out = append(out, p.held...)
	p.held = append([]float32(nil), hop...)
	p.quiet += len(hop)
	p.taken += len(hop)
	return out
}

// move notes that what comes from here on comes later.
func (p *pausing) move(by int) {
	if n := len(p.moves); n > 0 {
		by += p.moves[n-1].by
	}
	p.moves = append(p.moves, move{p.taken, by})
}

// moved is where a sample of the stream went.
func (p *pausing) moved(at int) int {
	by := 0
	for _, m := range p.moves {
		if m.from > at {
			break
		}
		by = m.by
	}
	return at + by
}

// fadeOut lets a piece end in silence.
func fadeOut(pcm []float32) {
	for i := range pcm {
		pcm[i] *= 1 - float32(i+1)/float32(len(pcm))
	}
}
