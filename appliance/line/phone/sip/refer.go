package sip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

const (
	// referNews is how long a peer that has accepted a transfer may take to say anything
	// about it; it is required to do so at once (RFC 3515, section 2.4.4).
	referNews = 20 * time.Second
	// referTime bounds a transfer as a whole: ringing, as in a call.
	referTime = maxRing + 10*time.Second
)

// TransferError is why a transfer did not succeed. The call goes on.
type TransferError struct {
	Status int // of SIP: of the peer, or of the new call as the peer reports it; 0: none
	Reason string
}

func (e *TransferError) Error() string { return e.Reason }

// referral is a transfer that the other side carries out for the box.
type referral struct{ news chan progress }

// progress is what a NOTIFY says about a transfer.
type progress struct {
	status int
	over   bool // no more comes
}

// Transfer asks the other side to call somebody else instead of the box, and waits until
// it says how that went (REFER, RFC 3515). to is as in DialOptions. If the new call is
// answered, this call is hung up; otherwise it goes on, and the error is a
// *TransferError or the cause of ctx.
func (c *Call) Transfer(ctx context.Context, to string) error {
	uri, err := c.trunk.callee(to)
	if err != nil {
		return &TransferError{Reason: err.Error()}
	}
	d := c.current()
	if uri.Host == "" { // the trunk has only networks: the peer is its own domain
		uri.Host = d.remote.Address.Host
	}
	r := &referral{news: make(chan progress, 16)}
	c.mu.Lock()
	if c.referral != nil {
		c.mu.Unlock()
		return &TransferError{Reason: "the call is already being transferred"}
	}
	c.referral = r
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.referral = nil
		c.mu.Unlock()
	}()
	req := d.request(sip.REFER)
	req.AppendHeader(sip.NewHeader("Refer-To", "<"+uri.String()+">"))
	req.AppendHeader(sip.NewHeader("Referred-By", "<"+d.local.Address.String()+">"))
	res, err := c.doIn(ctx, d, req)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &TransferError{Reason: "the other side does not answer the request to transfer the call"}
	case !res.IsSuccess():
		why := (&responseError{res}).Error()
		return &TransferError{res.StatusCode, "the other side does not transfer the call: " + why}
	}
	if err := c.followReferral(ctx, r); err != nil {
		return err
	}
	c.HangUp()
	return nil
}

// followReferral waits until the transfer is over.
func (c *Call) followReferral(ctx context.Context, r *referral) error {
	silent := time.NewTimer(referNews)
	defer silent.Stop()
	over := time.NewTimer(referTime)
	defer over.Stop()
	for {
		select {
		case p := <-r.news:
			silent.Stop()
			switch {
			case p.status >= 200 && p.status < 300:
				return nil
			case p.status >= 300:
				why := fmt.Sprintf("the new call was not answered (%d %s)", p.status, reason(p.status))
				return &TransferError{p.status, why}
			case p.over:
				return &TransferError{p.status, "the other side does not say how the transfer went"}
			}
		case <-c.done:
			return nil // a peer that hangs up after it has accepted needs the box no longer
		case <-silent.C:
			return &TransferError{Reason: "the other side accepted the transfer and did not carry it out"}
		case <-over.C:
			return &TransferError{Reason: "the transfer took too long"}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// serveNotify takes the news about a transfer.
func (c *Call) serveNotify(t *transaction) {
	event, _, _ := strings.Cut(field(t.request, "Event", "o"), ";")
	if !strings.EqualFold(strings.TrimSpace(event), "refer") {
		_ = t.respond(489, nil, sip.NewHeader("Allow-Events", "refer"))
		return
	}
	_ = t.respond(sip.StatusOK, nil)
	p, err := readProgress(t.request)
	c.mu.Lock()
	r := c.referral
	c.mu.Unlock()
	if err != nil || r == nil { // late news are answered too, or the peer repeats them
		return
	}
	select {
	case r.news <- p:
	default:
	}
}

// readProgress reads a NOTIFY: its body begins with the status of the new call, as a
// status line of SIP (RFC 3515, section 2.4.5).
func readProgress(req *sip.Request) (progress, error) {
	state, _, _ := strings.Cut(strings.ToLower(field(req, "Subscription-State", "")), ";")
	p := progress{over: strings.TrimSpace(state) == "terminated"}
	line, _, _ := bytes.Cut(bytes.TrimLeft(req.Body(), "\r\n"), []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) < 2 || !strings.HasPrefix(strings.ToUpper(words[0]), "SIP/") {
		if p.over {
			return p, nil
		}
		return p, errors.New("no status line")
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 100 || n > 699 {
		return p, errors.New("no status")
	}
	p.status = n
	return p, nil
}
