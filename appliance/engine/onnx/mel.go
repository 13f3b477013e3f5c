package onnx

import (
	"math"

	"parley/appliance/audio/fourier"
	"parley/appliance/engine"
)

// The log-mel spectrogram that Whisper was trained on (Radford et al., "Robust
// Speech Recognition via Large-Scale Weak Supervision", 2022): windows of 25 ms
// every 10 ms, 80 bands.
const (
	melWindow = 400
	melHop    = 160
	melBands  = 80
	melBins   = melWindow/2 + 1
	melFloor  = 1e-10 // of a band's power, before the logarithm
)

// melBank computes log-mel spectrograms. It is read-only and safe for concurrent use.
type melBank struct {
	hann  [melWindow]float64
	fft   *fourier.Real
	bands [melBands]melBand
}

// melBand holds the weights of the frequency bins from first on.
type melBand struct {
	first   int
	weights []float64
}

func newMelBank() *melBank {
	m := &melBank{fft: fourier.NewReal(melWindow)}
	for i := range m.hann { // periodic: as if one sample longer
		m.hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/melWindow)
	}
	var edges [melBands + 2]float64
	top := hertzToMel(engine.SpeechRateHz / 2)
	for i := range edges {
		edges[i] = melToHertz(top * float64(i) / (melBands + 1))
	}
	for b := range m.bands {
		m.bands[b] = triangle(edges[b], edges[b+1], edges[b+2])
	}
	return m
}

// triangle returns a band that rises from low to mid and falls to high (Hz), with an area of one
// ("Slaney" normalisation, after his Auditory Toolbox, 1998).
func triangle(low, mid, high float64) melBand {
	var band melBand
	for k := range melBins {
		hz := float64(k) * engine.SpeechRateHz / melWindow
		w := min((hz-low)/(mid-low), (high-hz)/(high-mid))
		if w <= 0 {
			continue
		}
		if band.weights == nil {
			band.first = k
		}
		band.weights = append(band.weights, w*2/(high-low))
	}
	return band
}

// Slaney's mel scale is linear up to 1 kHz and logarithmic above.
const (
	melPerHertz = 3.0 / 200
	melBreakHz  = 1000.0
	melBreak    = melBreakHz * melPerHertz
	melLogStep  = 27 / 1.8562979903656263 // mels for each e-fold above the break: 27 / ln 6.4
)

func hertzToMel(hz float64) float64 {
	if hz < melBreakHz {
		return hz * melPerHertz
	}
	return melBreak + math.Log(hz/melBreakHz)*melLogStep
}

func melToHertz(mel float64) float64 {
	if mel < melBreak {
		return mel / melPerHertz
	}
	return melBreakHz * math.Exp((mel-melBreak)/melLogStep)
}

// features writes the log-mel spectrogram of pcm, padded with silence to the given number of
// frames, to dst: melBands rows of frames numbers, scaled so that the loudest is at most a little
// over 1 and nothing is more than 2 (80 dB) below it.
func (m *melBank) features(dst []float32, pcm []float32, frames int) {
	var (
		window [melWindow]float64
		work   = make([]complex128, melBins)
		power  [melBins]float64
		peak   = math.Log10(melFloor)
	)
	pcm = pcm[:min(len(pcm), frames*melHop)]
	for f := range frames {
		if !m.window(&window, pcm, f, frames*melHop) {
			for b := range melBands {
				dst[b*frames+f] = float32(math.Log10(melFloor))
			}
			continue
		}
		m.fft.Power(power[:], window[:], work)
		for b, band := range m.bands {
			var sum float64
			for k, w := range band.weights {
				sum += w * power[band.first+k]
			}
			x := math.Log10(max(sum, melFloor))
			peak = max(peak, x)
			dst[b*frames+f] = float32(x)
		}
	}
	floor := float32(peak - 8)
	for i, x := range dst[:melBands*frames] {
		dst[i] = (max(x, floor) + 4) / 4
	}
}

// window fills w with the samples of a frame, mirrored at both ends of the total, and reports
// whether any of them is not zero.
func (m *melBank) window(w *[melWindow]float64, pcm []float32, frame, total int) bool {
	start := frame*melHop - melWindow/2
	if start >= len(pcm) && start+melWindow <= total {
		return false
	}
	audible := false
	for i := range w {
		at := start + i
		if at < 0 {
			at = -at
		}
		if at >= total {
			at = 2*(total-1) - at
		}
		if at < len(pcm) {
			w[i] = float64(pcm[at]) * m.hann[i]
			audible = audible || pcm[at] != 0
		} else {
			w[i] = 0
		}
	}
	return audible
}
