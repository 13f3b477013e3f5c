package chat

import (
	"testing"
	"time"

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
		var c earClock
		r, shelf, clock := recording(t)
		var sample int64
		for _, a := range pieces {
			clock.now = a.said + arrivalLength + a.late
			pcm := make([]float32, samples(arrivalLength, engine.SpeechRateHz))
			if a.said%s == 0 {
				pcm = beep(engine.SpeechRateHz, arrivalLength)
			}
			c.arrived(clock.now, sample, len(pcm), 0, false)
			r.heard(c.at(sample), pcm)
			tell(r)
			r.beat(clock.now)
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
		sample = int64(len(pieces)-1) * int64(samples(arrivalLength, engine.SpeechRateHz))
		if got := c.at(sample); (got - last.said).Abs() > 5*ms {
			t.Errorf("%s: what was said at %v is at %v", name, last.said, got)
		}
		wantSounding(t, "user in "+name, shelf.hear(t, store.UserSide), want...)
	}
}

// An utterance keeps its beginning whatever happens to the stream within it: the
// ear fills in silence, the network gives back what it held, a client is slow.
func TestWhatWasSaidBeforeAHoleStaysWhereItWas(t *testing.T) {
	const rate = engine.SpeechRateHz
	var c earClock
	c.arrived(2*time.Second, 0, rate, 0, false) // a second that began at 1 s
	// 400 ms of nothing and 200 ms that the ear fills in; then the 600 ms come
	// together.
	filled := int64(rate / 5)
	c.arrived(2600*ms, rate+filled, rate*6/10, 200*ms, true)
	if begin, after := c.at(0), c.at(rate+filled); begin != time.Second || after != 2*time.Second {
		t.Errorf("after a stall: the utterance begins at %v and goes on at %v", begin, after)
	}
	// A slow client: holes in the middle of speech.
	next := int64(rate + filled + rate*6/10)
	for i := range 10 {
		c.arrived(2600*ms+time.Duration(i+1)*2*time.Second, next, rate, 0, true)
		next += rate
	}
	if begin, last := c.at(0), c.at(next-rate); begin != time.Second || last != 21600*ms {
		t.Errorf("a slow client's utterance begins at %v, and its last second at %v", begin, last)
	}
	// Between utterances the past is forgotten.
	for i := range 100 {
		c.arrived(time.Minute+time.Duration(i)*2*time.Second, next, rate, 0, false)
		next += rate
	}
	if len(c.marks) > 2 {
		t.Errorf("%d holes are remembered", len(c.marks))
	}
}

// Sound that comes faster than anybody can speak is all there, in its order.
func TestSoundThatComesTooFastIsKeptWhole(t *testing.T) {
	var c earClock
	r, shelf, clock := recording(t)
	clock.now = time.Second
	for n := range int64(500) { // ten seconds in one
		clock.now += 2 * ms
		c.arrived(clock.now, n*320, 320, 0, false)
		r.heard(c.at(n*320), beep(engine.SpeechRateHz, arrivalLength))
		tell(r)
		r.beat(clock.now)
	}
	r.close()
	if got := len(shelf.hear(t, store.UserSide)); got < 10*engine.SpeechRateHz || got > 11*engine.SpeechRateHz {
		t.Errorf("%d samples are kept of ten seconds", got)
	}
	if end := c.at(500 * 320); end < 9*time.Second || end > 11*time.Second {
		t.Errorf("they end at %v", end)
	}
}
