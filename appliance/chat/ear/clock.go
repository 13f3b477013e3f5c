package ear

import (
	"time"

	"parley/appliance/engine"
)

const (
	// speechSlack is how late the user's sound may come in the middle of an
	// utterance before a hole in the stream is taken as a pause: a client that
	// sends a little too slowly is not cut into pieces in the middle of a word.
	speechSlack = 500 * time.Millisecond
	// QuietSlack is the same while nobody speaks: more than the time that small
	// chunks may gather, see restFor in the package chat.
	QuietSlack = 200 * time.Millisecond
	// jitter is how much sooner than the others pieces of a live stream may come
	// for that to be the network's doing, which corrects when the stream began;
	// what comes sooner than that is dated anew, and nothing before it.
	jitter = 60 * time.Millisecond
)

// A Clock knows when each sample of the user's stream was said, as time of the
// chat. The stream counts its own time, and only a hole in it moves that: sound
// that comes late came after a pause. Unless more of it comes at once than the
// time since can hold: then the network had held it back, and the pause was none.
type Clock struct {
	// RealTime is whether the stream comes as it is said, as a call's does and a
	// recording's does not: nothing in it can have been said after it came. What
	// looks so had silence put before it, by a line that thought it lost.
	RealTime bool

	marks []mark        // in order
	gap   time.Duration // all holes so far that were not made good
}

// mark says when the stream would have begun for the samples from one on.
type mark struct {
	from int64
	zero time.Duration
	back time.Duration // by how much that was corrected, because more came sooner
}

// Arrived takes note of n samples, from one on, that come at a time. filled is
// how much silence was put before them because nothing came.
func (c *Clock) Arrived(now time.Duration, from int64, n int, filled time.Duration, speaking bool) {
	late := now - streamTime(from+int64(n)) // if the stream began at 0
	if len(c.marks) == 0 {
		c.marks = []mark{{zero: late}}
		c.gap = max(0, late)
		return
	}
	slack := speechSlack
	if !speaking {
		slack = QuietSlack
	}
	zero := c.last().zero
	switch lag := late - zero; {
	case lag > slack:
		c.hole(mark{from: from, zero: late}, filled+lag, speaking)
	case filled > 0:
		c.hole(mark{from: from, zero: zero}, filled, speaking)
	}
	ahead := c.last().zero - late
	if ahead <= 0 {
		return
	}
	back := min(ahead, c.gap)
	c.gap -= back
	c.last().zero -= back
	if ahead -= back; ahead == 0 || !c.RealTime {
		return
	}
	if l := c.last(); l.back+ahead <= jitter {
		l.zero, l.back = late, l.back+ahead
		return
	}
	c.hole(mark{from: from, zero: late}, 0, speaking)
}

// hole begins a part of the stream that comes after a pause. What was before an
// utterance is not asked for any more.
func (c *Clock) hole(m mark, gap time.Duration, speaking bool) {
	if !speaking {
		c.marks = c.marks[len(c.marks)-1:]
	}
	c.marks = append(c.marks, m)
	c.gap += gap
}

func (c *Clock) last() *mark { return &c.marks[len(c.marks)-1] }

// At is the chat time of a sample of the stream.
func (c *Clock) At(sample int64) time.Duration {
	var zero time.Duration
	for i := len(c.marks) - 1; i >= 0; i-- {
		if zero = c.marks[i].zero; c.marks[i].from <= sample {
			break
		}
	}
	return max(0, zero+streamTime(sample))
}

func streamTime(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / engine.SpeechRateHz
}
