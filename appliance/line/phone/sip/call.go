package sip

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

const (
	// maxCalls bounds the calls at once, those that wait for an answer included.
	maxCalls = 256
	// maxWaiting bounds the requests of one call that wait for their turn. A peer that sends
	// more at once does not wait for answers.
	maxWaiting = 32
	// keepOpen is how often something is sent to a peer behind a translator of addresses
	// over UDP, which may forget the way after 30 s.
	keepOpen = 25 * time.Second
)

// The reasons for which a call ends, other than that the peer hung up.
var (
	ErrClosed = errors.New("the box hung up")
	ErrLost   = errors.New("the far end is gone")
)

// A Call is a call that has been answered, in or out. Its Media is closed with it.
type Call struct {
	Media
	endpoint *Endpoint
	trunk    *trunk
	log      *slog.Logger

	requests    chan *transaction // of the peer, one after the other
	established chan struct{}     // closed once Media is set
	done        chan struct{}
	ending      sync.Once

	mu         sync.Mutex
	invitation *Invitation // of a call in: it decides until the call is established
	dialog     *dialog     // the current one: a transfer may replace it
	others     []*dialog
	referral   *referral // a transfer that the peer carries out for the box
	referred   bool      // the box carries one out for the peer
	ended      bool
	err        error
	press      func(key rune)
	accepted   *accepted // the answer to an INVITE that waits for its ACK
	offering   bool      // an offer of the box waits for its answer
	releases   []func()

	provisional *provisional // the 180 that waits for its PRACK
	timer       sessionTimer
}

// dialogs are the dialogs of the live calls.
type dialogs struct {
	table  sync.Mutex
	calls  map[dialogID]*Call
	closed bool
}

// newCall returns the call of a dialog and enters it into the table, which makes requests
// of the peer reach it. m may be nil until establish. It is nil when there are too many.
func (e *Endpoint) newCall(d *dialog, t *trunk, m Media) *Call {
	c := &Call{
		endpoint:    e,
		trunk:       t,
		log:         e.log.With("call_id", d.id.callID),
		requests:    make(chan *transaction, maxWaiting),
		established: make(chan struct{}),
		done:        make(chan struct{}),
		dialog:      d,
	}
	c.timer.init()
	release := e.sources.hold(d.flow.remote.Addr())
	c.releases = []func(){release}
	e.table.Lock()
	if e.dialogs.closed || len(e.calls) >= maxCalls {
		e.table.Unlock()
		release()
		return nil
	}
	e.calls[d.id] = c
	e.table.Unlock()
	if m != nil {
		c.establish(m)
	}
	e.workers.Go(c.run)
	return c
}

// invited makes an invitation decide until the call is established.
func (c *Call) invited(i *Invitation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.invitation = i
}

func (c *Call) invitedBy() *Invitation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.invitation
}

// early reports whether the call has not been answered.
func (c *Call) early() bool {
	select {
	case <-c.established:
		return false
	default:
		return true
	}
}

// establish sets the sound of the call. If the call is over, that is too.
func (c *Call) establish(m Media) {
	c.mu.Lock()
	c.Media = m
	close(c.established)
	over := c.ended
	c.mu.Unlock()
	if over {
		m.Close()
	}
}

// close refuses further calls. first reports whether it is the first call of it.
func (d *dialogs) close() (first bool) {
	d.table.Lock()
	defer d.table.Unlock()
	first = !d.closed
	d.closed = true
	return first
}

// all returns the live calls.
func (d *dialogs) all() (calls []*Call) {
	d.table.Lock()
	defer d.table.Unlock()
	seen := map[*Call]bool{}
	for _, c := range d.calls {
		if !seen[c] {
			seen[c] = true
			calls = append(calls, c)
		}
	}
	return calls
}

// callOf returns the call in whose dialog a request is, or nil.
func (e *Endpoint) callOf(req *sip.Request) *Call {
	id := dialogID{string(*req.CallID()), tagOf(req.To().Params), tagOf(req.From().Params)}
	e.table.Lock()
	defer e.table.Unlock()
	return e.calls[id]
}

// run serves the requests of the peer in their order, and ends the call when it is lost.
func (c *Call) run() {
	alive := time.NewTicker(keepOpen)
	defer alive.Stop()
	ticks := 0
	established := c.established
	var silent <-chan struct{}
	for {
		select {
		case t := <-c.requests:
			c.serveSafely(t)
		case <-established:
			silent, established = c.Silent(), nil
		case <-alive.C:
			c.keepAlive()
			if ticks++; ticks%int(probeEvery/keepOpen) == 0 {
				c.probe()
			}
		case <-silent:
			silent = nil
			c.log.Info("sip: nothing comes from the far end any more")
			c.hangUp(ErrLost)
		case <-c.timer.due():
			c.timerDue()
		case <-c.done:
			c.refuseWaiting()
			return
		}
	}
}

// keepAlive keeps the way open to a peer behind a translator of addresses (RFC 5626,
// section 3.5.1; the line end is what peers over UDP ignore).
func (c *Call) keepAlive() {
	d := c.current()
	d.mu.Lock()
	f, natted := d.flow, d.natted
	d.mu.Unlock()
	if natted && f.udp != nil {
		_ = f.udp.write([]byte("\r\n\r\n"), f.local, f.remote)
	}
}

// refuseWaiting answers the requests that came too late.
func (c *Call) refuseWaiting() {
	for {
		select {
		case t := <-c.requests:
			c.late(t)
		default:
			return
		}
	}
}

// late answers a request in a call that is over: a BYE has what it wants.
func (c *Call) late(t *transaction) {
	if t.request.Method == sip.BYE {
		_ = t.respond(sip.StatusOK, nil)
		return
	}
	_ = t.respond(sip.StatusCallTransactionDoesNotExists, nil)
}

// Listen begins to hand on what comes in. Keys that come as messages (INFO) are handed on
// as those in the sound.
func (c *Call) Listen(hear func(pcm []float32), press func(key rune)) {
	c.mu.Lock()
	c.press = press
	c.mu.Unlock()
	c.Media.Listen(hear, press)
}

// Done is closed when the call is over.
func (c *Call) Done() <-chan struct{} { return c.done }

// Err returns why the call is over: nil while it lives, or when the peer hung up.
func (c *Call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Call) current() *dialog {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialog
}

// HangUp ends the call. It returns at once; the BYE is sent in the background.
func (c *Call) HangUp() { c.hangUp(ErrClosed) }

func (c *Call) hangUp(why error) {
	// Closing the endpoint waits for it: the call is no longer in the table then.
	c.trunk.background(func(ctx context.Context) { c.bye(ctx, why) })
}

// farewell hangs up because the box stops, and waits for the confirmation.
func (c *Call) farewell(ctx context.Context) { c.bye(ctx, ErrClosed) }

// bye ends the call and tells the peer. A call that the box has answered may not be ended
// before its ACK (RFC 3261, section 15).
func (c *Call) bye(ctx context.Context, why error) {
	if c.early() {
		if i := c.invitedBy(); i != nil {
			i.refuse(sip.StatusServiceUnavailable, retryFull)
		}
		c.end(why)
		return
	}
	c.mu.Lock()
	waiting := c.accepted
	c.mu.Unlock()
	if waiting != nil {
		c.Close() // nothing is heard any more
		waiting.wait(ctx, c.done)
	}
	if !c.end(why) {
		return
	}
	d := c.current()
	res, err := c.doIn(ctx, d, d.request(sip.BYE))
	if err != nil {
		c.log.Debug("sip: BYE was not confirmed", "error", err)
	} else if !res.IsSuccess() {
		c.log.Debug("sip: BYE was refused", "status", res.StatusCode)
	}
}

// end ends the call for the box: its sound, and its place in the table. Only the first call
// counts; first reports whether this is it.
func (c *Call) end(why error) (first bool) {
	c.ending.Do(func() {
		first = true
		e := c.endpoint
		c.mu.Lock()
		c.err, c.ended = why, true
		early := c.early()
		gone := append([]*dialog{c.dialog}, c.others...)
		releases := c.releases
		c.releases = nil
		c.mu.Unlock()
		e.table.Lock()
		for _, d := range gone {
			delete(e.calls, d.id)
		}
		e.table.Unlock()
		for _, release := range releases {
			release()
		}
		c.timer.stop()
		if !early {
			c.Close()
		}
		close(c.done)
	})
	return first
}

// do sends a request in the dialog, and again with a password where the peer asks for it.
func (c *Call) do(ctx context.Context, req *sip.Request) (*sip.Response, error) {
	return c.doIn(ctx, c.current(), req)
}

func (c *Call) doIn(ctx context.Context, d *dialog, req *sip.Request) (*sip.Response, error) {
	for again := true; ; again = false {
		f, err := d.way(ctx)
		if err != nil {
			return nil, err
		}
		res, err := c.endpoint.do(ctx, f, req)
		if err != nil {
			return nil, err
		}
		if !isChallenge(res) || !again {
			return res, nil
		}
		next, err := c.trunk.answer(req, res)
		if err != nil {
			return res, nil
		}
		d.renumber(next)
		req = next
	}
}
