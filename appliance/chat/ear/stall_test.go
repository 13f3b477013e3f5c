package ear

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// pausesOf returns how many pauses the ear finds in the sound that do sends, and in the silence after it.
func pausesOf(t *testing.T, do func(*Ear)) (pauses int) {
	synctest.Test(t, func(t *testing.T) {
		p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
		for range 100 {
			p.release <- struct{}{}
		}
		e, events, _ := listening(t, p)
		do(e)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for len(events) > 0 {
			if _, ok := (<-events).(turn.VoicePaused); ok {
				pauses++
			}
		}
	})
	return pauses
}

// live sends sound in real time.
func live(e *Ear, pieces int, sample float32) {
	for range pieces {
		time.Sleep(32 * time.Millisecond)
		e.queue <- pcmOf(32, sample)
	}
}

// A network that stands still for two seconds in the middle of a word and then brings the rest at once does
// not cut the sentence. A client that stops there for good still ends the turn.
func TestAStallOfTheNetworkIsNoPause(t *testing.T) {
	if n := pausesOf(t, func(e *Ear) {
		live(e, 30, 0.3)
		time.Sleep(2 * time.Second)
		for range 62 {
			e.queue <- pcmOf(32, 0.3)
		}
		live(e, 40, 0)
	}); n != 1 {
		t.Errorf("%d pauses in a sentence that a stall held up, want the one at its end", n)
	}
	if n := pausesOf(t, func(e *Ear) { live(e, 30, 0.3) }); n != 1 {
		t.Errorf("%d pauses where a client stops in the middle of a word, want 1", n)
	}
	if n := pausesOf(t, func(e *Ear) { live(e, 30, 0.3); live(e, 2, 0) }); n != 1 {
		t.Errorf("%d pauses where a client stops behind it, want 1", n)
	}
}
