package speaker

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// push is what somebody asks for with a key, a button or a request.
type push int

const (
	begin push = iota
	end
	toggle // begins where nobody talks, and else ends
)

// Begin begins a conversation, unless one goes on.
func (s *Speaker) Begin() { s.push(begin) }

// End ends the conversation, if one goes on.
func (s *Speaker) End() { s.push(end) }

// Toggle does what a single button does: it begins a conversation, or ends it.
func (s *Speaker) Toggle() { s.push(toggle) }

func (s *Speaker) push(p push) {
	select {
	case s.pushes <- p:
	case <-s.stopping.Done():
	}
}

// attendant waits for somebody to talk to. One goroutine owns it.
type attendant struct {
	*Speaker
	ear     *ear
	reader  *reader
	call    *Call // nil while nobody talks
	ended   chan struct{}
	missing [2]bool     // devices, by kind
	absence *time.Timer // of a device, in a conversation
}

// attendAlways attends, and begins anew where that panics.
func (s *Speaker) attendAlways() {
	defer s.drop()
	for s.stopping.Err() == nil {
		if s.workers.survive("waiting for somebody", s.attend) {
			return
		}
		s.rest(firstRetry)
	}
}

// attend takes what the microphone brings until the line ends, and holds
// conversations.
func (s *Speaker) attend() {
	a := &attendant{Speaker: s, absence: time.NewTimer(time.Hour)}
	a.absence.Stop()
	defer a.absence.Stop()
	var err error
	if a.ear, err = newEar(s.Cleaner, s.Detector); err != nil {
		s.Log.Error("the box's own microphone cannot be listened to", "err", err)
		return
	}
	s.playout.listen(a.ear.reference)
	a.reader = newReader(s.Transcriber, &s.workers, s.Log)
	defer a.reader.close()
	for {
		select {
		case in := <-s.heard:
			a.hear(in)
		case p := <-s.pushes:
			a.pushed(p)
		case said := <-a.reader.results:
			a.read(said)
		case c := <-s.changes:
			a.changed(c)
		case <-a.absence.C:
			if a.call != nil {
				a.call.end(endAbsent)
			}
		case <-a.ended:
			a.over()
		case <-s.stopping.Done():
			if a.call != nil {
				<-a.ended
			}
			return
		}
	}
}

// hear takes a piece of sound of the microphone.
func (a *attendant) hear(in incoming) {
	voiced, err := a.ear.hear(in)
	if err != nil {
		a.Log.Error("the box's own microphone cannot be listened to", "err", err)
	}
	if a.call != nil {
		a.call.heard(a.ear.newest(), voiced)
	}
	for _, seg := range a.ear.segments {
		if seg.Short {
			continue
		}
		said := seg.Kind == engine.Paused
		switch {
		case a.call != nil:
			// The session keeps short utterances over the assistant's until that is over.
			if said && a.call.speaking() && len(seg.PCM) < longestStop {
				a.reader.ask(seg)
			}
		case a.options.Start == OnSpeech && seg.Kind == engine.Voice:
			a.begin(a.ear.since(seg.Begin-prefix), true)
			return
		case a.options.Start == OnPhrase && said:
			a.reader.ask(seg)
		}
	}
}

// prefix is how much sound before a voice belongs to it: a soft first consonant.
const prefix = 300 * engine.SpeechRateHz / 1000

// pushed does what somebody asks for.
func (a *attendant) pushed(p push) {
	switch {
	case a.call == nil && p != end:
		a.begin(nil, false)
	case a.call != nil && p != begin:
		a.call.end(endAsked)
	}
}

// begin begins a conversation, with sound that was heard of it before; spoken
// says that the person speaks.
func (a *attendant) begin(sound []float32, spoken bool) {
	a.ended = make(chan struct{})
	a.call = newCall(a.Speaker, spoken)
	a.call.heard(sound, spoken)
	a.status.set(func(n *Status) { n.State = Talking })
	a.watchAbsence()
	call, ended := a.call, a.ended
	a.workers.do("a conversation", func() {
		defer close(ended)
		defer call.close()
		call.run()
	})
}

// over waits for somebody else, after a conversation.
func (a *attendant) over() {
	a.call, a.ended = nil, nil
	a.absence.Stop()
	a.ear.reset()
	a.status.set(func(n *Status) { n.State, n.ChatID = Waiting, "" })
}

// changed takes that a device has come or gone.
func (a *attendant) changed(c change) {
	if a.missing[c.kind] == !c.there {
		return // it was tried again
	}
	a.missing[c.kind] = !c.there
	if c.kind == input && !c.there {
		a.ear.reset()
	}
	if a.call != nil {
		a.call.report() // what is heard of the assistant stops, or goes on
		a.watchAbsence()
	}
}

// watchAbsence has a conversation end where a device stays away.
func (a *attendant) watchAbsence() {
	if a.missing[input] || a.missing[output] {
		a.absence.Reset(a.options.Absent)
	} else {
		a.absence.Stop()
	}
}

// downHz is the rate at which the ear hears.
const downHz = engine.SpeechRateHz

// newDown returns what brings sound of a device to the ear's rate.
func newDown() (*audio.Resampler, error) { return audio.NewResampler(rateHz, downHz) }
