package phone

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// The statuses of SIP with which the box refuses calls (RFC 3261, section 21).
const (
	statusNotFound    = 404
	statusBusy        = 486
	statusServerError = 500
	statusUnavailable = 503
)

// Invited takes a call, or refuses it, and returns when it is over. The telephone rings only once
// there is a slot for the chat. ctx bounds the time until the call is answered.
func (s *Server) Invited(ctx context.Context, from Caller, in Invitation) {
	defer s.recover(in)
	c := &Call{call: contract.Call{
		CallerNumber: callerNumber(from.From),
		CallInfo:     contract.CallInfo{Direction: contract.Inbound, To: from.To, Trunk: from.Trunk},
	}}
	slot, err := s.admit(ctx, c)
	if err != nil {
		status, retryAfter := refusal(err)
		s.Log.Info("call refused", "from", from.From, "to", from.To, "trunk", from.Trunk, "status", status, "err", err)
		if err := in.Reject(status, retryAfter); err != nil {
			s.Log.Debug("cannot refuse a call", "err", err)
		}
		return
	}
	defer s.forget(c)
	defer slot.Release()
	leg, err := c.pickUp(ctx, in)
	if err != nil {
		c.lifecycle.Drop(err)
		return
	}
	c.connect(leg)
	c.run(slot)
}

// recover refuses a call after a panic, which must not end the program.
func (s *Server) recover(in Invitation) {
	if p := recover(); p != nil {
		s.Log.Error("panic at a call", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		_ = in.Reject(statusServerError, 0) // an error means that it was decided before
	}
}

// admit registers the call, and reserves a slot for its chat.
func (s *Server) admit(ctx context.Context, c *Call) (line.Slot, error) {
	var err error
	if c.assistant, err = s.Answers(ctx, c.call.To); err != nil {
		return nil, err
	}
	slot, err := s.Host.Reserve(c.assistant.Account)
	if err != nil {
		return nil, err
	}
	if err := s.add(c); err != nil {
		slot.Release()
		return nil, err
	}
	return slot, nil
}

// refusal returns the status of SIP for an error, and when to try again.
func refusal(err error) (status int, retryAfter time.Duration) {
	var wait interface{ Wait() time.Duration }
	if errors.As(err, &wait) {
		retryAfter = wait.Wait()
	}
	if _, missing := errors.AsType[contract.ErrNotFound](err); missing {
		return statusNotFound, 0
	}
	if _, busy := errors.AsType[contract.ErrTooMany](err); busy {
		return statusBusy, retryAfter
	}
	if retryAfter > 0 {
		return statusUnavailable, retryAfter
	}
	return statusServerError, 0
}

// pickUp lets the telephone ring, and answers.
func (c *Call) pickUp(ctx context.Context, in Invitation) (leg Leg, err error) {
	defer c.lifecycle.Recover("answering a call", func() { err = line.ErrPanicked })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.server.closing, cancel)()
	defer context.AfterFunc(c.lifecycle.Gone(), cancel)() // an operator hangs up
	c.log.Info("call", "from", c.call.CallerNumber, "to", c.call.To, "trunk", c.call.Trunk)
	if err := in.Ring(); err != nil {
		return nil, err
	}
	return in.Answer(ctx)
}

// Streamed holds the chat of a call that has come as a media stream, and returns when the call is
// over. The error says why there is no chat: the caller of Streamed closes the stream.
func (s *Server) Streamed(ctx context.Context, m Stream) error {
	a, err := s.Assistant(ctx, m.Account, m.Settings)
	if err != nil {
		return err
	}
	c := &Call{
		assistant: a,
		requestID: m.RequestID,
		client:    m.Client,
		auth:      m.Authorization,
		call: contract.Call{
			CallerNumber: callerNumber(m.From),
			Twilio:       m.Twilio,
			CallInfo:     contract.CallInfo{Direction: contract.Inbound, To: m.To},
		},
	}
	slot, err := s.Host.Reserve(a.Account)
	if err != nil {
		return err
	}
	defer slot.Release()
	if err := s.add(c); err != nil {
		return err
	}
	defer s.forget(c)
	c.connect(m.Leg)
	c.run(slot)
	return nil
}

// run holds an answered call to the box.
func (c *Call) run(slot line.Slot) {
	defer c.finish()
	defer c.lifecycle.Recover("a call", func() { c.lifecycle.Drop(line.ErrPanicked) })
	ctx, cancel := c.untilClosing()
	defer cancel()
	recorded, err := c.consent(ctx)
	if err != nil {
		c.leftEarly(slot, err)
		return
	}
	c.converse(slot, chatOptions{unrecorded: !recorded})
}
