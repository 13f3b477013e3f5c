package sip

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/emiago/sipgo/sip"
)

// newToken returns a text that nobody can guess, for Call-IDs and tags.
func newToken() string { return rand.Text() }

// newRequest returns a request outside a dialog.
func (t *trunk) newRequest(
	m sip.RequestMethod, to, from sip.Uri, fromTag, callID string, seq uint32,
) *sip.Request {
	req := sip.NewRequest(m, to)
	fromHeader := &sip.FromHeader{Address: from, Params: sip.NewParams()}
	fromHeader.Params.Add("tag", fromTag)
	toHeader := &sip.ToHeader{Address: to, Params: sip.NewParams()}
	if m == sip.REGISTER {
		toHeader.Address = from // the one who is registered (RFC 3261, section 10.2)
	}
	toHeader.Address.Port = 0 // not allowed there (table 1 of section 19.1.1)
	id := sip.CallIDHeader(callID)
	req.AppendHeader(fromHeader)
	req.AppendHeader(toHeader)
	req.AppendHeader(&id)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: seq, MethodName: m})
	return req
}

// flow returns a way to an address of the trunk.
func (t *trunk) flow(ctx context.Context, at target) (*flow, error) {
	return t.e.flowTo(ctx, at.transport, at.addr, at.name)
}

// ask sends a request outside a dialog and returns the final response. It answers
// challenges with the password of the trunk, each with the next CSeq.
func (t *trunk) ask(ctx context.Context, f *flow, req *sip.Request) (*sip.Response, error) {
	for round := 1; ; round++ {
		res, err := t.e.do(ctx, f, req)
		if errors.Is(err, sip.ErrTransactionTimeout) || errors.Is(err, context.DeadlineExceeded) {
			return nil, errNoResponse
		}
		if err != nil || !isChallenge(res) || round == maxRounds {
			return res, err
		}
		if req, err = t.answer(req, res); err != nil {
			return nil, err
		}
	}
}

// answer returns a request with the credentials that a challenge to it asks for. The
// older request still belongs to its transaction and stays as it is.
func (t *trunk) answer(req *sip.Request, challenge *sip.Response) (*sip.Request, error) {
	again := req.Clone()
	if err := t.authorize(again, challenge); err != nil {
		return nil, err
	}
	again.CSeq().SeqNo++
	return again, nil
}

func isChallenge(res *sip.Response) bool {
	return res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired
}

// send sends a request in a dialog that has no call (yet, or any more), and returns the
// final response.
func (d *dialog) send(ctx context.Context, req *sip.Request) (*sip.Response, error) {
	f, err := d.way(ctx)
	if err != nil {
		return nil, err
	}
	return d.endpoint.do(ctx, f, req)
}

// ackTime bounds finding the way for an ACK; then the other side repeats its answer.
const ackTime = 2 * time.Second

// acknowledge sends the ACK of an answer to an INVITE, with the credentials of the
// INVITE (RFC 3261, section 13.2.2.4).
func (d *dialog) acknowledge(invite *sip.Request) {
	ctx, cancel := context.WithTimeout(d.endpoint.stopping, ackTime)
	defer cancel()
	f, err := d.way(ctx)
	if err != nil {
		return
	}
	req := d.request(sip.ACK)
	req.CSeq().SeqNo = invite.CSeq().SeqNo
	sip.CopyHeaders("Authorization", invite, req)
	sip.CopyHeaders("Proxy-Authorization", invite, req)
	if err := d.endpoint.ack(f, req); err != nil {
		d.endpoint.log.Debug("sip: an ACK was not sent", "error", err)
	}
}

// follow continues the numbers of the early dialog that became this one.
func (d *dialog) follow(before *dialog) {
	before.mu.Lock()
	last := before.localSeq
	before.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.localSeq = max(d.localSeq, last)
}
