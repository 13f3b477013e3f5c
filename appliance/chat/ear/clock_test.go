package ear

import (
	"testing"
	"time"

	"parley/appliance/engine"
)

const ms = time.Millisecond

// An utterance keeps its beginning whatever happens to the stream: the ear inserts silence, the network
// releases what it held, or the client is slow.
func TestAGapDoesNotMoveEarlierSound(t *testing.T) {
	const rate = engine.SpeechRateHz
	var c Clock
	c.Arrived(2*time.Second, 0, rate, 0, false) // a second that began at 1 s
	// Nothing comes for 600 ms, of which the ear fills 200; then 600 ms come at once.
	filled := int64(rate / 5)
	c.Arrived(2600*ms, rate+filled, rate*6/10, 200*ms, true)
	if begin, after := c.At(0), c.At(rate+filled); begin != time.Second || after != 2*time.Second {
		t.Errorf("after a stall: the utterance begins at %v and goes on at %v", begin, after)
	}
	// A slow client: gaps in the middle of speech.
	next := int64(rate + filled + rate*6/10)
	for i := range 10 {
		c.Arrived(2600*ms+time.Duration(i+1)*2*time.Second, next, rate, 0, true)
		next += rate
	}
	if begin, last := c.At(0), c.At(next-rate); begin != time.Second || last != 21600*ms {
		t.Errorf("a slow client's utterance begins at %v, and its last second at %v", begin, last)
	}
	// Between utterances the past is dropped.
	for i := range 100 {
		c.Arrived(time.Minute+time.Duration(i)*2*time.Second, next, rate, 0, false)
		next += rate
	}
	if len(c.marks) > 2 {
		t.Errorf("%d holes are remembered", len(c.marks))
	}
}

// A network that stalls twice before it has released what it held makes no pause: once everything has come,
// the clock is right again.
func TestRepeatedStallsAreNoPause(t *testing.T) {
	const chunk = engine.SpeechRateHz / 50
	var c Clock
	next := int64(0)
	bring := func(now time.Duration) {
		c.Arrived(now, next, chunk, 0, false)
		next += chunk
	}
	now := time.Duration(0)
	for range 50 {
		now += 20 * ms
		bring(now)
	}
	bring(now + 400*ms) // of 1.02 s
	bring(now + 900*ms) // of 1.04 s
	for streamTime(next) < now+time.Second {
		bring(now + time.Second) // everything that was held
	}
	if got, want := c.At(next), streamTime(next); got != want {
		t.Errorf("after two stalls sound sent at %v is dated %v", want, got)
	}
}

// If a real-time line inserted silence for sound that came after all, the sound is not dated later than now.
// Earlier sound keeps its time.
func TestRealTimeSoundIsNotDatedInTheFuture(t *testing.T) {
	const chunk = engine.SpeechRateHz / 50
	c := Clock{RealTime: true}
	next, now := int64(0), time.Duration(0)
	bring := func(chunks int) {
		for range chunks {
			c.Arrived(now, next, chunk, 0, true)
			next += chunk
		}
	}
	talk := func(chunks int) {
		for range chunks {
			now += 20 * ms
			bring(1)
		}
	}
	talk(50)
	for range 5 {
		now += 300 * ms
		bring(15)                    // silence, because nothing came
		before := c.At(next - chunk) // the last of it
		bring(15)                    // what had been held up
		talk(10)
		if got := c.At(next); got < now-jitter || got > now {
			t.Errorf("at %v what comes is taken for %v", now, got)
		}
		if after := c.At(next - 26*chunk); after < before-jitter || after > before {
			t.Errorf("sound at %v is now at %v", before, after)
		}
	}
	if got := c.At(0); got > jitter {
		t.Errorf("the first sample is at %v", got)
	}
}
