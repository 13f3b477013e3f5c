package shape

const (
	// pauseHop is the step in which pauses are searched, and shortestPause the least length of
	// one: the closures of p, t and k are shorter.
	pauseHop, shortestPause = 10, 80 // ms
	// pauseLevel is the level below which there is no speech: 45 dB below full scale.
	pauseLevel = 0.0056
	// longestPause bounds what is added to a pause.
	longestPause = 1500 // ms
)

// pausing lengthens or shortens the pauses of speech.
type pausing struct {
	times    float64 // how many times its length is added to a pause; -0.5 removes half
	hop      int
	rateHz   int
	rest     []float32 // less than a hop
	held     []float32 // the last hop of a pause
	quiet    int       // samples of the pause so far
	taken    int       // samples processed
	dropped  float64   // how much of a hop is to be removed
	moves    []move
	anything bool // there was speech
}

// move is by how many samples the stream is delayed from a position on.
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

// take processes a hop, and appends the finished sound.
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

// move records that the stream is delayed by more from here on.
func (p *pausing) move(by int) {
	if n := len(p.moves); n > 0 {
		by += p.moves[n-1].by
	}
	p.moves = append(p.moves, move{p.taken, by})
}

// moved returns the output position of an input sample.
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

// fadeOut fades a piece to silence.
func fadeOut(pcm []float32) {
	for i := range pcm {
		pcm[i] *= 1 - float32(i+1)/float32(len(pcm))
	}
}
