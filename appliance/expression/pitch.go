package expression

import "math"

const (
	pitchSamples = 800          // used for a pitch: 50 ms
	shortestLag  = rateHz / 500 // 500 Hz
	longestLag   = rateHz / 60  // 60 Hz
	maxPitches   = 5            // candidates of a frame
	noPitch      = maxPitches   // in a path: the frame has no pitch
	// formedFrom and formedTo are the bins of 2.2 and 3.4 kHz.
	formedFrom, formedTo = 2200 * harmonics / rateHz, 3400 * harmonics / rateHz
	minPitch             = 0.25 // correlation of a candidate
)

// pitch holds the candidates for the pitch of a frame.
type pitch struct {
	n          int
	hz         [maxPitches]float64
	strength   [maxPitches]float64 // 0 to 1, plus a bonus for high pitches
	first      [maxPitches]float64 // first harmonic over the second, in dB
	overFormed [maxPitches]float64 // first harmonic over that at the third formant, in dB
	local      float64             // the largest sample minus the mean
}

// correlate writes the autocorrelation of x for the lags of out.
func (s *scratch) correlate(a *analyser, out, x []float64) {
	power := s.power[:harmonics/2+1]
	a.long.Power(power, x, s.work)
	// The power is even and real, so the inverse transform is the same as the forward one.
	all := s.power[:harmonics]
	for k := 1; k < harmonics/2; k++ {
		all[harmonics-k] = all[k]
	}
	back := a.long.Forward(all, s.work)
	for i := range out {
		out[i] = real(back[i]) / harmonics
	}
}

// findPitch finds the lags at which the frame at at repeats itself, with the method of Boersma (1993): the
// autocorrelation divided by that of the window.
func (s *scratch) findPitch(a *analyser, p *pitch, x []float64, at int) {
	begin := at + window/2 - pitchSamples/2
	var mean float64
	heard := s.windowed[:pitchSamples]
	for i := range heard {
		heard[i] = 0
		if j := begin + i; j >= 0 && j < len(x) {
			heard[i] = x[j]
		}
		mean += heard[i] / pitchSamples
	}
	for i := range heard {
		heard[i] -= mean
		p.local = max(p.local, math.Abs(heard[i]))
		heard[i] *= a.pitchWindow[i]
	}
	r := s.lags[:]
	s.correlate(a, r, heard)
	if r[0] <= 1e-10 {
		return
	}
	scale := 1 / r[0]
	for i := range r {
		r[i] *= scale / a.pitchNormal[i]
	}
	for lag := shortestLag; lag < longestLag; lag++ {
		if r[lag] > r[lag-1] && r[lag] >= r[lag+1] && r[lag] > minPitch {
			p.candidate(r, lag)
		}
	}
}

// candidate adds a peak, refined by a parabola, to the strongest ones.
func (p *pitch) candidate(r []float64, lag int) {
	before, top, after := r[lag-1], r[lag], r[lag+1]
	var shift float64
	if bend := before - 2*top + after; bend != 0 {
		shift = 0.5 * (before - after) / (bend + 1e-12)
	}
	length := float64(lag) + shift
	strength := top - 0.25*(before-after)*shift - 0.01*math.Log2(60*length/rateHz)
	i := p.n
	for i > 0 && p.strength[i-1] < strength {
		i--
	}
	if i == maxPitches {
		return
	}
	p.n = min(p.n+1, maxPitches)
	copy(p.hz[i+1:], p.hz[i:])
	copy(p.strength[i+1:], p.strength[i:])
	p.hz[i], p.strength[i] = rateHz/length, strength
}

// harmonics measures the first two harmonics of each candidate, and the highest one near the third formant.
func (s *scratch) harmonics(a *analyser, p *pitch, samples []float64) {
	windowed := s.windowed[:window]
	for i, v := range samples {
		windowed[i] = v * a.hann[i]
	}
	power := s.power[:harmonics/2+1]
	a.long.Power(power, windowed, s.work)
	highest := func(from, end int) float64 {
		var most float64
		for _, v := range power[max(0, from):end] {
			most = max(most, v)
		}
		return 10 * math.Log10(most+1e-12)
	}
	near := func(hz float64) float64 {
		k := int(hz / harmonicsHz)
		return highest(k-3, k+4)
	}
	third := highest(formedFrom, formedTo)
	for i := range p.n {
		first := near(p.hz[i])
		p.first[i] = first - near(2*p.hz[i])
		p.overFormed[i] = first - third
	}
}

// pitchPath chooses one candidate, or noPitch, for each frame, so that they are strong and continuous
// (Viterbi). loudest is the largest sample of all frames.
func pitchPath(frames []frame, loudest float64) []int {
	const (
		onOff, octave = 0.14, 0.35 // costs of starting or ending a voice, and of a leap by an octave
		unvoiced      = 0.45
		quiet         = 0.03
		states        = maxPitches + 1
	)
	// State 0 is no voice. The order decides between equal values.
	from := make([][states]int8, len(frames))
	var best [states]float64
	var logs, logsBefore [states]float64
	for t := range frames {
		p := &frames[t].pitch
		strength := [states]float64{unvoiced + max(0, 2-p.local/(loudest+1e-9)/quiet*(1+unvoiced)), -9, -9, -9, -9, -9}
		logs = [states]float64{}
		for i := range p.n {
			strength[i+1], logs[i+1] = p.strength[i], math.Log2(p.hz[i])
		}
		if t == 0 {
			best, logsBefore = strength, logs
			continue
		}
		before := frames[t-1].pitch.n
		next := strength
		for j := range next {
			most := math.Inf(-1)
			for i := range best {
				voiced, was := j > 0 && j <= p.n, i > 0 && i <= before
				value := best[i]
				switch {
				case voiced && was:
					value -= octave * math.Abs(logs[j]-logsBefore[i])
				case voiced != was:
					value -= onOff
				}
				if value > most {
					most, from[t][j] = value, int8(i)
				}
			}
			next[j] += most
		}
		best, logsBefore = next, logs
	}
	path := make([]int, len(frames))
	state := 0
	for i, v := range best {
		if v > best[state] {
			state = i
		}
	}
	for t := len(frames) - 1; t >= 0; t-- {
		path[t] = noPitch
		if state > 0 && state <= frames[t].pitch.n {
			path[t] = state - 1
		}
		state = int(from[t][state])
	}
	return path
}
