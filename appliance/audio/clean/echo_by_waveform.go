package clean

import "time"

const (
	// likeWindow is how much residual is compared with the playback, every likeEvery frames.
	likeWindow, likeEvery = 64 * time.Millisecond, 2
	// likeAround is by how much the echo may come earlier or later than assumed.
	likeAround = 4500 * time.Microsecond
	// steep is a stronger pre-emphasis, which makes the high frequencies of a voice as loud as
	// the low ones.
	steep = 0.95
	// alikeOnce and alikeTwice are the shares of the residual's power that the playback must
	// explain, by a single path, for it to count as echo: with the pre-emphasis applied once,
	// or twice, since the low frequencies of any two voices are alike. For the residual of an
	// echo the median share is 0.16, in rooms that fade in 0.2 to 0.5 s. In 493 looks at people
	// who spoke during playback, the largest shares were 0.17 and 0.09.
	alikeOnce, alikeTwice = 0.22, 0.12
	// echoing is for how many further frames the residual counts as echo.
	echoing = 6
	// likeLeast is the least power of a residual to be compared, -52 dB.
	likeLeast = 6e-6
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
	return &waveformEcho{window: samples(likeWindow), around: samples(likeAround)}
}

// frame takes the residual of a frame, its microphone sound, and the playback whose echo is
// assumed to come later by some samples. It reports whether the residual is echo.
func (l *waveformEcho) frame(left, heard, played []float32, later int) bool {
	later = max(later, 0)
	most := l.window + 2 + 2*l.around + later
	l.left = latest(l.left, left, l.window+2)
	l.played = latest(l.played, played, max(most, len(l.played)))
	if l.frames++; l.frames%likeEvery != 0 || len(l.left) < l.window+2 || len(l.played) < most {
		return false
	}
	if power := meanPower(left); power < likeLeast || power < meanPower(heard)*provenLeft {
		return false
	}
	from := len(l.played) - l.window - 2 - l.around - later
	to := min(len(l.played), from+l.window+2+2*l.around)
	l.a, l.b = sharpen(l.a, l.left), sharpen(l.b, l.played[from:to])
	if explained(l.a, l.b) >= alikeOnce {
		return true
	}
	sharpenAgain(&l.a)
	sharpenAgain(&l.b)
	return explained(l.a, l.b) >= alikeTwice
}

// explained returns the largest share of a's power that any part of b explains.
func explained(a, b []float64) (most float64) {
	total, energy := sumOfSquares(a), sumOfSquares(b[:len(a)])
	for i := 0; ; i++ {
		var like float64
		for j, v := range b[i : i+len(a)] {
			like += v * a[j]
		}
		if least := 1e-9 * float64(len(a)); energy > least && total > least {
			most = max(most, like*like/(energy*total))
		}
		if i+len(a) == len(b) {
			return most
		}
		energy += b[i+len(a)]*b[i+len(a)] - b[i]*b[i]
	}
}

// sharpen appends pcm with pre-emphasis to to[:0].
func sharpen(to []float64, pcm []float32) []float64 {
	to = to[:0]
	for i := 1; i < len(pcm); i++ {
		to = append(to, float64(pcm[i])-steep*float64(pcm[i-1]))
	}
	return to
}

// sharpenAgain applies the pre-emphasis of sharpen once more.
func sharpenAgain(pcm *[]float64) {
	p := *pcm
	for i := range p[1:] {
		p[i] = p[i+1] - steep*p[i]
	}
	*pcm = p[:len(p)-1]
}
