package clean

import "time"

const (
	// likeWindow is how much of what the filter leaves is held against what was played,
	// every likeEvery frames.
	likeWindow, likeEvery = 64 * time.Millisecond, 2
	// likeAround is by how much earlier or later than it is taken for an echo may come.
	likeAround = 4500 * time.Microsecond
	// steep is how much of a sample is taken off the next, so that what is high in a voice
	// is as loud as what is low.
	steep = 0.95
	// alikeOnce and alikeTwice are which share of the power of what is left the sound that
	// was played explains, come straight by one way, from which on it is its echo: of both
	// with that done once, and twice, since what is low of any two voices is alike. Of what
	// a filter leaves of an echo it is 0.16 in the median, in rooms that fade in 0.2 to 0.5
	// s. Of 493 looks at people who spoke while the box did 0.17 and 0.09 were the most.
	alikeOnce, alikeTwice = 0.22, 0.12
	// echoing is for how many frames what comes behind that counts as echo too.
	echoing = 6
	// likeLeast is the power of what is left from which on it is looked at, -52 dB.
	likeLeast = 6e-6
)

// likeness knows an echo that the filter leaves by its shape, whatever the reason is: the
// filter has not caught up yet with a room, a clock, a loudspeaker that ran dry or was
// turned up. How loud it is makes no difference, and what somebody says is like nothing
// that was played.
type likeness struct {
	window, around int
	left, played   []float32 // the newest
	a, b           []float64 // the same, sharp
	frames         int
}

func newLikeness(rateHz int) *likeness {
	samples := func(t time.Duration) int { return int(t * time.Duration(rateHz) / time.Second) }
	return &likeness{window: samples(likeWindow), around: samples(likeAround)}
}

// frame takes what the filter left of a frame, what was heard in it, and what was played,
// whose echo is taken to come so many samples later; it reports whether what is left is an
// echo.
func (l *likeness) frame(left, heard, played []float32, later int) bool {
	later = max(later, 0)
	most := l.window + 2 + 2*l.around + later
	l.left = latest(l.left, left, l.window+2)
	l.played = latest(l.played, played, max(most, len(l.played)))
	if l.frames++; l.frames%likeEvery != 0 || len(l.left) < l.window+2 || len(l.played) < most {
		return false
	}
	if power := mean(left); power < likeLeast || power < mean(heard)*provenLeft {
		return false
	}
	from := len(l.played) - l.window - 2 - l.around - later
	to := min(len(l.played), from+l.window+2+2*l.around)
	l.a, l.b = sharper(l.a, l.left), sharper(l.b, l.played[from:to])
	if explained(l.a, l.b) >= alikeOnce {
		return true
	}
	again(&l.a)
	again(&l.b)
	return explained(l.a, l.b) >= alikeTwice
}

// explained is the share of a sound's power that a longer one explains, from wherever in
// it that is the most.
func explained(a, b []float64) (most float64) {
	total, own := square(a), square(b[:len(a)])
	for i := 0; ; i++ {
		var like float64
		for j, v := range b[i : i+len(a)] {
			like += v * a[j]
		}
		if least := 1e-9 * float64(len(a)); own > least && total > least {
			most = max(most, like*like/(own*total))
		}
		if i+len(a) == len(b) {
			return most
		}
		own += b[i+len(a)]*b[i+len(a)] - b[i]*b[i]
	}
}

// sharper writes a sound with what is high in it louder to what it returns.
func sharper(to []float64, pcm []float32) []float64 {
	to = to[:0]
	for i := 1; i < len(pcm); i++ {
		to = append(to, float64(pcm[i])-steep*float64(pcm[i-1]))
	}
	return to
}

// again does to a sound what sharper did.
func again(pcm *[]float64) {
	p := *pcm
	for i := range p[1:] {
		p[i] = p[i+1] - steep*p[i]
	}
	*pcm = p[:len(p)-1]
}
