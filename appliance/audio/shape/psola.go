package shape

import (
	"math"
	"math/rand/v2"
)

const (
	// unvoicedStep is the distance of the pieces where there is no voice, in ms.
	unvoicedStep = 5
	// search is how far from its expected position the next period is searched, as a share of a
	// period.
	search = 0.22
	// thinnest bounds the normalization of the windows where a low voice has gaps between its
	// periods, which are naturally quiet.
	thinnest = 0.35
	// nearest and furthest bound the change of pitch at a position.
	nearest, furthest = 0.4, 2.6
	// creaks is the distance of a period from the mean, as a logarithm, from which it is
	// ignored: at the ends of sentences voices fall by an octave.
	creaks = 0.45
	// jitter and shimmer are the irregularity of the periods of a fully rough voice, in time
	// and level: fifteen times that of a healthy voice.
	jitter, shimmer = 0.1, 0.6
)

// mark is a period of a voice, or a piece of unvoiced sound.
type mark struct {
	at     int
	period float64 // 0: unvoiced
}

// psola moves the pitch and the resonances of a voice without changing its timing:
// pitch-synchronous overlap-add (Moulines and Charpentier, 1990). The sound is cut at the
// periods of the voice, which are placed nearer together or further apart; each is stretched or
// compressed to move the resonances. Unvoiced sound is unchanged, except for rounding.
type psola struct {
	rateHz int
	shape  Settings
	mean   float64 // logarithm of the mean period of the voice, in samples
	heard  float64 // samples of voice in mean
	track  *pitchTrack
	random *rand.Rand

	in       []float32
	begin    int // position of in, in the stream
	marks    []mark
	at       float64 // position of the next period
	speaking bool    // the next period is voiced
	odd      bool

	out    []float32 // from done on
	weight []float32 // the sum of the windows
	voiced []float32 // the voiced part of weight
	done   int       // samples returned
}

func newPSOLA(rateHz int, s Settings, meanHz float64) *psola {
	p := &psola{
		rateHz: rateHz,
		shape:  s,
		track:  newPitchTrack(rateHz),
		random: rand.New(rand.NewPCG(1, 2)),
		marks:  []mark{{}},
	}
	if meanHz > 0 {
		p.mean, p.heard = math.Log(float64(rateHz)/meanHz), 2*float64(rateHz)
	}
	return p
}

// process takes more of the stream, and returns the finished sound and the voiced share of each
// sample, 0 to 1. Both are valid until the next call.
func (p *psola) process(pcm []float32, end bool) (out, voiced []float32) {
	p.in = append(p.in, pcm...)
	p.track.follow(p.in, p.begin, end)
	p.mark(end)
	p.lay(end)
	return p.finish(end)
}

func (p *psola) received() int { return p.begin + len(p.in) }

// longest returns more samples than any period has.
func (p *psola) longest() int { return p.rateHz/lowestHz + 1 }

// mark finds the periods as far as the pitch is known.
func (p *psola) mark(end bool) {
	step := p.rateHz * unvoicedStep / 1000
	for {
		last := p.marks[len(p.marks)-1]
		next := mark{at: last.at + step}
		expected := last.at + max(step, int(last.period))
		period := p.track.at(expected)
		if !end && (expected+step > p.track.known() || last.at+2*max(int(period), step) > p.received()) {
			return
		}
		if last.at >= p.received() {
			return
		}
		switch {
		case period > 0 && last.period > 0:
			next = mark{p.alike(last.at, period), period}
		case period > 0:
			next = mark{p.peak(last.at+step/2, period), period}
		}
		p.marks = append(p.marks, next)
	}
}

// sample returns a sample of the stream; beyond its ends there is silence.
func (p *psola) sample(at int) float32 {
	if i := at - p.begin; i >= 0 && i < len(p.in) {
		return p.in[i]
	}
	return 0
}

// peak returns the loudest position in the first period of a voice.
func (p *psola) peak(from int, period float64) int {
	best, at := float32(-1), from
	for i := from; i < from+int(period); i++ {
		if a := float32(math.Abs(float64(p.sample(i)))); a > best {
			best, at = a, i
		}
	}
	return at
}

// alike returns the position, about a period after at, where the sound most resembles that
// around at.
func (p *psola) alike(at int, period float64) int {
	half, reach := int(period/2), int(search*period)
	expected := at + int(period+0.5)
	template, ok1 := p.span(at-half, at+half)
	area, ok2 := p.span(expected-reach-half, expected+reach+half)
	if !ok1 || !ok2 {
		return expected
	}
	best, found := float32(math.Inf(-1)), expected
	for off := 0; off <= 2*reach; off++ {
		var sum, energy float32
		for i, x := range template {
			y := area[off+i]
			sum += x * y
			energy += y * y
		}
		if like := sum / float32(math.Sqrt(float64(energy)+1e-9)); like > best {
			best, found = like, expected-reach+off
		}
	}
	return found
}

// span returns a piece of the stream; false if not all of it is available.
func (p *psola) span(from, to int) ([]float32, bool) {
	if from < p.begin || to > p.received() {
		return nil, false
	}
	return p.in[from-p.begin : to-p.begin], true
}

// lay places periods in the output as far as there are marks.
func (p *psola) lay(end bool) {
	step := float64(p.rateHz * unvoicedStep / 1000)
	for {
		last := p.marks[len(p.marks)-1]
		if !end && int(p.at)+p.longest() >= last.at || end && int(p.at) >= p.received() {
			return
		}
		if !p.speaking {
			n, found := p.begins(p.at, p.at+step)
			if p.speaking = found; !found {
				p.add(int(p.at), int(p.at), step, step, 1, 1, 0)
				p.at += step
				continue
			}
			p.at = float64(n)
		}
		i := p.nearest(p.at)
		m := p.marks[i]
		if p.speaking = m.period > 0 && i > 0 && i < len(p.marks)-1; !p.speaking {
			p.at = math.Round(p.at)
			continue
		}
		left, right := m.period, m.period
		if q := p.marks[i-1]; q.period > 0 {
			left = float64(m.at - q.at)
		}
		if q := p.marks[i+1]; q.period > 0 {
			right = float64(q.at - m.at)
		}
		left, right = min(left, float64(p.longest())), min(right, float64(p.longest()))
		f := math.Exp2(p.shape.Formant / 12)
		grain := max(f, 1)
		level := 1.0
		if p.shape.Rough > 0 {
			level += p.shape.Rough * shimmer * (p.random.Float64() - 0.5)
			if p.odd = !p.odd; p.odd { // a second, lower voice, as in hoarseness
				level -= 0.45 * p.shape.Rough
			}
		}
		p.add(m.at, int(p.at+0.5), left/grain, right/grain, f, float32(level), 1)
		if p.shape.Pitch == 0 && p.shape.Range == 0 && p.shape.Rough == 0 {
			p.at = float64(p.marks[i+1].at)
			continue
		}
		p.at += right / p.ratio(m.period) * (1 + jitter*p.shape.Rough*(2*p.random.Float64()-1))
	}
}

// ratio returns by how much to move a voice with a period.
func (p *psola) ratio(period float64) float64 {
	l := math.Log(period)
	if p.heard == 0 || math.Abs(l-p.mean) < creaks {
		p.heard = min(p.heard+period, 8*float64(p.rateHz)) // old speech fades
		p.mean += (l - p.mean) * period / p.heard
	}
	return min(max(math.Exp2(p.shape.Pitch/12)*math.Exp((p.mean-l)*p.shape.Range), nearest), furthest)
}

// begins returns the first voiced period between two positions.
func (p *psola) begins(from, to float64) (at int, found bool) {
	for _, m := range p.marks[1:] {
		if m.period > 0 && float64(m.at) >= from && float64(m.at) < to {
			return m.at, true
		}
	}
	return 0, false
}

// nearest returns the index of the mark nearest to a position.
func (p *psola) nearest(at float64) int {
	i := len(p.marks) - 1
	for i > 0 && float64(p.marks[i].at) > at {
		i--
	}
	if i+1 < len(p.marks) && float64(p.marks[i+1].at)-at < at-float64(p.marks[i].at) {
		i++
	}
	return i
}

// add adds the sound around a position to the output at another, under a window that falls over
// left and right samples, compressed in time by f.
func (p *psola) add(from, to int, left, right, f float64, level, voiced float32) {
	first, behind := max(to-int(left), p.done), to+int(right)+1
	if need := behind - p.done - len(p.out); need > 0 {
		p.out = append(p.out, make([]float32, need)...)
		p.weight = append(p.weight, make([]float32, need)...)
		p.voiced = append(p.voiced, make([]float32, need)...)
	}
	for at := first; at < behind; at++ {
		d := float64(at - to)
		width := right
		if d < 0 {
			width = left
		}
		w := float32(0.5 + 0.5*math.Cos(math.Pi*min(math.Abs(d)/max(width, 1), 1)))
		x := p.sample(from + at - to)
		if f != 1 {
			x = p.between(float64(from) + d*f)
		}
		i := at - p.done
		p.out[i] += w * x * level
		p.weight[i] += w
		p.voiced[i] += w * voiced
	}
}

// between interpolates the sound at a position: a cubic through the four samples around it
// (Catmull and Rom).
func (p *psola) between(at float64) float32 {
	i := int(math.Floor(at))
	t := float32(at - float64(i))
	a, b, c, d := p.sample(i-1), p.sample(i), p.sample(i+1), p.sample(i+2)
	return b + 0.5*t*(c-a+t*(2*a-5*b+4*c-d+t*(3*(b-c)+d-a)))
}

// finish returns the completed samples.
func (p *psola) finish(end bool) (out, voiced []float32) {
	n := min(int(p.at)-p.longest()-p.done, len(p.out))
	if end {
		n = p.received() - p.done
		if need := n - len(p.out); need > 0 {
			p.out = append(p.out, make([]float32, need)...)
			p.weight = append(p.weight, make([]float32, need)...)
			p.voiced = append(p.voiced, make([]float32, need)...)
		}
	}
	if n <= 0 {
		return nil, nil
	}
	out, voiced = make([]float32, n), make([]float32, n)
	for i := range n {
		w := max(p.weight[i], thinnest)
		out[i], voiced[i] = p.out[i]/w, p.voiced[i]/w
	}
	p.out, p.weight, p.voiced = append(p.out[:0], p.out[n:]...), append(p.weight[:0], p.weight[n:]...),
		append(p.voiced[:0], p.voiced[n:]...)
	p.done += n
	p.forget()
	return out, voiced
}

// forget discards input that is no longer needed.
func (p *psola) forget() {
	keep := p.done - 4*p.longest()
	if keep-p.begin > len(p.in)/2 && keep > p.begin {
		p.in = append(p.in[:0], p.in[keep-p.begin:]...)
		p.begin = keep
	}
	n := 0
	for n+2 < len(p.marks) && p.marks[n+2].at < p.done-2*p.longest() {
		n++
	}
	p.marks = append(p.marks[:0], p.marks[n:]...)
	p.track.forget(p.done)
}
