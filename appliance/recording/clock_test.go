package recording

import (
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/ear"
	"parley/appliance/engine"
	"parley/store"
)

// arrival is a piece of a user's stream: when it was spoken, and how late it arrived.
type arrival struct {
	said, late time.Duration
}

const arrivalLength = 20 * ms

// stream returns a microphone's stream in pieces, each of which arrives when it is
// complete, or after the stall that delays it.
func stream(begin, end, stallAt, stall time.Duration) (all []arrival) {
	for said := begin; said < end; said += arrivalLength {
		a := arrival{said: said}
		if done := said + arrivalLength; done >= stallAt && done < stallAt+stall {
			a.late = stallAt + stall - done
		}
		all = append(all, a)
	}
	return all
}

// At the end of each network stall, the user's sound is where it would be without the
// stall. Real pauses stay.
func TestDelayedSoundIsAtItsTime(t *testing.T) {
	const s = time.Second
	for name, pieces := range map[string][]arrival{
		"no stall":                   stream(s, 10*s, 0, 0),
		"a stall":                    stream(s, 10*s, 4*s, 3*s),
		"a stall at the beginning":   stream(s, 10*s, s, 1400*ms),
		"a pause":                    append(stream(s, 4*s, 0, 0), stream(7*s, 10*s, 0, 0)...),
		"a pause, then a stall":      append(stream(s, 4*s, 0, 0), stream(7*s, 15*s, 9*s, 2*s)...),
		"a pause that a stall ends":  append(stream(s, 4*s, 0, 0), stream(7*s, 12*s, 7*s, s)...),
		"a short pause":              append(stream(s, 4*s, 0, 0), stream(4300*ms, 10*s, 0, 0)...),
		"a stall shorter than slack": stream(s, 10*s, 4*s, 150*ms),
	} {
		var c ear.Clock
		r, shelf, clock := newTestRecorder(t)
		var sample int64
		for _, a := range pieces {
			clock.now = a.said + arrivalLength + a.late
			pcm := make([]float32, audio.Samples(arrivalLength, engine.SpeechRateHz))
			if a.said%s == 0 {
				pcm = tone(engine.SpeechRateHz, arrivalLength)
			}
			c.Arrived(clock.now, sample, len(pcm), 0, false)
			r.Heard(c.At(sample), pcm)
			handleQueued(r)
			r.flush(clock.now)
			sample += int64(len(pcm))
		}
		r.close()
		sample = 0
		var want []time.Duration
		for _, a := range pieces {
			if a.said%s == 0 {
				want = append(want, a.said, a.said+arrivalLength)
			}
		}
		last := pieces[len(pieces)-1]
		sample = int64(len(pieces)-1) * int64(audio.Samples(arrivalLength, engine.SpeechRateHz))
		if got := c.At(sample); (got - last.said).Abs() > 5*ms {
			t.Errorf("%s: the sound of %v is at %v", name, last.said, got)
		}
		wantSoundTimes(t, "user in "+name, shelf.decode(t, store.UserSide), want...)
	}
}

// Sound that arrives faster than real time is recorded completely and in order.
func TestFastSoundIsRecordedCompletely(t *testing.T) {
	var c ear.Clock
	r, shelf, clock := newTestRecorder(t)
	clock.now = time.Second
	for n := range int64(500) { // ten seconds in one second
		clock.now += 2 * ms
		c.Arrived(clock.now, n*320, 320, 0, false)
		r.Heard(c.At(n*320), tone(engine.SpeechRateHz, arrivalLength))
		handleQueued(r)
		r.flush(clock.now)
	}
	r.close()
	if got := len(shelf.decode(t, store.UserSide)); got < 10*engine.SpeechRateHz || got > 11*engine.SpeechRateHz {
		t.Errorf("%d samples are stored of ten seconds", got)
	}
	if end := c.At(500 * 320); end < 9*time.Second || end > 11*time.Second {
		t.Errorf("they end at %v", end)
	}
}
