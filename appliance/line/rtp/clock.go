package rtp

import (
	"context"
	"time"
)

// Clock aligns the packets of all calls of a box to common ticks, so that one wake-up of the
// machine serves many of them. A packet that comes or goes alone costs ten times as much as
// one among others, mostly for the scheduler.
type Clock struct{ epoch time.Time }

const (
	// TickInterval is the interval between ticks: by how much a packet may be sent early,
	// once a talkspurt, and how long a received packet may wait while many come.
	TickInterval = 10 * time.Millisecond
	// maxLate is the delay, after the machine was busy, up to which frames are sent faster
	// to catch up. A longer one stays a gap: sending faster would only fill the client's
	// buffer.
	maxLate = 200 * time.Millisecond
)

// NewClock returns a clock that starts now.
func NewClock() Clock { return Clock{time.Now()} }

// before returns the latest tick at or before t.
func (c Clock) before(t time.Time) time.Time { return t.Add(-(t.Sub(c.epoch) % TickInterval)) }

// next returns the first tick after t.
func (c Clock) next(t time.Time) time.Time { return c.before(t).Add(TickInterval) }

// Pace calls step for one frame after another in real time: for the first one at once, and
// for the others at the tick before their time. step gets the time of the frame, and whether
// there is a gap before it because the machine was busy. It returns the length of the frame,
// or 0 for the end. Pace returns false if ctx has ended.
func (c Clock) Pace(ctx context.Context, step func(at time.Time, gap bool) time.Duration) bool {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	at := time.Now()
	for {
		late := time.Since(at)
		gap := late > maxLate
		if gap {
			at = at.Add(late)
		}
		length := step(at, gap)
		if length == 0 {
			return true
		}
		at = at.Add(length)
		timer.Reset(time.Until(c.before(at)))
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
	}
}
