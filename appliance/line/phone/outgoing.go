package phone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// ringTimeout is how long a call of the box rings, 60 s: most mailboxes answer earlier, and networks give up
// after one to three minutes.
const ringTimeout = time.Minute

// Call calls a number for an account, and returns as soon as the call is under way.
func (s *Server) Call(ctx context.Context, account string, p contract.PostedPhoneCall) (contract.PhoneCall, error) {
	trunk, err := s.trunk(p.Trunk)
	if err != nil {
		return contract.PhoneCall{}, err
	}
	if err := s.CanDial(trunk, p.To); err != nil {
		return contract.PhoneCall{}, contract.ErrInvalid{Field: "to", Why: err.Error()}
	}
	settings := contract.ConnectSettings{
		ConfigID:        p.ConfigID,
		VoiceID:         p.SessionSettings.VoiceID,
		SessionSettings: contract.SessionSettings(p.SessionSettings),
	}
	a, err := s.Assistant(ctx, account, settings)
	if err != nil {
		return contract.PhoneCall{}, err
	}
	c := &Call{
		assistant: a,
		call: contract.Call{
			CallerNumber: callerNumber(p.To),
			CallInfo:     contract.CallInfo{Direction: contract.Outbound, To: p.To, Trunk: trunk},
		},
	}
	slot, err := s.Host.Reserve(a.Account)
	if err != nil {
		return contract.PhoneCall{}, err
	}
	if err := s.add(c); err != nil {
		slot.Release()
		return contract.PhoneCall{}, err
	}
	go s.callOut(c, slot)
	return c.status(), nil
}

// trunk returns the trunk with a name; the only one for an empty name.
func (s *Server) trunk(name string) (string, error) {
	switch {
	case len(s.Trunks) == 0:
		return "", contract.ErrUnavailable{
			Why: "this box has no trunk to call out over: its operator sets one up with phone.listen and phone.trunks"}
	case name == "" && len(s.Trunks) == 1:
		return s.Trunks[0], nil
	case slices.Contains(s.Trunks, name):
		return name, nil
	case name == "":
		return "", contract.ErrInvalid{Field: "trunk",
			Why: "missing; the box has several: " + strings.Join(s.Trunks, ", ")}
	}
	return "", contract.ErrInvalid{Field: "trunk", Why: fmt.Sprintf("there is no trunk %q; there are %s",
		contract.Clip(name), strings.Join(s.Trunks, ", "))}
}

// callOut calls, and holds the call until it is over.
func (s *Server) callOut(c *Call, slot line.Slot) {
	defer s.forget(c)
	defer slot.Release()
	defer c.finish()
	defer c.lifecycle.Recover("a call", func() { c.lifecycle.Drop(line.ErrPanicked) })
	c.log.Info("calling", "to", c.call.To, "trunk", c.call.Trunk)
	ctx, cancel := c.untilClosing()
	defer cancel()
	leg, err := s.Dial(ctx, Dialled{Trunk: c.call.Trunk, To: c.call.To, Ring: ringTimeout})
	if err != nil {
		c.unanswered(slot, err)
		return
	}
	c.connect(leg)
	e := s.newEar(c.person, c.assistant.Voice.Language(), greetingPause)
	by, greeting, err := e.whoAnswered(ctx)
	if errors.Is(err, line.ErrLeft) {
		by = contract.ByPerson // who hung up at once
	}
	c.log.Info("call answered", "by", by, "err", err)
	c.mu.Lock()
	c.call.AnsweredBy = by
	c.mu.Unlock()
	if err != nil {
		c.leftEarly(slot, err)
		return
	}
	switch by {
	case contract.ByPerson:
		c.talk(ctx, slot, greeting)
	case contract.ByMailbox:
		c.leaveMessage(ctx, slot, e)
	default:
		c.noteUnreached(slot)
	}
}

// untilClosing returns a context that ends with the call, and when the box stops, as long as the call has no
// chat.
func (c *Call) untilClosing() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(c.lifecycle.Gone())
	stop := context.AfterFunc(c.server.closing, func() { cancel(errStopping) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// talk holds the chat with a person who has answered. What the person has said to the telephone is answered,
// unless the assistant speaks first.
func (c *Call) talk(ctx context.Context, slot line.Slot, greeting []float32) {
	recorded, err := c.consent(ctx)
	if err != nil {
		c.leftEarly(slot, err)
		return
	}
	if c.assistant.Greets {
		greeting = nil
	}
	c.converse(slot, chatOptions{unrecorded: !recorded, heard: greeting})
}

// unanswered records a call that nobody answered.
func (c *Call) unanswered(slot line.Slot, err error) {
	if c.lifecycle.Gone().Err() != nil || c.server.closing.Err() != nil {
		return // the box gave up
	}
	c.mu.Lock()
	c.call.AnsweredBy = reasonOf(err)
	c.mu.Unlock()
	c.log.Info("call not answered", "because", err)
	c.noteUnreached(slot)
	c.lifecycle.Drop(err)
}

// reasonOf returns why nobody answered.
func reasonOf(err error) contract.AnsweredBy {
	d, _ := errors.AsType[DialError](err)
	return cmp.Or(d.By, contract.ByFailedNetworks)
}

// noteUnreached stores a chat that ends as soon as it has begun, so that the history and the webhooks tell of
// the call.
func (c *Call) noteUnreached(slot line.Slot) {
	c.unheard = true
	c.converse(slot, chatOptions{silent: true, unrecorded: true, ends: true})
}

// leftEarly ends a call before its chat, and stores that it was there if the person hung up.
func (c *Call) leftEarly(slot line.Slot, err error) {
	c.lifecycle.Drop(err)
	if errors.Is(err, line.ErrLeft) {
		c.noteUnreached(slot)
	}
}

// messageTimeout bounds the message on a mailbox, 2 minutes: many mailboxes record for less.
const messageTimeout = 2 * time.Minute

// leaveMessage says the config's message to a mailbox, or nothing, and hangs up.
func (c *Call) leaveMessage(ctx context.Context, slot line.Slot, e *ear) {
	if c.assistant.Mailbox == "" {
		c.noteUnreached(slot)
		return
	}
	if err := e.awaitBeep(ctx); err != nil && c.lifecycle.Gone().Err() != nil {
		c.leftEarly(slot, err)
		return
	}
	c.person.ignore()
	c.converse(slot, chatOptions{silent: true, deaf: true, says: c.assistant.Mailbox, ends: true})
}
