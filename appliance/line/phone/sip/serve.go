package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
	"parley/appliance/line/phone/media"
)

// keyLength is how long a key counts as pressed that is sent in a message: what telephones
// use in sound.
const keyLength = 160 * time.Millisecond

// serveSafely serves a request. A panic costs the call, not the box.
func (c *Call) serveSafely(t *transaction) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("sip: a request caused a panic", "panic", p, "stack", string(debug.Stack()))
			_ = t.respond(sip.StatusInternalServerError, nil)
			c.hangUp(ErrLost)
		}
	}()
	c.serve(t)
}

// serve takes one request of the peer in the dialog.
func (c *Call) serve(t *transaction) {
	req := t.request
	d := c.dialogOf(req)
	if d == nil {
		c.late(t)
		return
	}
	if d.heard(t.flow, req) {
		// Out of order (RFC 3261, section 12.2.2).
		_ = t.respond(sip.StatusInternalServerError, nil, retrySoon())
		return
	}
	if status, headers := refusal(req); status != 0 && req.Method != sip.INFO && req.Method != sip.NOTIFY &&
		req.Method != sip.BYE && req.Method != sip.REFER {
		_ = t.respond(status, nil, headers...)
		return
	}
	if d != c.current() && req.Method != sip.BYE && req.Method != sip.NOTIFY {
		_ = t.respond(sip.StatusCallTransactionDoesNotExists, nil)
		return
	}
	switch req.Method {
	case sip.INVITE:
		c.serveOffer(t)
	case sip.UPDATE:
		c.serveOffer(t)
	case sip.BYE:
		c.serveBYE(t, d)
	case sip.PRACK:
		c.servePRACK(t)
	case sip.INFO:
		c.serveINFO(t)
	case sip.OPTIONS:
		_ = t.respond(sip.StatusOK, nil, append(c.headers(), acceptSDP())...)
	case sip.REFER:
		c.serveRefer(t)
	case sip.NOTIFY:
		c.serveNotify(t)
	case sip.REGISTER, sip.SUBSCRIBE, sip.MESSAGE, sip.PUBLISH:
		_ = t.respond(sip.StatusMethodNotAllowed, nil, allow())
	default:
		_ = t.respond(sip.StatusNotImplemented, nil, allow())
	}
}

// retrySoon is for a peer whose request has to wait for another one: at random, so that two
// peers do not collide again (RFC 3261, section 14.2).
func retrySoon() sip.Header { return sip.NewHeader("Retry-After", strconv.Itoa(1+rand.IntN(5))) }

// dialogOf returns the dialog of the call that a request names.
func (c *Call) dialogOf(req *sip.Request) *dialog {
	local := tagOf(req.To().Params)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range append([]*dialog{c.dialog}, c.others...) {
		if d.id.local == local {
			return d
		}
	}
	return nil
}

// serveBYE ends the call, unless a transfer has replaced the dialog that the peer ends.
func (c *Call) serveBYE(t *transaction, d *dialog) {
	_ = t.respond(sip.StatusOK, nil)
	if d != c.current() {
		c.leave(d)
		return
	}
	if i := c.invitedBy(); i != nil && c.early() {
		i.canceled()
	}
	c.end(nil)
}

// serveOffer takes a new INVITE or an UPDATE: another address, codec or direction of the
// sound, or the refreshing of the session timer (RFC 3261, section 14, and RFC 3311).
func (c *Call) serveOffer(t *transaction) {
	sdp, _ := sdpOf(t.request)
	invite := t.request.Method == sip.INVITE
	c.mu.Lock()
	glare, waiting := c.offering, c.accepted != nil
	c.mu.Unlock()
	switch {
	case c.early() && (invite || sdp != nil):
		_ = t.respond(sip.StatusInternalServerError, nil, retrySoon())
		return
	case glare && (invite || sdp != nil):
		_ = t.respond(sip.StatusRequestPending, nil)
		return
	case invite && waiting:
		// The ACK of the last 200 may still be on its way.
		_ = t.respond(sip.StatusInternalServerError, nil, retrySoon())
		return
	}
	if status, headers := shortTimer(t.request); status != 0 {
		_ = t.respond(status, nil, headers...)
		return
	}
	if !invite && sdp == nil {
		_ = t.respond(sip.StatusOK, nil, append(c.headers(), c.grantTimer(t.request)...)...)
		return
	}
	var body []byte
	var err error
	if sdp != nil {
		if body, err = c.Answer(sdp); err != nil {
			c.log.Info("sip: an offer of the far end was refused", "error", err)
			_ = t.respond(sip.StatusNotAcceptableHere, nil, acceptSDP())
			return
		}
	} else if body, err = c.Offer(); err != nil {
		_ = t.respond(sip.StatusInternalServerError, nil)
		return
	}
	if !invite {
		_ = t.respond(sip.StatusOK, body, append(c.headers(), c.grantTimer(t.request)...)...)
		return
	}
	_ = t.respond(sip.StatusTrying, nil)
	c.mu.Lock()
	c.offering = sdp == nil
	c.mu.Unlock()
	if _, err := c.accept(t, body, sdp == nil); err != nil {
		c.log.Info("sip: an answer was not sent", "error", err)
	}
}

// serveINFO takes keys that come as messages: application/dtmf-relay has a line
// Signal=KEY, application/dtmf the key alone.
func (c *Call) serveINFO(t *transaction) {
	kind, _, _ := strings.Cut(strings.ToLower(field(t.request, "content-type", "c")), ";")
	body := string(t.request.Body())
	switch strings.TrimSpace(kind) {
	case "":
		_ = t.respond(sip.StatusOK, nil) // a sign of life
		return
	case "application/dtmf-relay":
		signal := ""
		for line := range strings.Lines(body) {
			if name, value, ok := strings.Cut(line, "="); ok && strings.EqualFold(strings.TrimSpace(name), "signal") {
				signal = value
			}
		}
		body = signal
	case "application/dtmf":
	default:
		_ = t.respond(sip.StatusUnsupportedMediaType, nil,
			sip.NewHeader("Accept", "application/dtmf-relay, application/dtmf"))
		return
	}
	_ = t.respond(sip.StatusOK, nil)
	key := keyOf(strings.TrimSpace(body))
	c.mu.Lock()
	press := c.press
	c.mu.Unlock()
	if key != 0 && press != nil {
		press(key)
	}
}

// Press sends keys to the far end, in messages where it takes none in the sound.
func (c *Call) Press(ctx context.Context, digits string) error {
	err := c.Media.Press(ctx, digits)
	if !errors.Is(err, media.ErrNoKeys) {
		return err
	}
	for _, key := range digits {
		req := c.current().request(sip.INFO)
		req.AppendHeader(sip.NewHeader("Content-Type", "application/dtmf-relay"))
		req.SetBody(fmt.Appendf(nil, "Signal=%c\r\nDuration=%d\r\n", key, keyLength.Milliseconds()))
		res, err := c.do(ctx, req)
		if err != nil {
			return fmt.Errorf("sip: pressing %c: %w", key, err)
		}
		if !res.IsSuccess() {
			return fmt.Errorf("sip: the far end takes no keys: %d %s", res.StatusCode, res.Reason)
		}
	}
	return nil
}

// keyOf returns the key that a signal names, by itself or by its number in RFC 4733; 0 if
// it names none.
func keyOf(signal string) rune {
	const keys = contract.PhoneKeys
	signal = strings.ToUpper(signal)
	if len(signal) == 1 && strings.Contains(keys, signal) {
		return rune(signal[0])
	}
	if n, err := strconv.Atoi(signal); err == nil && n >= 10 && n < len(keys) {
		return rune(keys[n])
	}
	return 0
}
