package chat

import (
	"slices"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// busyRetry is the Retry-After of a chat whose client or disk is behind. By then it has caught up, or the
// chat is over.
const busyRetry = 5 * time.Second

// Steer takes a message other than audio from someone other than the client, with the same effect as the
// client's message. Any goroutine may call it. It returns when the message was handled. A contract.Fault says
// what is wrong with the message; it is not reported in the chat. ErrOver means that the chat has ended, and
// a contract.ErrUnavailable that it accepts nothing at the moment.
func (s *Session) Steer(m contract.ClientMessage) error {
	return s.catchPanic(func() error {
		if !s.backlogDrained() {
			if err := s.over(); err != nil {
				return err
			}
			return contract.ErrUnavailable{Why: "the chat takes nothing now: " + s.scribe.Blocked().Error(),
				RetryAfter: busyRetry}
		}
		fault, err := s.steer(m)
		if err != nil || fault == nil {
			return err
		}
		if fault.Cause != nil {
			s.log.Warn("steering message failed", "code", fault.Code, "err", fault.Cause)
		}
		return *fault
	})
}

func (s *Session) steer(m contract.ClientMessage) (*contract.Fault, error) {
	if settings, ok := m.(contract.SessionSettings); ok {
		return s.apply(settings, true)
	}
	e, fault := s.eventOf(m)
	if fault != nil {
		return fault, s.over()
	}
	o, err := s.ask(e, true)
	return o.fault, err
}

// outcome is the result of an event.
type outcome struct {
	settings turn.Settings   // in force after the event
	fault    *contract.Fault // nil if there was none, or if the client has received it
}

// takeFault removes the fault from the effects of an event that did not come from the client. A fault that
// ends the chat stays, because the client has to know it.
func takeFault(follows []turn.Effect) ([]turn.Effect, *contract.Fault) {
	if slices.ContainsFunc(follows, func(e turn.Effect) bool { _, end := e.(turn.End); return end }) {
		return follows, nil
	}
	for i, e := range follows {
		t, _ := e.(turn.Publish)
		if wrong, ok := t.Fact.(turn.FaultOccurred); ok {
			return slices.Delete(follows, i, i+1), &wrong.Fault
		}
	}
	return follows, nil
}
