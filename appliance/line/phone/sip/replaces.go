package sip

import (
	"context"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// replace serves an INVITE that asks to take the place of the other side of a live call
// (Replaces, RFC 3891), as the last step of an attended transfer. It returns false if an
// INVITE asks for nothing like that.
func (e *Endpoint) replace(f *flow, t *transaction, from *trunk) bool {
	if t.request.GetHeader("Replaces") == nil {
		return false
	}
	c, old, status := e.replaced(t.request, from)
	if status != 0 {
		_ = t.respond(status, nil)
		return true
	}
	e.workers.Go(func() { c.takeOver(f, t, old) })
	return true
}

// replaced returns the call that an INVITE wants to take over, and its dialog. status is
// that of the refusal, or 0.
func (e *Endpoint) replaced(req *sip.Request, from *trunk) (c *Call, d *dialog, status int) {
	values := req.GetHeaders("Replaces")
	if len(values) != 1 {
		return nil, nil, sip.StatusBadRequest
	}
	callID, rest, _ := strings.Cut(values[0].Value(), ";")
	id := dialogID{callID: strings.TrimSpace(callID)}
	early := false
	for p := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "to-tag": // the side that gets the INVITE is meant by it
			id.local = strings.TrimSpace(value)
		case "from-tag":
			id.remote = strings.TrimSpace(value)
		case "early-only":
			early = true
		}
	}
	e.table.Lock()
	c = e.calls[id]
	e.table.Unlock()
	if c == nil {
		return nil, nil, sip.StatusCallTransactionDoesNotExists
	}
	d = c.current()
	select {
	case <-c.established:
	default: // the box has not answered that call
		return nil, nil, sip.StatusCallTransactionDoesNotExists
	}
	switch {
	case d.id != id:
		return nil, nil, sip.StatusCallTransactionDoesNotExists
	case c.trunk != from:
		return nil, nil, 603
	case early:
		return nil, nil, sip.StatusBusyHere
	}
	return c, d, 0
}

// takeOver answers an INVITE in place of the other side of the call, and hangs up the
// dialog before. The sound goes on in the same Media.
func (c *Call) takeOver(f *flow, t *transaction, old *dialog) {
	offer, err := sdpOf(t.request)
	if err != nil {
		_ = t.respond(sip.StatusUnsupportedMediaType, nil, acceptSDP())
		return
	}
	d, err := c.endpoint.calledDialog(f, t.request, t.tag)
	if err != nil {
		_ = t.respond(sip.StatusBadRequest, nil)
		return
	}
	d.contact = c.trunk.contact(f, t.request.Recipient.User)
	var body []byte
	if offer == nil {
		body, err = c.Offer()
	} else {
		body, err = c.Answer(offer)
	}
	if err != nil {
		_ = t.respond(sip.StatusNotAcceptableHere, nil, acceptSDP())
		return
	}
	if !c.becomes(d) {
		_ = t.respond(603, nil)
		return
	}
	if _, err := c.accept(t, body, offer == nil); err != nil {
		c.hangUp(ErrLost)
		return
	}
	c.trunk.background(func(ctx context.Context) { c.drop(ctx, old, 0) })
}
