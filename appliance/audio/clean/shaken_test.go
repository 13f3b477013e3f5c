package clean

import (
	"testing"
	"time"

	"parley/appliance/audio/clean/acoustics"
)

// A loudspeaker that ran dry plays everything later: a second afterwards the box's voice is as
// soft again as in a newly learned room, and the filter keeps what it knew.
func TestDryLoudspeakerIsFollowed(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	const first, every, times = 9 * rate, 5 * rate, 3
	for i, gap := range []time.Duration{7 * time.Millisecond, 20 * time.Millisecond, 53 * time.Millisecond,
		120 * time.Millisecond} {
		played := voices(t, 120*time.Second)[i*20*rate:][:first+times*every]
		gaps := map[int]time.Duration{}
		for n := range times {
			at := first + n*every
			// during speech
			for power(played[at:at+rate/10]) < -35 || power(played[at+rate/10:at+rate/2]) < -35 {
				at += rate / 10
			}
			gaps[at] = gap
		}
		r := acoustics.Room{
			RateHz:  rate,
			Echo:    -10,
			Latency: 60 * time.Millisecond,
			Decay:   300 * time.Millisecond,
			Bend:    0.03,
			Noise:   -60,
			Seed:    uint64(i),
		}
		heard := r.Hear((&acoustics.Devices{RateHz: rate, Dry: gaps}).Plays(played))
		out := open(t).all(heard, played)
		late := 0
		for n := range times {
			for at := range gaps {
				if at/every != first/every+n {
					continue
				}
				late += int(gap * rate / time.Second)
				from, to := at+late+rate, min(at+late+4*rate, len(out))
				reduction := power(heard[from:to]) - power(out[from:to])
				t.Logf("dry for %v the %d. time: %.1f dB are gone from a second after on", gap, n+1, reduction)
				if reduction < 20 {
					t.Errorf("dry for %v the %d. time: %.1f dB are gone from a second after on: want 20 and more", gap,
						n+1, reduction)
				}
			}
		}
	}
}

// When the delay is known to have changed, sound during playback is suppressed until the new
// delay is found; a person without playback is not.
func TestPossibleEchoIsSuppressed(t *testing.T) {
	played := voices(t, 12*time.Second)
	r := acoustics.Room{
		RateHz:  rate,
		Echo:    -10,
		Latency: 60 * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Noise:   -60,
	}
	c := open(t)
	heard := r.Hear(played)
	out := c.all(heard[:10*rate], played[:10*rate])
	clear(out)
	late := 50 * rate / 1000
	c.DelayChanged()
	n := c.FrameSamples()
	for i := 10 * rate; i+n <= 10*rate+rate/4; i += n {
		c.Frame(out[i-10*rate:], heard[i-late:i-late+n], played[i:i+n])
	}
	if reduction := power(heard[10*rate-late:10*rate-late+rate/4]) - power(out[:rate/4]); reduction < 12 {
		t.Errorf("in the first quarter of a second %.1f dB are gone: want 12 and more", reduction)
	}
	c = open(t)
	c.DelayChanged()
	near := recording(t, "demo-moreinfo")[:4*rate]
	if change := power(c.all(near, make([]float32, len(near)))) - power(near); change < -1 {
		t.Errorf("the person is %.1f dB softer while nothing is played", -change)
	}
}

// A loudspeaker is turned down and up again: what the filter still takes for an echo does not
// become audible.
func TestVolumeChangeIsFollowed(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	for voice := range 3 {
		const down, up = 8 * rate, 16 * rate
		played := voices(t, 110*time.Second)[voice*40*rate:][:24*rate]
		r := acoustics.Room{
			RateHz:  rate,
			Echo:    -10,
			Latency: 100 * time.Millisecond,
			Decay:   300 * time.Millisecond,
			Noise:   -70,
			Seed:    uint64(voice),
		}
		heard := r.Hear(played)
		r.Echo = -50
		copy(heard[down:up], r.Hear(played)[down:up])
		out := open(t).all(heard, played)
		if over := power(out[down+rate/2:up]) - power(heard[down+rate/2:up]); over > 3 {
			t.Errorf("voice %d: turned down, it is %.1f dB louder than what was heard", voice, over)
		}
		reduction := power(heard[up+rate/2:up+3*rate]) - power(out[up+rate/2:up+3*rate])
		t.Logf("voice %d: turned up again, %.1f dB are gone", voice, reduction)
		if reduction < 25 {
			t.Errorf("voice %d: turned up again, %.1f dB are gone: want 25 and more", voice, reduction)
		}
	}
}

// A machine too busy to fill the loudspeaker leaves no gap in the reference, and is not
// mistaken for a differing clock: sound afterwards is suppressed, or free of echo, from the
// first sample.
func TestBusyMachineLetsNoEchoThrough(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	ms := time.Millisecond
	for i, holds := range []time.Duration{80 * ms, 160 * ms, 240 * ms} {
		const long = 70 * time.Second
		played := voices(t, long+time.Duration(i)*20*time.Second)[i*20*rate:]
		v := &acoustics.Devices{
			RateHz:   rate,
			OutChunk: int(holds) * rate / int(4*time.Second),
			InChunk:  160,
			Late:     4 * ms,
			Seed:     uint64(i),
			Holds:    int(holds) * rate / int(time.Second),
		}
		for n, dry := range []time.Duration{11 * ms, 5 * ms, 100 * ms, -30 * ms, 30 * ms, 500 * ms} {
			v.Stalls = append(v.Stalls, acoustics.Stall{At: time.Duration(10+9*n) * time.Second, Long: dry + holds})
		}
		v.Run(long, func(int, int) {}, func(int, int) {}) // finds when it runs dry
		r := acoustics.Room{
			RateHz:  rate,
			Echo:    -10,
			Latency: 5 * ms,
			Decay:   300 * ms,
			Noise:   -60,
			Seed:    uint64(i),
		}
		heard := r.Hear(v.Plays(played))
		d := NewDrift(rate, v.Now)
		d.SetHeld(holds)
		c := open(t)
		out, reference := make([]float32, len(heard)), make([]float32, rate/100)
		v.Run(long, func(from, n int) { d.Played(clip(played, from, n)) }, func(from, n int) {
			d.Heard(v.Now(), n)
			switch d.Reference(reference) {
			case Unknown:
				c.PlaybackUnknown()
			case Repositioned, Dry:
				c.DelayChanged()
			case Restored:
				c.ReferenceMoved()
			}
			c.Frame(clip(out, from, n), clip(heard, from, n), reference)
		})
		if ppm := d.PPM(); ppm < -5 || ppm > 5 {
			t.Errorf("a loudspeaker that holds %v and ran dry is estimated to be %.0f ppm faster", holds, ppm)
		}
		through := 0
		const piece = rate / 5
		for at := 5 * rate; at+piece <= len(out); at += piece {
			if loud := power(out[at : at+piece]); loud > -45 {
				through++
				t.Logf("holds %v, at %.1f s: %.0f dB of %.0f", holds, float64(at)/rate, loud, power(heard[at:at+piece]))
			}
		}
		if through > 0 {
			t.Errorf("where the loudspeaker holds %v, %v of echo come through", holds, time.Duration(through)*200*ms)
		}
	}
}

// Playback is repositioned twice: first because it was misaligned from the start, and much
// later because the loudspeaker ran dry. The second time its echo comes as after the first, and
// not as at the start.
func TestSecondRepositioningIsFollowed(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	const ms = rate / 1000
	played := voices(t, 30*time.Second)
	r := acoustics.Room{
		RateHz:  rate,
		Echo:    -10,
		Latency: 42 * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Noise:   -65,
	}
	heard := r.Hear(played)
	c, n := open(t), rate/100
	out := make([]float32, len(heard))
	for i := rate; i+rate < len(played); i += n {
		early := 0
		switch {
		case i < 3*rate:
			early = 48 * ms
		case i >= 12*rate && i < 20*rate:
			early = -15 * ms
		}
		if i == 3*rate || i == 20*rate {
			c.ReferenceMoved()
		}
		c.Frame(out[i:i+n], heard[i:i+n], played[i+early:i+early+n])
	}
	through := time.Duration(0)
	const piece = rate / 25
	for at := 20 * rate; at < 25*rate; at += piece {
		if power(out[at:at+piece]) > -45 {
			through += 40 * time.Millisecond
		}
	}
	t.Logf("%v of echo come through", through)
	if through > 80*time.Millisecond {
		t.Errorf("for %v the echo comes through", through)
	}
}

// If the delay changes while the loudspeaker is off, the sound that counts as echo is what
// comes when it is on again.
func TestAssumedEchoWaitsForPlayback(t *testing.T) {
	if raced {
		return
	}
	const off, on = 10 * rate, 16 * rate
	played := voices(t, 20*time.Second)
	r := acoustics.Room{
		RateHz:  rate,
		Echo:    -10,
		Latency: 60 * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Noise:   -70,
	}
	heard := turned(r, played, off, on, 60)
	late := 30 * rate / 1000
	// from then on
	heard = append(heard[:off+rate:off+rate], append(make([]float32, late), heard[off+rate:len(heard)-late]...)...)
	c := open(t)
	out := c.all(heard[:off+rate], played[:off+rate])
	c.DelayChanged()
	out = append(out, c.all(heard[off+rate:], played[off+rate:])...)
	if loud := power(out[on+late : on+late+rate]); loud > -55 {
		t.Errorf("in the second after it was turned on the echo is heard with %.0f dB", loud)
	}
}
