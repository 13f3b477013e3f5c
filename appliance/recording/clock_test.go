package recording

import (
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/ear"
	"parley/appliance/engine"
	"parley/store"
)

// arrival is a piece of a user's stream: when it was said, and how late it came.
type arrival struct {
	said, late time.Duration
}

const arrivalLength = 20 * ms

// stream is a microphone's time from begin to end in pieces, each of which
// comes as soon as it is whole, and after the stall that holds it back.
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

// Where a user's words are in the time of the chat, the clock says in the end of
// every stall: as if there had been none. Real pauses stay.
func TestSoundThatTheNetworkHeldBackIsWhereItWasSaid(t *testing.T) {
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
		r, shelf, clock := recording(t)
		var sample int64
		for _, a := range pieces {
			clock.now = a.said + arrivalLength + a.late
			pcm := make([]float32, audio.Samples(arrivalLength, engine.SpeechRateHz))
			if a.said%s == 0 {
				pcm = beep(engine.SpeechRateHz, arrivalLength)
			}
			c.Arrived(clock.now, sample, len(pcm), 0, false)
			r.Heard(c.At(sample), pcm)
			tell(r)
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
			t.Errorf("%s: what was said at %v is at %v", name, last.said, got)
		}
		wantSounding(t, "user in "+name, shelf.hear(t, store.UserSide), want...)
	}
}

// Sound that comes faster than anybody can speak is all there, in its order.
func TestSoundThatComesTooFastIsKeptWhole(t *testing.T) {
	var c ear.Clock
	r, shelf, clock := recording(t)
	clock.now = time.Second
	for n := range int64(500) { // ten seconds in one
		clock.now += 2 * ms
		c.Arrived(clock.now, n*320, 320, 0, false)
		r.Heard(c.At(n*320), beep(engine.SpeechRateHz, arrivalLength))
		tell(r)
		r.flush(clock.now)
	}
	r.close()
	if got := len(shelf.hear(t, store.UserSide)); got < 10*engine.SpeechRateHz || got > 11*engine.SpeechRateHz {
		t.Errorf("%d samples are kept of ten seconds", got)
	}
	if end := c.At(500 * 320); end < 9*time.Second || end > 11*time.Second {
		t.Errorf("they end at %v", end)
	}
}
