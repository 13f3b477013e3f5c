package sip

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
)

// referGrace is how long the peer has to hang up the dialog that it had transferred.
const referGrace = 2 * time.Second

// replacesValue matches what a Replaces header may hold (RFC 3891, section 6.1).
var replacesValue = regexp.MustCompile(`^[^\s;,<>"]{1,256}(;(to-tag|from-tag)=[^\s;,<>"]{1,128}){2}(;early-only)?$`)

// serveRefer takes the request of the other side to talk to somebody else: the box calls
// the new address, which takes the place of the other side; the chat goes on.
func (c *Call) serveRefer(t *transaction) {
	w, status := c.referredTo(t.request)
	if status != 0 {
		_ = t.respond(status, nil)
		return
	}
	c.mu.Lock()
	if c.referred {
		c.mu.Unlock()
		_ = t.respond(sip.StatusRequestPending, nil)
		return
	}
	c.referred = true
	d := c.dialog
	c.mu.Unlock()
	_ = t.respond(sip.StatusAccepted, nil, c.headers()...)
	c.trunk.background(func(ctx context.Context) {
		c.follow(ctx, d, t.request, w)
		c.mu.Lock()
		c.referred = false
		c.mu.Unlock()
	})
}

// referredTo reads a REFER. status is that of the refusal, or 0.
func (c *Call) referredTo(req *sip.Request) (w wanted, status int) {
	if len(req.GetHeaders("Refer-To")) != 1 {
		return w, sip.StatusBadRequest
	}
	to := req.ReferTo()
	if to == nil {
		return w, sip.StatusBadRequest
	}
	if scheme := strings.ToLower(to.Address.Scheme); scheme != "sip" && scheme != "sips" {
		return w, 416
	}
	if to.Address.User == "" || to.Address.Host == "" {
		return w, sip.StatusBadRequest
	}
	if m, ok := to.Address.UriParams.Get("method"); ok && !strings.EqualFold(m, "INVITE") {
		return w, 603
	}
	if !c.mayCall(to.Address.Host) {
		return w, sip.StatusForbidden
	}
	u := to.Address.Clone()
	u.User = escapeUser(u.User)
	w = wanted{to: c.trunk.reached(*u), into: c}
	if c.trunk.inNetwork(u.Host) {
		w.direct = u
	}
	if c.trunk.host() == "" && w.direct == nil {
		return w, sip.StatusForbidden
	}
	if by := field(req, "Referred-By", "b"); by != "" {
		w.headers = append(w.headers, sip.NewHeader("Referred-By", by))
	}
	for _, kv := range to.Address.Headers {
		if !strings.EqualFold(kv.K, "Replaces") {
			continue
		}
		value, err := url.PathUnescape(kv.V)
		if err != nil || !replacesValue.MatchString(value) {
			return w, sip.StatusBadRequest
		}
		w.headers = append(w.headers, sip.NewHeader("Replaces", value), sip.NewHeader("Require", "replaces"))
	}
	return w, 0
}

// mayCall reports whether the box follows a REFER to a host: one of the trunk, or the
// domain that the two sides of the call are in.
func (c *Call) mayCall(host string) bool {
	return c.trunk.owns(host) || strings.EqualFold(host, c.current().remote.Address.Host)
}

// follow calls the new address and tells the other side in d how it goes.
func (c *Call) follow(ctx context.Context, d *dialog, refer *sip.Request, w wanted) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	news := make(chan int, 3) // trying, ringing, and how it ended
	var told sync.WaitGroup
	told.Go(func() {
		for status := range news {
			c.tell(ctx, d, refer, status)
		}
	})
	news <- sip.StatusTrying
	w.rings = sync.OnceFunc(func() { news <- sip.StatusRinging })
	_, err := c.trunk.dial(ctx, w)
	news <- outcome(err)
	close(news)
	told.Wait()
	if err == nil {
		c.drop(ctx, d, referGrace)
	}
}

// outcome returns the status that tells how a call ended that the peer has asked for.
func outcome(err error) int {
	var refused *DialError
	switch {
	case err == nil:
		return sip.StatusOK
	case errors.As(err, &refused) && refused.Status >= 300:
		return refused.Status
	case errors.As(err, &refused) && refused.By == contract.ByNobody:
		return sip.StatusRequestTimeout
	}
	return sip.StatusServiceUnavailable
}

// tell sends a NOTIFY about a transfer. It is the last one if status is final.
func (c *Call) tell(ctx context.Context, d *dialog, refer *sip.Request, status int) {
	if strings.EqualFold(field(refer, "Refer-Sub", ""), "false") {
		return // the other side does not want to know (RFC 4488)
	}
	state := fmt.Sprintf("active;expires=%d", int(referTime/time.Second))
	if status >= 200 {
		state = "terminated;reason=noresource"
	}
	req := d.request(sip.NOTIFY)
	req.AppendHeader(sip.NewHeader("Event", fmt.Sprintf("refer;id=%d", refer.CSeq().SeqNo)))
	req.AppendHeader(sip.NewHeader("Subscription-State", state))
	req.AppendHeader(sip.NewHeader("Content-Type", "message/sipfrag;version=2.0"))
	req.SetBody(fmt.Appendf(nil, "SIP/2.0 %d %s\r\n", status, reason(status)))
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if _, err := c.doIn(ctx, d, req); err != nil {
		c.log.Debug("sip: news about a transfer were not taken", "error", err)
	}
}

// becomes makes d the dialog of the call. The one before stays until it is dropped. It
// returns false if the call is over.
func (c *Call) becomes(d *dialog) bool {
	release := c.endpoint.sources.hold(d.flow.remote.Addr())
	c.endpoint.table.Lock()
	defer c.endpoint.table.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		release()
		return false
	}
	c.endpoint.calls[d.id] = c
	c.others = append(c.others, c.dialog)
	c.dialog = d
	c.releases = append(c.releases, release)
	return true
}

// drop hangs up a dialog that another one has replaced, unless the other side does so
// within a time.
func (c *Call) drop(ctx context.Context, d *dialog, within time.Duration) {
	pause(ctx, within)
	if c.leave(d) {
		_, _ = c.doIn(ctx, d, d.request(sip.BYE))
	}
}

// leave removes a dialog that another one has replaced from the table. It returns false
// if it is not there.
func (c *Call) leave(d *dialog) bool {
	c.endpoint.table.Lock()
	defer c.endpoint.table.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.others {
		if other == d {
			c.others = append(c.others[:i:i], c.others[i+1:]...)
			delete(c.endpoint.calls, d.id)
			return true
		}
	}
	return false
}

// directly looks up the address of a telephone that a REFER names.
func (w *wanted) directly(ctx context.Context) ([]target, error) {
	return uriTargets(ctx, w.direct)
}
