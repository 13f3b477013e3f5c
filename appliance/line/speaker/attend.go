package speaker

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// command is what a key, a button or a request asks for.
type command int

const (
	commandBegin command = iota
	commandEnd
	commandToggle // begins a chat if there is none, and otherwise ends it
)

// Begin begins a chat, unless there is one.
func (s *Speaker) Begin() { s.send(commandBegin) }

// End ends the chat, if there is one.
func (s *Speaker) End() { s.send(commandEnd) }

// Toggle does what a single button does: it begins a chat, or ends it.
func (s *Speaker) Toggle() { s.send(commandToggle) }

func (s *Speaker) send(p command) {
	select {
	case s.commands <- p:
	case <-s.stopping.Done():
	}
}

// attendant waits for a user and runs chats. One goroutine uses it.
type attendant struct {
	*Speaker
	ear          *ear
	phraseReader *phraseReader
	call         *Call // nil if there is no chat
	ended        chan struct{}
	missing      [2]bool     // devices that are missing, by kind
	absence      *time.Timer // ends the chat when a device stays away
}

// attendAlways runs attend, and starts it again after a panic.
func (s *Speaker) attendAlways() {
	defer s.drop()
	for s.stopping.Err() == nil {
		if s.workers.doSafely("waiting for a chat", s.attend) {
			return
		}
		s.sleep(firstRetry)
	}
}

// attend processes the sound of the microphone, and holds chats, until the line ends.
func (s *Speaker) attend() {
	a := &attendant{Speaker: s, absence: time.NewTimer(time.Hour)}
	a.absence.Stop()
	defer a.absence.Stop()
	var err error
	if a.ear, err = newEar(s.Cleaner, s.Detector); err != nil {
		s.Log.Error("cannot process the microphone's sound", "err", err)
		return
	}
	s.playout.listen(a.ear.reference)
	a.phraseReader = newReader(s.Transcriber, &s.workers, s.Log)
	defer a.phraseReader.close()
	for {
		select {
		case in := <-s.microphone:
			a.hear(in)
		case p := <-s.commands:
			a.command(p)
		case said := <-a.phraseReader.results:
			a.phraseRead(said)
		case c := <-s.changes:
			a.deviceChanged(c)
		case <-a.absence.C:
			if a.call != nil {
				a.call.end(endAbsent)
			}
		case <-a.ended:
			a.callEnded()
		case <-s.stopping.Done():
			if a.call != nil {
				<-a.ended
			}
			return
		}
	}
}

// hear processes a piece of sound of the microphone.
func (a *attendant) hear(in incoming) {
	voiced, err := a.ear.hear(in)
	if err != nil {
		a.Log.Error("cannot process the microphone's sound", "err", err)
	}
	if a.call != nil {
		a.call.hear(a.ear.newest(), voiced)
	}
	for _, seg := range a.ear.segments {
		if seg.Short {
			continue
		}
		said := seg.Kind == engine.Paused
		switch {
		case a.call != nil:
			// The session holds short utterances back while the assistant speaks.
			if said && a.call.speaking() && len(seg.PCM) < maxStop {
				a.phraseReader.transcribe(seg)
			}
		case a.options.Start == OnSpeech && seg.Kind == engine.Voice:
			a.begin(a.ear.since(seg.Begin-onset), true)
			return
		case a.options.Start == OnPhrase && said:
			a.phraseReader.transcribe(seg)
		}
	}
}

// onset is the sound before a detected voice that belongs to it: a soft first consonant.
const onset = 300 * engine.SpeechRateHz / 1000

// command executes a command.
func (a *attendant) command(p command) {
	switch {
	case a.call == nil && p != commandEnd:
		a.begin(nil, false)
	case a.call != nil && p != commandBegin:
		a.call.end(endAsked)
	}
}

// begin begins a chat with sound that was heard before it; spoken means that the user
// speaks.
func (a *attendant) begin(sound []float32, spoken bool) {
	a.ended = make(chan struct{})
	a.call = newCall(a.Speaker, spoken)
	a.call.hear(sound, spoken)
	a.status.set(func(n *Status) { n.State = Talking })
	a.watchAbsence()
	call, ended := a.call, a.ended
	a.workers.do("a conversation", func() {
		defer close(ended)
		defer call.close()
		call.run()
	})
}

// callEnded waits for the next chat after one has ended.
func (a *attendant) callEnded() {
	a.call, a.ended = nil, nil
	a.absence.Stop()
	a.ear.reset()
	a.status.set(func(n *Status) { n.State, n.ChatID = Waiting, "" })
}

// deviceChanged handles that a device has appeared or disappeared.
func (a *attendant) deviceChanged(c change) {
	if a.missing[c.kind] == !c.there {
		return // another failed attempt
	}
	a.missing[c.kind] = !c.there
	if c.kind == input && !c.there {
		a.ear.reset()
	}
	if a.call != nil {
		a.call.report() // the assistant is not heard any more, or again
		a.watchAbsence()
	}
}

// watchAbsence starts or stops the timer that ends the chat if a device stays away.
func (a *attendant) watchAbsence() {
	if a.missing[input] || a.missing[output] {
		a.absence.Reset(a.options.Absent)
	} else {
		a.absence.Stop()
	}
}

// earHz is the sample rate of the ear.
const earHz = engine.SpeechRateHz

// newDownsampler returns a resampler from the rate of the devices to that of the ear.
func newDownsampler() (*audio.Resampler, error) { return audio.NewResampler(rateHz, earHz) }
