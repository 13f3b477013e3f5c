package sip

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

// retryFull is when a caller may try again that found too many calls: some of them end in
// that time.
const retryFull = 10 * time.Second

// methods are those that the box takes; the others of SIP are answered 405, unknown ones
// 501.
func methods() []string {
	return []string{"INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "PRACK", "UPDATE", "INFO", "REFER", "NOTIFY"}
}

func allow() sip.Header { return sip.NewHeader("Allow", strings.Join(methods(), ", ")) }

// extensions are those that a peer may require.
func extensions() []string { return []string{"100rel", "timer", "replaces", "norefersub"} }

func supported() sip.Header { return sip.NewHeader("Supported", strings.Join(extensions(), ", ")) }

func acceptSDP() sip.Header { return sip.NewHeader("Accept", "application/sdp") }

// request takes a request from a peer.
func (e *Endpoint) request(f *flow, req *sip.Request) {
	e.stamp(f, req)
	switch req.Method {
	case sip.ACK:
		e.confirm(req)
		return
	case sip.CANCEL:
		e.cancel(f, req)
		return
	}
	if t := e.transactions.find(serverKey(req, req.Method)); t != nil {
		_ = t.tx.Receive(req) // repeated: so is the response
		return
	}
	if req.SipVersion != "SIP/2.0" {
		e.answer(f, req, sip.StatusVersionNotSupported)
		return
	}
	if req.To().Params.Has("tag") {
		e.inside(f, req)
		return
	}
	t := e.trunkAt(f.remote.Addr())
	if t == nil {
		var challenge []sip.Header
		if t, challenge = e.authenticate(f, req); t == nil {
			if len(challenge) > 0 {
				e.answer(f, req, sip.StatusUnauthorized, challenge...)
				return
			}
			e.answer(f, req, sip.StatusForbidden)
			e.reportStranger(f, string(req.Method))
			return
		}
	}
	if f.stream != nil {
		f.stream.trust()
	}
	e.outside(f, req, t)
}

// inside takes a request in a dialog.
func (e *Endpoint) inside(f *flow, req *sip.Request) {
	c := e.callOf(req)
	if c == nil {
		e.answer(f, req, sip.StatusCallTransactionDoesNotExists)
		return
	}
	t, status := e.begin(f, req)
	if t == nil {
		e.answer(f, req, status)
		return
	}
	select {
	case c.requests <- t:
	default:
		_ = t.respond(sip.StatusServiceUnavailable, nil, sip.NewHeader("Retry-After", "1"))
		return
	}
	select {
	case <-c.done: // run may have left
		c.refuseWaiting()
	default:
	}
}

// outside takes a request of a trunk outside dialogs.
func (e *Endpoint) outside(f *flow, req *sip.Request, from *trunk) {
	switch req.Method {
	case sip.INVITE, sip.OPTIONS:
	case sip.BYE, sip.PRACK, sip.UPDATE, sip.INFO:
		e.answer(f, req, sip.StatusCallTransactionDoesNotExists)
		return
	case sip.NOTIFY:
		// Telephone systems send these unasked, about waiting messages; refused ones come again.
		e.answer(f, req, sip.StatusOK)
		return
	case sip.REFER, sip.REGISTER, sip.SUBSCRIBE, sip.MESSAGE, sip.PUBLISH:
		e.answer(f, req, sip.StatusMethodNotAllowed, allow())
		return
	default:
		e.answer(f, req, sip.StatusNotImplemented, allow())
		return
	}
	if status, headers := refusal(req); status != 0 {
		e.answer(f, req, status, headers...)
		return
	}
	if req.Method == sip.OPTIONS {
		e.answer(f, req, sip.StatusOK, allow(), supported(), acceptSDP(), from.contact(f, req.Recipient.User))
		return
	}
	e.invite(f, req, from)
}

// refusal returns the status for a request that the box cannot take, whoever sends it, or 0.
func refusal(req *sip.Request) (status int, headers []sip.Header) {
	switch strings.ToLower(req.Recipient.Scheme) {
	case "sip", "sips", "tel":
	default:
		return 416, nil
	}
	if hops := req.MaxForwards(); hops != nil && hops.Val() == 0 && req.Method == sip.INVITE {
		return sip.StatusTooManyHops, nil
	}
	var unknown []string
	for _, option := range list(req, "require", "") {
		if !contains(extensions(), option) {
			unknown = append(unknown, option)
		}
	}
	if len(unknown) > 0 {
		return sip.StatusBadExtension, []sip.Header{sip.NewHeader("Unsupported", strings.Join(unknown, ", "))}
	}
	return bodyRefusal(req)
}

// contains reports whether words have a word, in upper or lower case.
func contains(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

// confirm takes an ACK: of a 200 it concerns the dialog, of a refusal the transaction.
func (e *Endpoint) confirm(ack *sip.Request) {
	if t := e.transactions.find(serverKey(ack, sip.INVITE)); t != nil && t.refused() {
		_ = t.tx.Receive(ack)
		return
	}
	if c := e.callOf(ack); c != nil {
		c.ackReceived(ack)
	}
}

// cancel takes a CANCEL (RFC 3261, section 9.2).
func (e *Endpoint) cancel(f *flow, req *sip.Request) {
	t := e.transactions.find(serverKey(req, sip.INVITE))
	if t == nil {
		e.answer(f, req, sip.StatusCallTransactionDoesNotExists)
		return
	}
	if err := f.reply(req.Via()).WriteMsg(e.build(req, sip.StatusOK, t.tag, nil)); err != nil {
		e.log.Debug("sip: a response was not sent", "peer", f.remote, "error", err)
	}
	t.cancelNow()
}

// invite takes a call.
func (e *Endpoint) invite(f *flow, req *sip.Request, from *trunk) {
	if status, headers := shortTimer(req); status != 0 {
		e.answer(f, req, status, headers...)
		return
	}
	d, err := e.calledDialog(f, req, e.tag(req))
	if err != nil {
		e.answer(f, req, sip.StatusBadRequest)
		return
	}
	t, status := e.begin(f, req)
	if t == nil {
		e.answer(f, req, status, sip.NewHeader("Retry-After", seconds(retryFull)))
		return
	}
	_ = t.respond(sip.StatusTrying, nil)
	if e.replace(f, t, from) {
		return
	}
	d.contact = from.contact(f, req.Recipient.User)
	sdp, _ := sdpOf(req)
	c := e.newCall(d, from, nil)
	if c == nil {
		_ = t.respond(sip.StatusServiceUnavailable, nil, sip.NewHeader("Retry-After", seconds(retryFull)))
		return
	}
	i := &Invitation{
		From:  caller(req),
		To:    called(req, from.record().User),
		Trunk: from.Name,
		call:  c,
		t:     t,
		offer: sdp,
		over:  make(chan struct{}),
	}
	var ctx context.Context
	ctx, i.cancel = context.WithCancel(e.stopping)
	c.invited(i)
	t.onCancel(i.canceled)
	e.workers.Go(func() { i.wait(expires(req)) })
	go e.tell(ctx, i)
}

// tell hands an invitation on. A panic costs the call, not the box.
func (e *Endpoint) tell(ctx context.Context, i *Invitation) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("sip: a call caused a panic", "panic", p, "stack", string(debug.Stack()))
			i.refuse(sip.StatusInternalServerError, 0)
			i.call.HangUp()
		}
	}()
	e.invited(ctx, i)
}
