package clean

import (
	"math"
	"time"
)

const (
	// filterLead is how much earlier than the echo the filter begins, to cover what precedes
	// the strongest part of the echo, and the error by which the delay is found too late.
	filterLead = 5 * time.Millisecond
	// filterLeadMin and filterLeadMax bound the position of the echo in the filter. Outside of
	// them the delay is reset, and the filter has to learn everything again.
	filterLeadMin, filterLeadMax = 2 * time.Millisecond, 25 * time.Millisecond
	// relearned is how much of the newest sound a reset filter learns from at once.
	relearned = 1500 * time.Millisecond
)

// alignment delays the played sound until its echo arrives, so that the filter can be short,
// and retains the newest sound of both sides.
type alignment struct {
	frame         int
	rateHz        int
	heard, played []float32 // the newest; their last samples belong together
	delay         int       // in samples, of played
	owed          float64   // the fraction of a sample that delay lacks
	retain        int       // samples of each
}

func newAlignment(rateHz int) *alignment {
	keep := int((relearned + delayPlayed*time.Second/delayHz) * time.Duration(rateHz) / time.Second)
	return &alignment{
		frame:  rateHz / 100,
		rateHz: rateHz,
		retain: keep,
		heard:  make([]float32, keep),
		played: make([]float32, keep),
	}
}

// add appends a frame, and returns what was played when the frame that is heard now left the
// loudspeaker.
func (a *alignment) add(heard, played []float32) []float32 {
	a.heard = append(a.heard, heard...)
	a.played = append(a.played, played...)
	if len(a.heard) >= 2*a.retain {
		a.heard = a.heard[:copy(a.heard, a.heard[len(a.heard)-a.retain:])]
		a.played = a.played[:copy(a.played, a.played[len(a.played)-a.retain:])]
	}
	end := len(a.played) - a.delay
	return a.played[end-a.frame : end]
}

// set sets the delay for an echo. It reports whether the echo's position in the filter was out
// of bounds, so that the delay changed.
func (a *alignment) set(delay time.Duration) bool {
	samples := func(t time.Duration) int { return int(t * time.Duration(a.rateHz) / time.Second) }
	position := a.offset(delay)
	if position >= samples(filterLeadMin) && position <= samples(filterLeadMax) {
		return false
	}
	late := max(0, samples(delay)-samples(filterLead))
	if late == a.delay {
		return false
	}
	a.delay, a.owed = late, 0
	return true
}

// offset returns by how many samples an echo with a delay follows the delayed playback.
func (a *alignment) offset(delay time.Duration) int {
	return int(delay*time.Duration(a.rateHz)/time.Second) - a.delay
}

// move changes the delay, and reports whether that is possible: sound that is not played yet is
// unknown.
func (a *alignment) move(by time.Duration) bool {
	more := by.Seconds()*float64(a.rateHz) + a.owed
	late := a.delay + int(math.Round(more))
	if late < 0 || late > a.retain-int(relearned/FrameTime)*a.frame-a.frame {
		return false
	}
	a.delay, a.owed = late, more-math.Round(more)
	return true
}

// lately calls f with the frames before the newest, the oldest first.
func (a *alignment) lately(long time.Duration, f func(heard, played []float32)) {
	n := a.frame * int(long/FrameTime)
	for at := len(a.heard) - n; at+a.frame < len(a.heard); at += a.frame {
		f(a.heard[at:at+a.frame], a.played[at-a.delay:at-a.delay+a.frame])
	}
}
