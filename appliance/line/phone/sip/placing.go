package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
)

// placing is a call on its way to one address.
type placing struct {
	t      *trunk
	f      *flow
	w      wanted
	media  Media
	others bool // there are more addresses to try
	taken  bool // a call has the media, and closes it

	heard bool              // a provisional response came: the call can be cancelled
	early map[string]*early // dialogs that have begun, by the tag of the other side
}

// early is a dialog before the call is answered.
type early struct {
	d      *dialog
	rseq   uint32 // of the last reliable response (RFC 3262)
	answer []byte // SDP, if a response had some
}

// maxForks bounds how many telephones may ring for one call.
const maxForks = 16

// run sends the INVITE until it is answered or refused.
func (p *placing) run(ctx context.Context) (*Call, error) {
	offer, err := p.media.Offer()
	if err != nil {
		return nil, &DialError{By: contract.ByFailedNetworks, Reason: err.Error()}
	}
	req := p.invite(offer)
	for range maxRounds {
		p.early, p.heard = map[string]*early{}, false
		x, err := p.t.e.start(p.f, req)
		if err != nil {
			return nil, &tryNextError{err: err}
		}
		res, err := p.await(ctx, x)
		switch {
		case err != nil:
			return nil, err
		case res.IsSuccess():
			return p.connect(x, res)
		case isChallenge(res) && !p.w.foreign:
			if req, err = p.t.answer(req, res); err != nil {
				return nil, &DialError{res.StatusCode, contract.ByFailedNetworks, err.Error()}
			}
		case res.StatusCode == 422:
			if req, err = longerSession(req, res); err != nil {
				return nil, &DialError{res.StatusCode, contract.ByFailedNetworks, err.Error()}
			}
		case isRedirect(res):
			return nil, &redirectError{res}
		case res.StatusCode == 503 || res.StatusCode == 430:
			return nil, &tryNextError{err: &responseError{res}, res: res}
		default:
			return nil, dialError(res)
		}
	}
	return nil, &DialError{By: contract.ByFailedNetworks, Reason: "the peer asks for one more request again and again"}
}

// invite returns the INVITE.
func (p *placing) invite(offer []byte) *sip.Request {
	t := p.t
	from := t.caller(p.f, p.w.from)
	req := t.newRequest(sip.INVITE, p.w.to, from, newToken(), newToken(), 1+rand.Uint32N(1<<16))
	req.AppendHeader(t.contact(p.f, from.User))
	if p.w.from != "" {
		identity := sip.Uri{Scheme: "sip", User: escapeUser(p.w.from), Host: from.Host}
		req.AppendHeader(sip.NewHeader("P-Preferred-Identity", "<"+identity.String()+">"))
	}
	req.AppendHeader(allow())
	req.AppendHeader(supported())
	offerTimer(req, sessionInterval, 0, "")
	for _, h := range p.w.headers {
		req.AppendHeader(h)
	}
	req.AppendHeader(sip.NewHeader("Content-Type", "application/sdp"))
	req.SetBody(offer)
	return req
}

// await returns the final response. If ctx ends first, the call is cancelled.
func (p *placing) await(ctx context.Context, x *exchange) (*sip.Response, error) {
	silent := time.NewTimer(firstResponse)
	defer silent.Stop()
	for {
		select {
		case res := <-x.responses:
			if !res.IsProvisional() {
				return res, nil
			}
			silent.Stop()
			p.heard = true
			p.provisional(x, res)
		case <-silent.C:
			if p.others {
				p.giveUp(x)
				return nil, &tryNextError{err: errNoResponse}
			}
		case <-x.done:
			res, err := x.last()
			if errors.Is(err, sip.ErrTransactionTimeout) {
				err = errNoResponse
			}
			if err != nil {
				return nil, &tryNextError{err: err}
			}
			return res, nil
		case <-ctx.Done():
			nobody := !p.heard && errors.Is(context.Cause(ctx), errRang)
			p.giveUp(x)
			if nobody { // it is the peer that does not answer
				why := fmt.Sprintf("%s: %v", p.f.remote, errNoResponse)
				return nil, &DialError{By: contract.ByFailedNetworks, Reason: why}
			}
			return nil, givenUp(ctx)
		}
	}
}

// provisional takes a response that the call has got somewhere. Sound before the answer
// is not played; an SDP answer is stored, for what answers later without one.
func (p *placing) provisional(x *exchange, res *sip.Response) {
	tag := tagOf(res.To().Params)
	if res.StatusCode == 100 || tag == "" {
		return
	}
	if p.w.rings != nil && (res.StatusCode == 180 || res.StatusCode == 183) {
		p.w.rings()
	}
	one := p.early[tag]
	if one == nil {
		d, err := p.t.e.callingDialog(p.f, x.request, res)
		if err != nil || len(p.early) >= maxForks {
			return
		}
		one = &early{d: d}
		p.early[tag] = one
	}
	if sdp, _ := sdpOf(res); sdp != nil && one.answer == nil {
		one.answer = sdp
	}
	if lists(res, "Require", "", "100rel") {
		p.acknowledge(x, one, res)
	}
}

// acknowledge sends PRACK for a reliable response that is the next one of its dialog.
func (p *placing) acknowledge(x *exchange, one *early, res *sip.Response) {
	n, err := strconv.ParseUint(field(res, "RSeq", ""), 10, 32)
	rseq := uint32(n)
	if err != nil || rseq == 0 || one.rseq != 0 && rseq != one.rseq+1 {
		return
	}
	one.rseq = rseq
	req := one.d.request(sip.PRACK)
	req.AppendHeader(sip.NewHeader("RAck", fmt.Sprintf("%d %d INVITE", rseq, x.request.CSeq().SeqNo)))
	p.t.background(func(ctx context.Context) { _, _ = one.d.send(ctx, req) })
}

// farewellTime bounds what a call that is over still has to do: the 32 s for which a
// response to its INVITE may come, and a request after it (RFC 3261, section 17.1.1.2).
const farewellTime = 64 * time.Second

// connect makes a call of the first response that answers.
func (p *placing) connect(x *exchange, res *sip.Response) (*Call, error) {
	e := p.t.e
	d, err := e.callingDialog(p.f, x.request, res)
	if err != nil {
		return nil, &DialError{res.StatusCode, contract.ByFailedNetworks, err.Error()}
	}
	answer, _ := sdpOf(res)
	if one := p.early[d.id.remote]; one != nil {
		d.follow(one.d)
		if answer == nil {
			answer = one.answer
		}
	}
	p.later(x, d)
	call := p.w.into
	if call == nil {
		if call = e.newCall(d, p.t, p.media); call == nil {
			d.acknowledge(x.request)
			p.t.background(func(ctx context.Context) { _, _ = d.send(ctx, d.request(sip.BYE)) })
			return nil, &DialError{res.StatusCode, contract.ByFailedNetworks, "there are too many calls"}
		}
		p.taken = true
	}
	d.acknowledge(x.request)
	if err := p.media.Accept(answer); err != nil {
		p.t.background(func(ctx context.Context) { _, _ = d.send(ctx, d.request(sip.BYE)) })
		if p.w.into == nil {
			call.end(ErrLost)
		}
		return nil, &DialError{res.StatusCode, contract.ByFailedNetworks, "the answer about sound: " + err.Error()}
	}
	if p.w.into != nil && !call.becomes(d) {
		p.t.background(func(ctx context.Context) { _, _ = d.send(ctx, d.request(sip.BYE)) })
		return nil, &DialError{res.StatusCode, contract.ByFailedNetworks, "the call is over"}
	}
	call.agreeTimer(res)
	return call, nil
}

// later takes, in the background, the responses that come after the call is answered: the
// same one again, whose ACK was lost, and those of further telephones, which are hung up.
// d is nil if the call was given up.
func (p *placing) later(x *exchange, d *dialog) {
	p.t.e.workers.Go(func() {
		others := map[string]*dialog{}
		for {
			select {
			case res := <-x.responses:
				tag := tagOf(res.To().Params)
				switch {
				case !res.IsSuccess():
				case d != nil && tag == d.id.remote:
					d.acknowledge(x.request)
				case others[tag] != nil:
					others[tag].acknowledge(x.request)
				case len(others) < maxForks:
					others[tag] = p.decline(x, res)
				}
			case <-x.done:
				return
			case <-p.t.e.stopping.Done():
				return
			}
		}
	})
}

// decline hangs up a telephone whose answer is not wanted.
func (p *placing) decline(x *exchange, res *sip.Response) *dialog {
	d, err := p.t.e.callingDialog(p.f, x.request, res)
	if err != nil {
		return nil
	}
	if one := p.early[d.id.remote]; one != nil {
		d.follow(one.d)
	}
	d.acknowledge(x.request)
	p.t.background(func(ctx context.Context) { _, _ = d.send(ctx, d.request(sip.BYE)) })
	return d
}

// giveUp cancels the call in the background: with CANCEL as soon as that is allowed, and
// with ACK and BYE if an answer crosses it (RFC 3261, section 9.1).
func (p *placing) giveUp(x *exchange) {
	p.t.background(func(ctx context.Context) {
		for final, cancelled := false, false; !final; {
			if p.heard && !cancelled {
				cancelled = true
				p.t.background(func(ctx context.Context) { _, _ = p.t.e.do(ctx, p.f, cancelOf(x.request)) })
			}
			select {
			case res := <-x.responses:
				p.heard, final = true, !res.IsProvisional()
				if res.IsSuccess() {
					p.decline(x, res)
				}
			case <-x.done:
				return
			case <-ctx.Done():
				x.stop() // the peer has not even confirmed the end
				return
			}
		}
		p.later(x, nil)
	})
}

// cancelOf returns the CANCEL of an INVITE.
func cancelOf(invite *sip.Request) *sip.Request {
	req := sip.NewRequest(sip.CANCEL, *invite.Recipient.Clone())
	sip.CopyHeaders("Via", invite, req)
	sip.CopyHeaders("From", invite, req)
	sip.CopyHeaders("To", invite, req)
	sip.CopyHeaders("Call-ID", invite, req)
	sip.CopyHeaders("Route", invite, req)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	return req
}

// longerSession returns an INVITE with the session interval that a 422 asks for (RFC
// 4028, section 7.3).
func longerSession(req *sip.Request, res *sip.Response) (*sip.Request, error) {
	least := minSE(res)
	if least == 0 || least > maxExpires {
		return nil, fmt.Errorf("the peer wants a session interval of %.20q seconds", field(res, "Min-SE", ""))
	}
	again := req.Clone()
	offerTimer(again, sessionInterval, least, "")
	again.CSeq().SeqNo++
	return again, nil
}
