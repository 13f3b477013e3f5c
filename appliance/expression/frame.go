package expression

import (
	"math"
	"math/cmplx"

	"parley/appliance/audio/fourier"
	"parley/appliance/audio/prediction"
)

// Frames as in the reference, train/features.py: 25 ms every 10 ms at 16 kHz.
const (
	rateHz      = 16000
	window      = 400
	hop         = 160
	spectrum    = 512 // points of the frame's FFT
	bins        = spectrum/2 + 1
	binHz       = float64(rateHz) / spectrum
	melBands    = 26
	cepstra     = 13
	harmonics   = 2048 // points of the FFT for harmonics and pitch
	harmonicsHz = float64(rateHz) / harmonics
)

// frame holds the measurements of 25 ms.
type frame struct {
	db    float64 // power
	peak  float64 // largest sample
	loud  float64 // sum of the mel bands, each to the power of 0.3
	alpha float64 // 50 to 1000 Hz over 1 to 5 kHz, in dB
	hamm  float64 // highest peak below 2 kHz over that from 2 to 5 kHz, in dB
	slope [2]float64
	// Centre, spread and 85 % point of the spectrum in Hz, its change since the previous frame, its entropy.
	centre, spread, rolloff, flux, entropy float64
	cepstrum                               [cepstra]float64
	pitch                                  pitch
	formants                               [4]float64 // F1, F2, F3 and the bandwidth of F1, in Hz
	formed                                 bool       // formants were found
}

// analyser holds the tables for computing frames. It is read-only.
type analyser struct {
	short, long     *fourier.Real
	hamming, hann   [window]float64
	pitchWindow     [pitchSamples]float64
	pitchNormal     [longestLag + 2]float64 // autocorrelation of pitchWindow
	mel             [melBands][bins]float64
	cosine          [cepstra][melBands]float64
	melFrom, melEnd [melBands]int
}

func newAnalyser() *analyser {
	a := &analyser{short: fourier.NewReal(spectrum), long: fourier.NewReal(harmonics)}
	for i := range a.hamming {
		c := math.Cos(2 * math.Pi * float64(i) / (window - 1))
		a.hamming[i], a.hann[i] = 0.54-0.46*c, 0.5-0.5*c
	}
	for i := range a.pitchWindow {
		a.pitchWindow[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/(pitchSamples-1))
	}
	newScratch().correlate(a, a.pitchNormal[:], a.pitchWindow[:])
	normal := a.pitchNormal[0]
	for i := range a.pitchNormal {
		a.pitchNormal[i] /= normal
	}
	a.melTables()
	return a
}

// melTables computes triangles evenly spaced on the mel scale (2595 log10(1+f/700)) from 20 to 8000 Hz, and
// the cosines that turn their logarithms into a cepstrum.
func (a *analyser) melTables() {
	toMel := func(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }
	edge := func(i int) float64 {
		low, high := toMel(20), toMel(rateHz/2)
		return 700 * (math.Pow(10, (low+(high-low)*float64(i)/(melBands+1))/2595) - 1)
	}
	for i := range a.mel {
		low, mid, high := edge(i), edge(i+1), edge(i+2)
		for k := range a.mel[i] {
			hz := float64(k) * binHz
			w := max(0, min((hz-low)/(mid-low), (high-hz)/(high-mid)))
			a.mel[i][k] = w
			if w > 0 {
				if a.melEnd[i] == 0 {
					a.melFrom[i] = k
				}
				a.melEnd[i] = k + 1
			}
		}
	}
	for k := range a.cosine {
		for n := range a.cosine[k] {
			a.cosine[k][n] = math.Cos(math.Pi*float64(k)*(float64(n)+0.5)/melBands) * math.Sqrt(2.0/melBands)
		}
	}
}

// scratch holds buffers for computing frames, for one goroutine.
type scratch struct {
	work     []complex128
	windowed []float64
	power    []float64
	logs     [bins]float64
	root     [2][bins]float64 // of the share of each bin: this frame and the previous one
	now      int              // index of this frame in root
	any      bool             // there is a previous frame
	lags     [longestLag + 2]float64
	roots    [lpcOrder]complex128
}

func newScratch() *scratch {
	return &scratch{work: make([]complex128, harmonics/2+1), windowed: make([]float64, pitchSamples),
		power: make([]float64, harmonics)}
}

// measure computes the frame that starts at x[at]. Its pitch also uses 12.5 ms on each side; missing samples
// are silence.
func (s *scratch) measure(a *analyser, x []float64, at int) (f frame) {
	samples := x[at : at+window]
	var square float64
	for i, v := range samples {
		square += v * v
		f.peak = max(f.peak, math.Abs(v))
		s.windowed[i] = v * a.hamming[i]
	}
	f.db = 10 * math.Log10(square/window+1e-10)
	power := s.power[:bins]
	a.short.Power(power, s.windowed[:window], s.work)
	for k := range power {
		power[k] += 1e-12
		s.logs[k] = math.Log(power[k])
	}
	s.shape(&f, power)
	f.cepstra(a, power)
	s.formants(&f, s.windowed[:window])
	s.findPitch(a, &f.pitch, x, at)
	if f.pitch.n > 0 {
		s.harmonics(a, &f.pitch, samples)
	} else {
		f.formed = false // without pitch there is no voice
	}
	return f
}

// shape describes the spectrum.
func (s *scratch) shape(f *frame, power []float64) {
	const decibel = 10 / math.Ln10
	var low, high, lowPeak, highPeak, total, first float64
	for k, p := range power {
		hz := float64(k) * binHz
		total += p
		first += p * hz
		switch {
		case hz >= 50 && hz < 1000:
			low += p
		case hz >= 1000 && hz < 5000:
			high += p
		}
		switch {
		case hz < 2000:
			lowPeak = max(lowPeak, p)
		case hz < 5000:
			highPeak = max(highPeak, p)
		}
	}
	f.alpha = decibel * math.Log(low/high)
	f.hamm = decibel * math.Log(lowPeak/highPeak)
	f.slope = [2]float64{s.slope(20, 500), s.slope(500, 1500)}
	f.centre = first / total
	var second, sum, share, change float64
	logTotal := math.Log(total)
	s.now = 1 - s.now
	root, before := &s.root[s.now], &s.root[1-s.now]
	under := 0
	for k, p := range power {
		d := float64(k)*binHz - f.centre
		second += p * d * d
		if sum += p; sum/total < 0.85 {
			under++
		}
		share = p / total
		f.entropy -= share * (s.logs[k] - logTotal)
		root[k] = math.Sqrt(share)
		change += (root[k] - before[k]) * (root[k] - before[k])
	}
	f.spread = math.Sqrt(second / total)
	f.rolloff = float64(under) * binHz
	if s.any {
		f.flux = math.Sqrt(change)
	}
	s.any = true
}

// slope returns the slope of the spectrum between two frequencies, in dB per kHz.
func (s *scratch) slope(from, to float64) float64 {
	first, end := int(math.Ceil(from/binHz)), int(math.Ceil(to/binHz))
	mean := float64(first+end-1) / 2 * binHz / 1000
	var cross, square float64
	for k := first; k < end; k++ {
		h := float64(k)*binHz/1000 - mean
		cross += 10 / math.Ln10 * s.logs[k] * h
		square += h * h
	}
	return cross / square
}

// cepstra computes the mel cepstrum, which describes the spectrum as ears hear it.
func (f *frame) cepstra(a *analyser, power []float64) {
	var logs [melBands]float64
	for i := range logs {
		var m float64
		for k := a.melFrom[i]; k < a.melEnd[i]; k++ {
			m += a.mel[i][k] * power[k]
		}
		m /= spectrum
		f.loud += math.Pow(m, 0.3)
		logs[i] = math.Log(m + 1e-10)
	}
	for k := range f.cepstrum {
		for i, l := range logs {
			f.cepstrum[k] += a.cosine[k][i] * l
		}
	}
}

const lpcOrder = 18

// formants finds the resonances of the throat: the poles of a linear prediction of the frame.
func (s *scratch) formants(f *frame, windowed []float64) {
	var r, a [lpcOrder + 1]float64
	y := s.power[bins : bins+window]
	for i, v := range windowed {
		y[i] = v
		if i > 0 {
			y[i] -= 0.97 * windowed[i-1]
		}
	}
	prediction.Correlate(r[:], y)
	if prediction.Solve(a[:], r[:], 1e-4) <= 0 || !s.solve(a) {
		return
	}
	f.formed = f.poles(s.roots)
}

// solve finds all roots of a polynomial at once (Aberth), starting at the nearby roots of the previous frame.
// It returns false if it does not converge.
func (s *scratch) solve(a [lpcOrder + 1]float64) bool {
	if s.aberth(a) {
		return true
	}
	for i := range s.roots { // start again from a circle
		s.roots[i] = cmplx.Rect(0.9, 0.4+2*math.Pi*float64(i)/lpcOrder)
	}
	return s.aberth(a)
}

func (s *scratch) aberth(a [lpcOrder + 1]float64) bool {
	if s.roots[0] == s.roots[1] {
		return false // there are no roots to start from
	}
	for i := range s.roots { // otherwise symmetric roots stay symmetric, and real ones real
		s.roots[i] *= complex(1, 0.003*float64(i+1))
	}
	for range 60 {
		var moved float64
		for i, z := range s.roots {
			p, d := complex(a[0], 0), complex(0, 0)
			for _, c := range a[1:] {
				d = mul(d, z) + p
				p = mul(p, z) + complex(c, 0)
			}
			if p == 0 {
				continue
			}
			ratio := mul(p, inverse(d))
			var others complex128
			for j, o := range s.roots {
				if j != i {
					others += inverse(z - o)
				}
			}
			step := mul(ratio, inverse(1-mul(ratio, others)))
			if cmplx.IsNaN(step) || cmplx.IsInf(step) {
				s.roots[0] = s.roots[1]
				return false
			}
			s.roots[i] = z - step
			moved = max(moved, math.Abs(real(step))+math.Abs(imag(step)))
		}
		if moved < 1e-9 {
			return true
		}
	}
	return false
}

// mul and inverse are complex arithmetic without the checks for infinities that make Go's slow.
func mul(a, b complex128) complex128 {
	return complex(real(a)*real(b)-imag(a)*imag(b), real(a)*imag(b)+imag(a)*real(b))
}

func inverse(a complex128) complex128 {
	n := real(a)*real(a) + imag(a)*imag(a)
	return complex(real(a)/n, -imag(a)/n)
}

// poles takes the three lowest resonances that are narrow enough. It returns false if there are fewer.
func (f *frame) poles(roots [lpcOrder]complex128) bool {
	var hz, width [3]float64
	n := 0
	for _, z := range roots {
		if imag(z) <= 0.01 {
			continue
		}
		at := cmplx.Phase(z) * rateHz / 2 / math.Pi
		wide := -math.Log(cmplx.Abs(z)+1e-9) * rateHz / math.Pi
		if at <= 200 || wide >= 600 {
			continue
		}
		i := min(n, len(hz)) // index to insert at
		for i > 0 && hz[i-1] > at {
			i--
		}
		if i == len(hz) {
			continue
		}
		copy(hz[i+1:], hz[i:])
		copy(width[i+1:], width[i:])
		hz[i], width[i] = at, wide
		n++
	}
	f.formants = [4]float64{hz[0], hz[1], hz[2], width[0]}
	return n >= len(hz)
}
