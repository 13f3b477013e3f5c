package clean

import (
	"math"
	"time"
)

const (
	// filterLead is how much earlier than the echo the filter begins: what comes before
	// the strongest of it, and what the delay is found too late by.
	filterLead = 5 * time.Millisecond
	// filterLeadMin and filterLeadMax bound where in the filter the echo may begin before
	// the delay is set anew, for which all has to be learned again.
	filterLeadMin, filterLeadMax = 2 * time.Millisecond, 25 * time.Millisecond
	// relearned is how much of the newest sound a filter that begins anew learns
	// from at once.
	relearned = 1500 * time.Millisecond
)

// alignment keeps what was played back until its echo comes, so that the filter
// can be short, and what both were lately.
type alignment struct {
	frame         int
	rateHz        int
	heard, played []float32 // the newest; the last of each belong together
	delay         int       // samples that played is kept back
	owed          float64   // and by how much more it should be, less than one
	retain        int       // of each
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

// add takes a frame, and returns what was played when the one that is heard now
// left the loudspeaker.
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

// set keeps what is played back for an echo with such a delay, and reports whether
// that is another place in the filter than it can live with.
func (a *alignment) set(delay time.Duration) bool {
	samples := func(t time.Duration) int { return int(t * time.Duration(a.rateHz) / time.Second) }
	place := a.offset(delay)
	if place >= samples(filterLeadMin) && place <= samples(filterLeadMax) {
		return false
	}
	late := max(0, samples(delay)-samples(filterLead))
	if late == a.delay {
		return false
	}
	a.delay, a.owed = late, 0
	return true
}

// offset is by how many samples an echo with such a delay comes behind what is given as
// played.
func (a *alignment) offset(delay time.Duration) int {
	return int(delay*time.Duration(a.rateHz)/time.Second) - a.delay
}

// move keeps what is played back by so much more, or less, and reports whether it
// can: what was not played yet is not known.
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
