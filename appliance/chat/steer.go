package chat

import (
	"slices"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// busyRetry is when it is worth another try to steer a chat whose client or
// disk is behind: within that time it has caught up, or the chat is over.
const busyRetry = 5 * time.Second

// Steer takes a message, audio excepted, of somebody else than the client: it
// does what the same message of the client does. Any goroutine may call it. It
// returns when the message was taken. What is wrong
// with it is told to the caller, as a contract.Fault, and not in the chat.
// ErrOver means that the chat has ended, and a contract.ErrUnavailable that it
// takes nothing just now.
func (c *Session) Steer(m contract.ClientMessage) error {
	return c.catchPanic(func() error {
		if !c.backlogDrained() {
			if err := c.over(); err != nil {
				return err
			}
			return contract.ErrUnavailable{Why: "the chat takes nothing now: " + c.scribe.Blocked().Error(),
				RetryAfter: busyRetry}
		}
		fault, err := c.steer(m)
		if err != nil || fault == nil {
			return err
		}
		if fault.Cause != nil {
			c.log.Warn("a message of somebody who steers the chat failed", "code", fault.Code, "err", fault.Cause)
		}
		return *fault
	})
}

func (c *Session) steer(m contract.ClientMessage) (*contract.Fault, error) {
	if settings, ok := m.(contract.SessionSettings); ok {
		return c.apply(settings, true)
	}
	e, fault := c.eventOf(m)
	if fault != nil {
		return fault, c.over()
	}
	o, err := c.ask(e, true)
	return o.fault, err
}

// outcome is what came of an event.
type outcome struct {
	settings turn.Settings   // that hold then
	fault    *contract.Fault // nil: none, or the client is told of it
}

// takeFault takes the fault out of what follows from an event that somebody else
// than the client brought. One that ends the chat is the client's affair too.
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
