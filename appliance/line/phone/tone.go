package phone

import (
	"math"

	"parley/appliance/engine"
)

const (
	// toneFrame is the sound that is judged at a time, 32 ms.
	toneFrame = engine.FrameSamples
	// toneLag is the distance of the samples that are compared, half the rate of a telephone: what its codecs
	// remove above 4 kHz would make every sound smooth.
	toneLag = 2
	// beepFrames is the shortest beep, 190 ms; those of mailboxes last 0.2 to 1 s. A key has two tones.
	beepFrames = 6
	// pureBelow is the share of the energy that a pure tone does not explain, with the noise of a µ-law line.
	// Sung vowels have their overtones, and leave more.
	pureBelow = 0.05
	// quietTone is the mean square below which a tone is noise of the line, -45 dBFS.
	quietTone = 3e-5
	// The frequencies of the beeps of mailboxes, and of telephone networks.
	lowestBeepHz, highestBeepHz = 350, 2400
	// steadyWithin is how much the frequency of a beep may change from frame to frame: speech glides.
	steadyWithin = 0.03
)

// beeps finds the beep of a mailbox. A pure tone of angular frequency w satisfies x[n] + x[n-2] =
// 2 cos(w) x[n-1]; the least-squares fit of that factor gives the frequency, and what it leaves says how pure
// the tone is.
type beeps struct {
	pending []float32
	hz      float64 // of the newest frame; 0 if it holds no tone
	frames  int     // with a steady tone
}

// hear reports whether a beep has lasted long enough.
func (b *beeps) hear(pcm []float32) (found bool) {
	b.pending = append(b.pending, pcm...)
	for len(b.pending) >= toneFrame {
		hz := pureTone(b.pending[:toneFrame])
		steady := hz > 0 && b.hz > 0 && math.Abs(hz-b.hz) <= steadyWithin*b.hz
		switch {
		case hz == 0:
			b.frames = 0
		case steady:
			b.frames++
		default:
			b.frames = 1
		}
		b.hz = hz
		found = found || b.frames >= beepFrames
		b.pending = append(b.pending[:0], b.pending[toneFrame:]...)
	}
	return found
}

// sounding reports whether a tone goes on.
func (b *beeps) sounding() bool { return b.hz > 0 }

// pureTone returns the frequency of a frame that is a pure tone in Hz, and otherwise 0.
func pureTone(x []float32) float64 {
	var cross, middle, sums, energy float64
	for n := 2 * toneLag; n < len(x); n++ {
		sum, mid := float64(x[n]+x[n-2*toneLag]), float64(x[n-toneLag])
		cross += sum * mid
		middle += mid * mid
		sums += sum * sum
		energy += mid * mid
	}
	if energy < quietTone*float64(len(x)) {
		return 0
	}
	factor := cross / middle // 2 cos(w)
	left := sums - factor*cross
	if left > pureBelow*energy || math.Abs(factor) >= 2 {
		return 0
	}
	hz := math.Acos(factor/2) / (2 * math.Pi) * engine.SpeechRateHz / toneLag
	if hz < lowestBeepHz || hz > highestBeepHz {
		return 0
	}
	return hz
}
