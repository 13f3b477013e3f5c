package ear

import (
	"time"

	"parley/appliance/engine"
)

const (
	// speechSlack is how late sound may be in the middle of an utterance before the gap counts as a pause, so
	// that a client that sends a little too slowly is not cut off within a word.
	speechSlack = 500 * time.Millisecond
	// QuietSlack is the same while no one speaks. It is longer than small chunks may gather; see gatherTime
	// in package chat.
	QuietSlack = 200 * time.Millisecond
	// jitter is how much earlier than the others a chunk of a real-time stream may come because of the
	// network. Such a chunk corrects the beginning of the stream; one that is earlier than that only changes
	// the time of what follows.
	jitter = 60 * time.Millisecond
)

// A Clock knows at which time of the chat each sample of the user's stream was spoken. The stream counts its
// own time, and only a gap in it changes that: sound that comes late was spoken after a pause. If more sound
// comes at once than fits into the time since then, the network had held it back, and there was no pause.
type Clock struct {
	// RealTime means that sound never comes faster than it is spoken, as in a call, unlike a recording. Nothing
	// in such a stream was spoken after it came: sound that seems so follows silence that a line inserted for
	// sound that it took for lost.
	RealTime bool

	marks []mark        // in order
	gap   time.Duration // the sum of all gaps that were not corrected
}

// mark holds when the stream would have begun, for the samples from one on.
type mark struct {
	from int64
	zero time.Duration
	back time.Duration // how much that was corrected for sound that came earlier
}

// Arrived notes n samples, starting with sample from, that arrive at a time. filled is the length of the
// silence that was inserted before them because nothing came.
func (c *Clock) Arrived(now time.Duration, from int64, n int, filled time.Duration, speaking bool) {
	late := now - streamTime(from+int64(n)) // when the stream would have begun
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
	lead := c.last().zero - late
	if lead <= 0 {
		return
	}
	back := min(lead, c.gap)
	c.gap -= back
	c.last().zero -= back
	if lead -= back; lead == 0 || !c.RealTime {
		return
	}
	if l := c.last(); l.back+lead <= jitter {
		l.zero, l.back = late, l.back+lead
		return
	}
	c.hole(mark{from: from, zero: late}, 0, speaking)
}

// hole begins a part of the stream after a gap. Samples before the current utterance are no longer needed.
func (c *Clock) hole(m mark, gap time.Duration, speaking bool) {
	if !speaking {
		c.marks = c.marks[len(c.marks)-1:]
	}
	c.marks = append(c.marks, m)
	c.gap += gap
}

func (c *Clock) last() *mark { return &c.marks[len(c.marks)-1] }

// At returns the time of the chat at which a sample was spoken.
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
