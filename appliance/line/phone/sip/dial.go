package sip

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
)

// DialOptions say whom to call.
type DialOptions struct {
	Trunk string // a name; empty: the only trunk
	// To is a number, the name of a user of the trunk, or a SIP URI of one.
	To string
	// From is the number to show; empty: that of the trunk.
	From string
	// RingFor is how long the other side may ring; 0: a minute. At most three minutes,
	// after which networks give up by themselves (RFC 3261, section 16.7, timer C).
	RingFor time.Duration
}

const (
	usualRing = time.Minute
	maxRing   = 3 * time.Minute
	// firstResponse is how long an address of a peer may be silent before the next one
	// is tried: four sendings over UDP. A peer that is there sends 100 within 200 ms.
	firstResponse = 4 * time.Second
)

var (
	errRang    = errors.New("nobody answered in the time to ring")
	errClosing = errors.New("the telephone is being closed")
)

// CanDial returns why a trunk cannot call a number or a SIP address, as far as that shows beforehand.
func (e *Endpoint) CanDial(trunk, to string) error {
	t, err := e.trunkNamed(trunk)
	if err != nil {
		return err
	}
	_, err = t.callee(to)
	return err
}

// Dial calls and waits until the other side answers. Its error is a *DialError, or the
// cause of ctx if that ends. A call that is given up is cancelled.
func (e *Endpoint) Dial(ctx context.Context, o DialOptions) (*Call, error) {
	t, err := e.trunkNamed(o.Trunk)
	if err != nil {
		return nil, &DialError{By: contract.ByFailedNetworks, Reason: err.Error()}
	}
	to, err := t.callee(o.To)
	if err != nil {
		return nil, &DialError{By: contract.ByWrongNumber, Reason: err.Error()}
	}
	w := wanted{to: to, ring: o.RingFor}
	if t.inNetwork(to.Host) {
		w.direct = &to
	}
	if w.from, err = t.shown(o.From); err != nil {
		return nil, &DialError{By: contract.ByFailedNetworks, Reason: err.Error()}
	}
	call, err := t.dial(ctx, w)
	var refused *DialError
	if errors.As(err, &refused) && refused.By == contract.ByFailedNetworks {
		t.failed(err)
	}
	return call, err
}

// wanted is a call that is to be placed.
type wanted struct {
	to      sip.Uri
	from    string // the number to show; "": none
	ring    time.Duration
	headers []sip.Header // further ones, for transfers
	into    *Call        // the call whose other side the new one becomes; nil: a call of its own
	direct  *sip.Uri     // a telephone in the network of the trunk, which is called without the trunk's host
	foreign bool         // redirected to a host that is not the trunk's: the password is not shown there
	rings   func()       // called when the other side rings; may be nil
}

// dial places a call at the first address of the trunk that takes it.
func (t *trunk) dial(ctx context.Context, w wanted) (*Call, error) {
	t.begin()
	defer t.end()
	if w.ring <= 0 {
		w.ring = usualRing
	}
	ctx, over := context.WithTimeoutCause(ctx, min(w.ring, maxRing), errRang)
	defer over()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.closing, func() { cancel(errClosing) })()
	var (
		queue []target
		err   error
	)
	if w.direct == nil {
		queue, err = t.targets(ctx)
	} else {
		queue, err = w.directly(ctx)
	}
	if err != nil {
		return nil, &DialError{By: contract.ByFailedNetworks, Reason: err.Error()}
	}
	for redirects := 0; ; {
		at := queue[0]
		queue = queue[1:]
		call, err := t.dialAt(ctx, at, w, len(queue) > 0)
		var (
			moved   *redirectError
			next    *tryNextError
			refused *DialError
		)
		switch {
		case err == nil:
			return call, nil
		case errors.As(err, &refused):
			return nil, err
		case ctx.Err() != nil:
			return nil, givenUp(ctx)
		case errors.As(err, &moved):
			if redirects++; redirects > maxRedirects {
				return nil, &DialError{moved.res.StatusCode, contract.ByFailedNetworks, moved.Error()}
			}
			if queue, err = w.redirect(ctx, t, moved, queue); err != nil {
				return nil, &DialError{moved.res.StatusCode, contract.ByFailedNetworks, err.Error()}
			}
		case errors.As(err, &next) && len(queue) > 0:
			t.failed(fmt.Errorf("%s: %w", at, err))
		case errors.As(err, &next):
			return nil, next.last(at)
		default:
			return nil, err
		}
	}
}

// givenUp returns the error of a call that was cancelled.
func givenUp(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, errRang) {
		return cause
	}
	return &DialError{By: contract.ByNobody, Reason: errRang.Error()}
}

// redirect makes the call one to where a response redirects it, and returns where to
// place it: at the trunk if the new address is one of its own.
func (w *wanted) redirect(ctx context.Context, t *trunk, moved *redirectError, own []target) ([]target, error) {
	uri, err := moved.contact()
	if err != nil {
		return nil, err
	}
	w.to = sip.Uri{Scheme: "sip", User: escapeUser(uri.User), Host: uri.Host, Port: uri.Port}
	found, err := moved.targets(ctx)
	if err != nil {
		return nil, err
	}
	w.foreign = w.foreign || !t.owns(uri.Host)
	return append(found, own...), nil
}

// tryNextError is a failure after which the next address of the peer may take the call
// (RFC 3263, section 4.3).
type tryNextError struct {
	err error
	res *sip.Response // nil: none came
}

func (e *tryNextError) Error() string { return e.err.Error() }

// last returns the error if there is no next address.
func (e *tryNextError) last(at target) error {
	if e.res != nil {
		return dialError(e.res)
	}
	return &DialError{By: contract.ByFailedNetworks, Reason: fmt.Sprintf("%s: %v", at, e.err)}
}

// dialAt places a call at one address. others tells that there are more to try.
func (t *trunk) dialAt(ctx context.Context, at target, w wanted, others bool) (*Call, error) {
	f, err := t.flow(ctx, at)
	if err != nil {
		return nil, &tryNextError{err: err}
	}
	p := &placing{t: t, f: f, w: w, others: others}
	if w.into != nil {
		p.media = w.into.Media
		return p.run(ctx)
	}
	// Where nobody reads the signalling, the offer has keys. A peer that takes none gets a
	// second one without.
	for secure := f.transport == "TLS"; ; secure = false {
		if p.media, err = t.e.openMedia(f.remote.Addr(), secure); err != nil {
			return nil, &DialError{By: contract.ByFailedNetworks, Reason: err.Error()}
		}
		call, err := p.run(ctx)
		if err != nil && !p.taken {
			p.media.Close()
		}
		refused, ok := errors.AsType[*DialError](err)
		if !secure || !ok || refused.Status != sip.StatusNotAcceptableHere {
			return call, err
		}
	}
}

// shown returns the number that a call shows.
func (t *trunk) shown(from string) (string, error) {
	if from == "" {
		from = t.From
	}
	if from == "" {
		return "", nil
	}
	number, err := contract.ParsePhoneNumber(from)
	if err != nil || !numberOrUser.MatchString(number) {
		return "", fmt.Errorf("calls show %q; expected digits, perhaps after a +", contract.Clip(from))
	}
	return number, nil
}

// unnamed is the user of calls over a trunk that has neither a user nor a number.
const unnamed = "parley"

// caller returns who calls, as From has it. A peer where the box registers knows it by
// its user, and gets the number as P-Preferred-Identity (RFC 3325) alone; others look
// for the number in From.
func (t *trunk) caller(f *flow, from string) sip.Uri {
	if t.User != "" && (t.Register || from == "") {
		return t.record()
	}
	u := sip.Uri{Scheme: "sip", User: unnamed, Host: t.host()}
	if t.User == "" {
		host, _ := t.e.face(f)
		u.Host = bracketed(host)
	}
	if from != "" {
		u.User = escapeUser(from)
	}
	return u
}
