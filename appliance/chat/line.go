package chat

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// Receive takes a message of the client other than audio. Any goroutine may call it. It waits up to 15 s while
// the backlog of events to be stored and sent is long; after that it ends the chat. ErrOver means that the chat
// is over.
func (s *Session) Receive(m contract.ClientMessage) error {
	return s.catchPanic(func() error {
		if err := s.waitForBacklog(); err != nil {
			return err
		}
		return s.receive(m)
	})
}

// waitForBacklog blocks a message while too much waits to be written and sent. If that takes too long, it
// ends the chat.
func (s *Session) waitForBacklog() error {
	if s.backlogDrained() {
		return s.over()
	}
	if s.over() == nil {
		why := s.scribe.Blocked()
		s.post(turn.Aborted{At: turn.At(s.clock()), Code: closeCodeOf(why), Why: why.Error()})
	}
	return ErrOver
}

// backlogDrained waits until the backlog is short enough. It returns false if that takes longer than
// backlogLimit, or if the chat is over.
func (s *Session) backlogDrained() bool {
	drained := s.scribe.Drained()
	if drained == nil {
		return true
	}
	late := time.NewTimer(backlogLimit)
	defer late.Stop()
	select {
	case <-drained:
		return true
	case <-late.C:
	case <-s.done:
	}
	return false
}

// catchPanic calls f on the line's goroutine. A panic in f ends the chat.
func (s *Session) catchPanic(f func() error) (err error) {
	if catchPanic(s.log, func() { err = f() }) != nil {
		s.crashed()
		return ErrOver
	}
	return err
}

func (s *Session) receive(m contract.ClientMessage) error {
	if settings, ok := m.(contract.SessionSettings); ok {
		fault, err := s.apply(settings, false)
		if fault != nil {
			s.reportFault(*fault)
		}
		return err
	}
	e, fault := s.eventOf(m)
	if fault != nil {
		s.reportFault(*fault)
	} else {
		s.post(e)
	}
	return s.over()
}

// eventOf returns the event for a message other than settings and audio, or what is wrong with the message.
func (s *Session) eventOf(m contract.ClientMessage) (turn.Event, *contract.Fault) {
	now := turn.At(s.clock())
	switch m := m.(type) {
	case contract.UserInput:
		if m.Digits != "" && m.Text == "" {
			return turn.KeyPressed{At: now}, nil
		}
		if !strings.ContainsFunc(m.Text, visible) {
			return nil, malformed("user_input.text is empty")
		}
		return turn.Typed{At: now, Text: m.Text, Digits: m.Digits}, nil
	case contract.AssistantInput:
		lines := reply.Sentences(m.Text)
		if len(lines) == 0 {
			return nil, malformed("assistant_input.text has nothing to say")
		}
		return turn.Dictated{At: now, Sentences: lines}, nil
	case contract.PauseAssistantMessage:
		return turn.PauseRequested{At: now}, nil
	case contract.ResumeAssistantMessage:
		return turn.ResumeRequested{At: now}, nil
	case contract.ToolResponseMessage:
		return turn.ToolAnswered{At: now, CallID: m.ToolCallID, Content: m.Content}, nil
	case contract.ToolErrorMessage:
		return turn.ToolAnswered{
			At:      now,
			CallID:  m.ToolCallID,
			Content: m.Content,
			Failed:  true,
			Error:   m.Error,
		}, nil
	}
	return nil, malformed(fmt.Sprintf("type: %q is not taken here", m.MessageType()))
}

// visible reports whether a character is visible: not a space, of no width, or a control character.
func visible(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

func malformed(why string) *contract.Fault {
	return &contract.Fault{Code: contract.WrongShape, Detail: why}
}

// apply puts settings in force and then gives them to the ear, so that audio after them is heard with them.
// The client has not received a returned fault. With faultToCaller, all faults are returned.
func (s *Session) apply(m contract.SessionSettings, faultToCaller bool) (*contract.Fault, error) {
	if m.VoiceID != "" {
		if err := s.voices.Prepare(m.VoiceID); err != nil {
			fault := voiceFault(contract.InvalidSettings, err)
			return &fault, s.over()
		}
	}
	if fault := uncallableTool(s.toolChecker, m.Tools); fault != nil {
		return fault, s.over()
	}
	select { // the ear receives settings in the order in which they come into force
	case s.settingsLock <- struct{}{}:
		defer func() { <-s.settingsLock }()
	case <-s.done:
		return nil, ErrOver
	}
	if fault := s.promptTooLong(m); fault != nil {
		return fault, s.over()
	}
	o, err := s.ask(turn.SettingsRequested{At: turn.At(s.clock()), Message: m}, faultToCaller)
	if err == nil {
		s.settings = o.settings
	}
	switch {
	case err != nil || o.fault != nil:
		return o.fault, err
	case !s.ear.ApplySettings(s.done, o.settings):
		return nil, ErrOver
	}
	return nil, nil
}

// ask posts an event and returns its outcome.
func (s *Session) ask(e turn.Event, faultToCaller bool) (outcome, error) {
	handled := make(chan outcome, 1)
	s.enqueue(queuedEvent{event: e, handled: handled, faultToCaller: faultToCaller})
	select {
	case o := <-handled:
		return o, nil
	case <-s.done:
		return outcome{}, ErrOver
	}
}

// Audio returns the format of headerless audio in the settings in force; nil if audio comes in a container.
// Any goroutine may call it.
func (s *Session) Audio() *contract.AudioConfiguration { return s.audio.Load() }

// Hear takes sound of the user, mono at engine.SpeechRateHz, at most a few seconds; the caller must not use pcm
// afterwards.
// An empty slice means that the line is alive and more will follow. Hear blocks while the ear is more
// than a second behind, and for a moment while no one speaks. One goroutine at a time may call it.
func (s *Session) Hear(pcm []float32) error {
	return s.catchPanic(func() error { return s.hear(pcm) })
}

func (s *Session) hear(pcm []float32) error {
	if !s.ear.Hear(s.done, pcm) {
		return ErrOver
	}
	s.gatherChunks()
	return nil
}

const (
	// gatherTime is how long small chunks gather in the network's buffers while no one speaks. A chunk that
	// is taken at once wakes half a dozen threads for 30 µs of work; six chunks together cost a fourth of six.
	// The beginning of speech is noticed later by that time, which does no harm.
	gatherTime = 100 * time.Millisecond
	// smallChunk is the longest distance between chunks that are worth gathering: native clients send every
	// 20 ms, web clients every 100 ms.
	smallChunk = 40 * time.Millisecond
	// backlogGap is the distance below which a chunk was already waiting. More chunks may wait behind it, and
	// delaying them would add to their lateness.
	backlogGap = 5 * time.Millisecond
)

// gatherChunks delays the caller of Hear while no one speaks.
func (s *Session) gatherChunks() {
	if s.unbuffered {
		return
	}
	gap := time.Since(s.lastChunk)
	if s.ear.Idle() && gap > backlogGap && gap <= smallChunk {
		select {
		case <-time.After(gatherTime):
		case <-s.done:
		}
	}
	s.lastChunk = time.Now()
}

// Fault reports to the client a message that could not be used, in order with everything else. It waits as
// Receive does.
func (s *Session) Fault(code contract.Code, detail string) error {
	if err := s.waitForBacklog(); err != nil {
		return err
	}
	s.reportFault(contract.Fault{Code: code, Detail: detail})
	return s.over()
}

func (s *Session) reportFault(f contract.Fault) {
	s.post(turn.FaultReported{At: turn.At(s.clock()), Fault: f})
}

// Played reports how much of an assistant message's sound the client has played. Lines that cannot
// measure it do not call Played; the session's clock estimates the playback then.
func (s *Session) Played(id string, upTo time.Duration) {
	s.post(turn.Played{At: turn.At(s.clock()), ID: id, UpTo: upTo})
}

// HangUp reports that the client has gone.
func (s *Session) HangUp() { s.post(turn.HungUp{At: turn.At(s.clock())}) }

// CutOff reports that the line has disconnected its client, and why. The chat ends with an error.
func (s *Session) CutOff(why error) {
	s.log.Warn("chat cut off", "err", why)
	s.post(turn.Aborted{At: turn.At(s.clock()), Code: contract.ClosePolicy, Why: why.Error()})
}

func (s *Session) over() error {
	select {
	case <-s.done:
		return ErrOver
	default:
		return nil
	}
}
