package sip

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

// accepted is a 200 to an INVITE that is repeated until its ACK comes (RFC 3261, section
// 13.3.1.4).
type accepted struct {
	number   uint32 // CSeq of the INVITE
	offered  bool   // the 200 has an offer, the ACK the answer
	acked    chan struct{}
	once     sync.Once
	settled  chan struct{} // closed when the ACK has been taken
	mu       sync.Mutex
	rejected error
}

func (a *accepted) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rejected
}

// wait waits for the ACK, or for the end of the call.
func (a *accepted) wait(ctx context.Context, over <-chan struct{}) {
	t := time.NewTimer(64 * sip.T1)
	defer t.Stop()
	select {
	case <-a.acked:
	case <-t.C:
	case <-over:
	case <-ctx.Done():
	}
}

// accept sends a 200 to an INVITE, and repeats it until the ACK comes.
func (c *Call) accept(t *transaction, body []byte, offered bool) (*accepted, error) {
	a := &accepted{
		number:  t.request.CSeq().SeqNo,
		offered: offered,
		acked:   make(chan struct{}),
		settled: make(chan struct{}),
	}
	if !t.final.CompareAndSwap(0, sip.StatusOK) {
		return nil, ErrOver
	}
	c.mu.Lock()
	c.accepted = a
	c.mu.Unlock()
	headers := append(c.headers(), c.grantTimer(t.request)...)
	res := c.endpoint.build(t.request, sip.StatusOK, t.tag, body, headers...)
	if err := t.tx.Respond(res); err != nil {
		return nil, fmt.Errorf("sip: answering: %w", err)
	}
	c.endpoint.workers.Go(func() { c.repeat(t, res, a) })
	return a, nil
}

// repeat sends a 200 again until its ACK comes, and hangs up when none does.
func (c *Call) repeat(t *transaction, res *sip.Response, a *accepted) {
	deadline := time.NewTimer(64 * sip.T1)
	defer deadline.Stop()
	interval := sip.T1
	for {
		again := time.NewTimer(interval)
		select {
		case <-again.C:
			_ = t.tx.Respond(res)
			interval = min(2*interval, sip.T2)
		case <-a.acked:
			again.Stop()
			return
		case <-deadline.C:
			again.Stop()
			c.log.Info("sip: the caller did not confirm the answer")
			a.once.Do(func() { close(a.acked) }) // the BYE need not wait for it
			c.hangUp(ErrLost)
			return
		case <-c.done: // the caller needs no answer any more
			again.Stop()
			return
		case <-c.endpoint.stopping.Done():
			again.Stop()
			return
		}
	}
}

// ackReceived takes an ACK of the peer.
func (c *Call) ackReceived(ack *sip.Request) {
	c.mu.Lock()
	a := c.accepted
	if a == nil || a.number != ack.CSeq().SeqNo {
		c.mu.Unlock()
		return
	}
	c.accepted = nil
	c.mu.Unlock()
	a.once.Do(func() { close(a.acked) })
	defer close(a.settled)
	if !a.offered {
		return
	}
	c.mu.Lock()
	c.offering = false
	c.mu.Unlock()
	sdp, _ := sdpOf(ack)
	if sdp == nil {
		sdp = []byte{}
	}
	if err := c.Accept(sdp); err != nil {
		a.mu.Lock()
		a.rejected = fmt.Errorf("%w: %w", ErrNoCodec, err)
		a.mu.Unlock()
		c.log.Info("sip: the caller's answer cannot be used", "error", err)
		c.hangUp(ErrLost)
	}
}

// headers returns what responses and requests that concern the sound say about the box.
func (c *Call) headers() []sip.Header {
	return []sip.Header{c.current().contact.Clone(), allow(), supported()}
}

// provisional is a 180 that is repeated until its PRACK comes (RFC 3262).
type provisional struct {
	number uint32 // RSeq
	acked  chan struct{}
	once   sync.Once
}

// ring sends 180 Ringing, reliably where the caller requires that.
func (c *Call) ring(t *transaction) error {
	headers := c.headers()
	if !lists(t.request, "require", "", "100rel") {
		return t.respond(sip.StatusRinging, nil, headers...)
	}
	c.mu.Lock()
	first := c.provisional == nil
	if first {
		c.provisional = &provisional{number: 1, acked: make(chan struct{})}
	}
	p := c.provisional
	c.mu.Unlock()
	if !first {
		return nil
	}
	headers = append(headers, sip.NewHeader("Require", "100rel"), sip.NewHeader("RSeq", strconv.Itoa(int(p.number))))
	res := c.endpoint.build(t.request, sip.StatusRinging, t.tag, nil, headers...)
	if err := t.tx.Respond(res); err != nil {
		return fmt.Errorf("sip: ringing: %w", err)
	}
	c.endpoint.workers.Go(func() { c.repeatRinging(t, res, p) })
	return nil
}

// repeatRinging sends a 180 again, at intervals that double, until its PRACK comes; without
// one the call is refused (RFC 3262, section 3).
func (c *Call) repeatRinging(t *transaction, res *sip.Response, p *provisional) {
	deadline := time.NewTimer(64 * sip.T1)
	defer deadline.Stop()
	for interval := sip.T1; ; interval *= 2 {
		again := time.NewTimer(interval)
		select {
		case <-again.C:
			if t.final.Load() != 0 {
				return
			}
			_ = t.tx.Respond(res)
		case <-p.acked:
			again.Stop()
			return
		case <-deadline.C:
			again.Stop()
			_ = t.respond(sip.StatusGatewayTimeout, nil)
			c.end(ErrLost)
			return
		case <-c.done:
			again.Stop()
			return
		}
	}
}

// servePRACK takes the confirmation of a 180.
func (c *Call) servePRACK(t *transaction) {
	c.mu.Lock()
	p := c.provisional
	c.mu.Unlock()
	var number, invite uint32
	var method string
	_, err := fmt.Sscan(field(t.request, "rack", ""), &number, &invite, &method)
	if err != nil || p == nil || p.number != number || method != string(sip.INVITE) {
		_ = t.respond(sip.StatusCallTransactionDoesNotExists, nil)
		return
	}
	p.once.Do(func() { close(p.acked) })
	_ = t.respond(sip.StatusOK, nil)
}
