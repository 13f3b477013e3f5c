package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

const (
	// askedExpires is how long a registration is asked to hold. A peer that restarts and
	// forgets the box has it back after a few minutes; the usual hour would be too long.
	askedExpires = 10 * time.Minute
	// maxExpires bounds the time that a peer may ask for as its shortest (423).
	maxExpires = 24 * time.Hour
	// registerTime bounds one REGISTER over UDP, which is sent five times within it.
	registerTime = 10 * time.Second
	// firstRetry and lastRetry bound the waits after failures. They double from one to
	// the next (RFC 5626, section 4.5, with shorter times: a box has one registrar).
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute
	// longestRetryAfter bounds how long a peer may ask the box to wait.
	longestRetryAfter = 30 * time.Minute
	// maxRounds bounds how often one request is sent again because of its answer: a
	// challenge, a stale nonce, a longer time and a new address of the box come together
	// at worst.
	maxRounds = 6
	// maxRedirects bounds how often one request is redirected (RFC 3261 names no number).
	maxRedirects = 5
)

// registration keeps the box registered at a trunk. Its goroutine is run.
type registration struct {
	t      *trunk
	callID string
	tag    string
	asks   time.Duration // how long the next registration is asked to hold
	seq    uint32

	stopping context.Context
	stop     context.CancelFunc
	started  chan struct{}
	done     chan struct{}
	pings    pings

	mu      sync.Mutex
	held    *binding       // nil: not registered
	public  netip.AddrPort // where the peer sees the box, if elsewhere than the box itself does
	private netip.AddrPort // what the box took for its address then
	lastErr string
}

// binding is what a registrar has accepted.
type binding struct {
	at      target
	flow    *flow
	contact *sip.ContactHeader
	expires time.Time
}

func newRegistration(t *trunk) *registration {
	r := &registration{
		t:       t,
		callID:  newToken(),
		tag:     newToken(),
		asks:    askedExpires,
		seq:     rand.Uint32N(1 << 16),
		started: make(chan struct{}),
		done:    make(chan struct{}),
	}
	r.stopping, r.stop = context.WithCancel(context.Background())
	return r
}

// at returns the address that holds the registration, and false if none does.
func (r *registration) at() (target, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil {
		return target{}, false
	}
	return r.held.at, true
}

// state returns what TrunkStatus tells of the registration.
func (r *registration) state() (registered bool, at string, expires time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil || time.Now().After(r.held.expires) {
		return false, "", time.Time{}
	}
	return true, r.held.at.String(), r.held.expires
}

// run registers and refreshes the registration until ctx ends or close is called.
func (r *registration) run(ctx context.Context) {
	defer context.AfterFunc(ctx, r.stop)()
	close(r.started)
	defer close(r.done)
	for failures := 0; r.stopping.Err() == nil; {
		err := r.register(r.stopping)
		if err == nil {
			failures = 0
			r.watch(r.stopping, r.refreshIn())
			continue
		}
		failures++
		r.lose(err)
		r.watch(r.stopping, retryIn(failures, err))
	}
}

// close ends run and takes the registration back.
func (r *registration) close(ctx context.Context) {
	r.stop()
	select {
	case <-r.started:
	default:
		return
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return
	}
	r.mu.Lock()
	held := r.held
	r.held = nil
	r.mu.Unlock()
	if held != nil {
		if _, err := r.send(ctx, held.flow, held.contact, 0); err != nil {
			r.t.e.log.Info("could not unregister at a telephone trunk", "trunk", r.t.Name, "error", err)
		}
	}
}

// lose notes that the box is not registered.
func (r *registration) lose(err error) {
	if r.stopping.Err() != nil {
		return
	}
	r.t.failed(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastErr != err.Error() { // once, and not every five minutes
		r.t.e.log.Warn("cannot register at a telephone trunk", "trunk", r.t.Name, "error", err)
	}
	r.lastErr, r.held, r.pings = err.Error(), nil, pings{}
}

// register registers at the first address of the trunk that accepts it.
func (r *registration) register(ctx context.Context) error {
	queue, err := r.t.targets(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for redirects := 0; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		err := r.registerAt(ctx, at)
		var moved *redirectError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &moved) && redirects < maxRedirects:
			redirects++
			found, err := moved.targets(ctx)
			if err == nil {
				queue = append(found, queue...)
				continue
			}
			failed = append(failed, fmt.Errorf("%s: %w", at, err))
		default:
			failed = append(failed, fmt.Errorf("%s: %w", at, err))
		}
	}
	return errors.Join(failed...)
}

// registerAt registers at one address.
func (r *registration) registerAt(ctx context.Context, at target) error {
	ctx, cancel := context.WithTimeout(ctx, maxRounds*registerTime)
	defer cancel()
	f, err := r.t.flow(ctx, at)
	if err != nil {
		return err
	}
	older := r.bound()
	for range maxRounds {
		contact := r.t.contact(f, r.t.record().User)
		res, err := r.send(ctx, f, contact, r.asks)
		switch {
		case err != nil:
			return err
		case res.IsSuccess():
			if r.seen(f, res) { // the Contact named an address at which nobody reaches the box
				older = append(older, contact)
				continue
			}
			if err := r.accepted(&binding{at: at, flow: f, contact: contact}, res); err != nil {
				return err
			}
			r.forget(ctx, older)
			return nil
		case res.StatusCode == sip.StatusIntervalToBrief:
			if r.asks, err = longer(r.asks, res); err != nil {
				return err
			}
		case isRedirect(res):
			return &redirectError{res}
		default:
			return &responseError{res}
		}
	}
	return errors.New("the peer asks for one more request again and again")
}

// bound returns the contact that is registered, as a list.
func (r *registration) bound() []*sip.ContactHeader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil {
		return nil
	}
	return []*sip.ContactHeader{r.held.contact}
}

// forget takes back older contacts: a peer would ring at each of them. If that fails,
// they end by themselves.
func (r *registration) forget(ctx context.Context, older []*sip.ContactHeader) {
	r.mu.Lock()
	held := r.held
	r.mu.Unlock()
	for _, c := range older {
		if c.Address.String() != held.contact.Address.String() {
			_, _ = r.send(ctx, held.flow, c, 0)
		}
	}
}

// send sends a REGISTER for a contact, with credentials if the peer asks for them, and
// returns the final response. With expires 0 it takes a registration back.
func (r *registration) send(
	ctx context.Context, f *flow, contact *sip.ContactHeader, expires time.Duration,
) (*sip.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, registerTime)
	defer cancel()
	r.seq += maxRounds // ask uses the next number for each round
	return r.t.ask(ctx, f, r.request(contact, expires))
}

func (r *registration) request(contact *sip.ContactHeader, expires time.Duration) *sip.Request {
	req := r.t.newRequest(sip.REGISTER, r.t.uri(""), r.t.record(), r.tag, r.callID, r.seq)
	seconds := sip.ExpiresHeader(expires / time.Second)
	req.AppendHeader(contact.Clone())
	req.AppendHeader(&seconds)
	req.AppendHeader(allow())
	return req
}

// accepted notes the time that a peer granted.
func (r *registration) accepted(b *binding, res *sip.Response) error {
	granted := grantedExpires(res, b.contact, r.asks)
	if granted <= 0 {
		return errors.New("the peer answered 200 and did not register the box")
	}
	b.expires = time.Now().Add(granted)
	r.mu.Lock()
	defer r.mu.Unlock()
	// A peer that is there twice while it does not answer OPTIONS ignores them; once, it may
	// have been restarting.
	r.pings.unanswered = r.pings.failed >= 2
	if r.held == nil || r.held.at != b.at {
		r.pings = pings{}
		r.t.e.log.Info("registered at a telephone trunk", "trunk", r.t.Name, "at", b.at.String(), "for", granted)
	}
	r.held, r.lastErr = b, ""
	return nil
}

// refreshIn returns when to refresh the registration: between 70 and 85 % of its time,
// so that many boxes of one provider do not come together after its restart.
func (r *registration) refreshIn() time.Duration {
	r.mu.Lock()
	left := time.Until(r.held.expires)
	r.mu.Unlock()
	wait := time.Duration(float64(left) * (0.7 + 0.15*rand.Float64()))
	if r.pings.unanswered && wait > mutePing {
		wait = mutePing
	}
	return max(wait, time.Second)
}

// retryIn returns how long to wait after a number of failures.
func retryIn(failures int, err error) time.Duration {
	wait := lastRetry
	if !isPermanent(err) && failures < 8 {
		wait = min(firstRetry<<(failures-1), lastRetry)
	}
	wait = wait/2 + rand.N(wait/2)
	var refused *responseError
	if errors.As(err, &refused) {
		wait = max(wait, min(retryAfter(refused.res), longestRetryAfter))
	}
	return wait
}

// isPermanent reports whether an error will most likely be the same at the next attempt.
// A wrong password that is sent every few seconds gets the box locked out.
func isPermanent(err error) bool {
	var refused *responseError
	return errors.Is(err, errWrongPassword) || errors.Is(err, errNoPassword) ||
		errors.As(err, &refused) && (refused.res.StatusCode == 403 || refused.res.StatusCode == 404)
}

// longer returns the time that a 423 asks for.
func longer(asked time.Duration, res *sip.Response) (time.Duration, error) {
	h := res.GetHeader("Min-Expires")
	if h == nil {
		return asked, errors.New("the peer finds the time too short (423) and does not say what it takes")
	}
	n, err := strconv.ParseUint(h.Value(), 10, 32)
	least := time.Duration(n) * time.Second
	if err != nil || least <= asked || least > maxExpires {
		return asked, fmt.Errorf("the peer takes no registration of %s, but one of %.20q seconds", asked, h.Value())
	}
	return least, nil
}
