package sip

import (
	"context"
	"fmt"
	"time"

	"github.com/emiago/sipgo/sip"
)

// reinvite offers the sound of the call anew, with a session timer, and takes the answer.
func (c *Call) reinvite(ctx context.Context, interval, shortest time.Duration) (*sip.Response, error) {
	if !c.beginOffer() {
		return nil, fmt.Errorf("sip: another offer waits for its answer")
	}
	defer c.endOffer()
	offer, err := c.Offer()
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	d := c.current()
	req := d.request(sip.INVITE)
	req.SetBody(offer)
	req.AppendHeader(sip.NewHeader("Content-Type", "application/sdp"))
	offerTimer(req, interval, shortest, "uac")
	res, f, err := c.inviteIn(ctx, d, req)
	if err != nil || !res.IsSuccess() {
		return res, err
	}
	if err := c.endpoint.ack(f, d.request(sip.ACK)); err != nil {
		return nil, err
	}
	answer, err := sdpOf(res)
	if err == nil {
		err = c.Accept(answer)
	}
	if err != nil {
		return nil, fmt.Errorf("sip: the answer: %w", err)
	}
	return res, nil
}

// beginOffer reports whether the box may make an offer now: no other one is open (RFC 3264,
// section 4).
func (c *Call) beginOffer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.offering || c.accepted != nil {
		return false
	}
	c.offering = true
	return true
}

func (c *Call) endOffer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offering = false
}

// inviteIn sends an INVITE in a dialog and returns the final response, with the flow for
// its ACK. An answer that comes again is confirmed again.
func (c *Call) inviteIn(ctx context.Context, d *dialog, req *sip.Request) (*sip.Response, *flow, error) {
	for again := true; ; again = false {
		f, err := d.way(ctx)
		if err != nil {
			return nil, nil, err
		}
		x, err := c.endpoint.start(f, req)
		if err != nil {
			return nil, nil, err
		}
		res, err := x.final(ctx)
		if err != nil {
			return nil, nil, err
		}
		if res.IsSuccess() {
			c.endpoint.workers.Go(func() { c.confirmAgain(x, d) })
			return res, f, nil
		}
		if !isChallenge(res) || !again {
			return res, f, nil
		}
		next, err := c.trunk.answer(req, res)
		if err != nil {
			return res, f, nil
		}
		d.renumber(next)
		req = next
	}
}

// confirmAgain sends the ACK of a new INVITE again whenever its 200 comes again.
func (c *Call) confirmAgain(x *exchange, d *dialog) {
	for {
		select {
		case <-x.responses:
			ack := d.request(sip.ACK)
			ack.CSeq().SeqNo = x.request.CSeq().SeqNo
			_ = c.endpoint.ack(x.flow, ack)
		case <-x.done:
			return
		case <-c.done:
			x.stop()
			return
		case <-c.endpoint.stopping.Done():
			x.stop()
			return
		}
	}
}
