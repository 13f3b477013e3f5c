package clean

import (
	"testing"
	"time"

	"parley/appliance/audio/clean/acoustics"
)

// turned is a room whose loudspeaker is softer for a while.
func turned(r acoustics.Room, played []float32, from, to int, softer float64) []float32 {
	heard := r.Hear(played)
	r.Echo -= softer
	copy(heard[from:to], r.Hear(played)[from:to])
	return heard
}

// A loudspeaker is turned down, or off, until the filter has forgotten the room, and is turned
// up within a sentence: its echo is suppressed at once.
func TestReturningEchoIsSuppressed(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	for i, softer := range []float64{6, 12, 20, 40} {
		const down, up = 10 * rate, 24 * rate
		played := voices(t, 110*time.Second)[i*20*rate:][:30*rate]
		r := acoustics.Room{
			RateHz:  rate,
			Echo:    -10,
			Latency: 60 * time.Millisecond,
			Decay:   300 * time.Millisecond,
			Bend:    0.03,
			Noise:   -65,
			Seed:    uint64(i),
		}
		heard := turned(r, played, down, up, softer)
		out := open(t).all(heard, played)
		const piece = rate / 25
		through := time.Duration(0)
		for at := up; at+piece <= len(out); at += piece {
			if loud := power(out[at : at+piece]); loud > -45 {
				through += 40 * time.Millisecond
				t.Logf("%v dB softer for 14 s: at %.2f s %.0f dB of %.0f", softer, float64(at-up)/rate, loud,
					power(heard[at:at+piece]))
			}
		}
		if through > 120*time.Millisecond {
			t.Errorf("an echo that was %v dB softer for 14 s comes through for %v", softer, through)
		}
	}
}

// A person who speaks after the loudspeaker was turned off is heard, although the room is
// stored.
func TestVoiceIsHeardAfterTheEchoIsGone(t *testing.T) {
	if raced {
		return
	}
	const down, speaks = 10 * rate, 16 * rate
	played := voices(t, 30*time.Second)
	r := acoustics.Room{
		RateHz:  rate,
		Echo:    -10,
		Latency: 60 * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Bend:    0.03,
		Noise:   -65,
	}
	heard := turned(r, played, down, len(played), 40)
	near := r.Say(recording(t, "demo-moreinfo")[:8*rate], -30)
	for i, v := range near {
		heard[speaks+i] += v
	}
	out := open(t).all(heard, played)
	if change := power(out[speaks:speaks+len(near)]) - power(heard[speaks:speaks+len(near)]); change < -1 {
		t.Errorf("the person is %.1f dB softer than in silence", -change)
	}
}
