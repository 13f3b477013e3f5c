package clean

import "time"

const (
	// compareWindow is how much residual is compared with the playback, every compareEvery frames.
	compareWindow, compareEvery = 64 * time.Millisecond, 2
	// delayTolerance is by how much the echo may come earlier or later than assumed.
	delayTolerance = 4500 * time.Microsecond
	// preEmphasis is a stronger pre-emphasis, which makes the high frequencies of a voice as loud as
	// the low ones.
	preEmphasis = 0.95
	// minShareOnce and minShareTwice are the shares of the residual's power that the playback must
	// explain, by a single path, for it to count as echo: with the pre-emphasis applied once,
	// or twice, since the low frequencies of any two voices are alike. For the residual of an
	// echo the median share is 0.16, in rooms that fade in 0.2 to 0.5 s. In 493 looks at people
	// who spoke during playback, the largest shares were 0.17 and 0.09.
	minShareOnce, minShareTwice = 0.22, 0.12
	// echoFrames is for how many further frames the residual counts as echo.
	echoFrames = 6
	// minResidualPower is the least power of a residual to be compared, -52 dB.
	minResidualPower = 6e-6
)

// waveformEcho recognises residual echo by its waveform, whatever the cause: the filter has not
// adapted yet to a room, a clock, or a loudspeaker that ran dry or was turned up. The loudness
// of the echo does not matter, and speech does not resemble anything that was played.
type waveformEcho struct {
	window, around int
	left, played   []float32 // the newest
	a, b           []float64 // the same, with pre-emphasis
	frames         int
}

func newWaveformEcho(rateHz int) *waveformEcho {
	samples := func(t time.Duration) int { return int(t * time.Duration(rateHz) / time.Second) }
	return &waveformEcho{window: samples(compareWindow), around: samples(delayTolerance)}
}

// frame takes the residual of a frame, its microphone sound, and the playback whose echo is
// assumed to come delay samples later. It reports whether the residual is echo.
func (l *waveformEcho) frame(residual, microphone, played []float32, delay int) bool {
	delay = max(delay, 0)
	needed := l.window + 2 + 2*l.around + delay
	l.left = latest(l.left, residual, l.window+2)
	l.played = latest(l.played, played, max(needed, len(l.played)))
	if l.frames++; l.frames%compareEvery != 0 || len(l.left) < l.window+2 || len(l.played) < needed {
		return false
	}
	if power := meanPower(residual); power < minResidualPower || power < meanPower(microphone)*provenLeft {
		return false
	}
	from := len(l.played) - l.window - 2 - l.around - delay
	to := min(len(l.played), from+l.window+2+2*l.around)
	l.a, l.b = emphasize(l.a, l.left), emphasize(l.b, l.played[from:to])
	if explained(l.a, l.b) >= minShareOnce {
		return true
	}
	emphasizeAgain(&l.a)
	emphasizeAgain(&l.b)
	return explained(l.a, l.b) >= minShareTwice
}

// explained returns the largest share of a's power that any part of b explains.
func explained(a, b []float64) (largest float64) {
	total, energy := sumOfSquares(a), sumOfSquares(b[:len(a)])
	for i := 0; ; i++ {
		var like float64
		for j, v := range b[i : i+len(a)] {
			like += v * a[j]
		}
		if floor := 1e-9 * float64(len(a)); energy > floor && total > floor {
			largest = max(largest, like*like/(energy*total))
		}
		if i+len(a) == len(b) {
			return largest
		}
		energy += b[i+len(a)]*b[i+len(a)] - b[i]*b[i]
	}
}

// emphasize appends pcm with pre-emphasis to to[:0].
func emphasize(to []float64, pcm []float32) []float64 {
	to = to[:0]
	for i := 1; i < len(pcm); i++ {
		to = append(to, float64(pcm[i])-preEmphasis*float64(pcm[i-1]))
	}
	return to
}

// emphasizeAgain applies the pre-emphasis of emphasize once more.
func emphasizeAgain(pcm *[]float64) {
	p := *pcm
	for i := range p[1:] {
		p[i] = p[i+1] - preEmphasis*p[i]
	}
	*pcm = p[:len(p)-1]
}
