// Package sip is the signalling of the telephone: it listens for calls, answers and places
// them, and keeps them up until either side hangs up (RFC 3261 and its extensions). It does
// not know what is said on a call; the sound of a call is a Media.
//
// The parser and the state machines of transactions are those of the library sipgo. The
// sockets, the dialogs and what may reach them are here.
package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Options are the settings of an Endpoint.
type Options struct {
	// Listen are the addresses at which the endpoint listens, as udp://HOST:PORT,
	// tcp://HOST:PORT or tls://HOST:PORT.
	Listen []string
	// TLS has the certificate for tls:// listeners, and may have RootCAs for connections to
	// trunks over TLS.
	TLS *tls.Config
	// External is the address of the box for peers outside its networks, which stands in
	// Contact, Via and SDP. The zero value: the box is not behind a translator of addresses.
	External netip.Addr
	// Media opens the sound of one call. peer is the address of its signalling. secure asks
	// for encryption with keys in the box's offers.
	Media func(peer netip.Addr, secure bool) (Media, error)
	// Trunks are the peers that may call, and through which the box calls.
	Trunks []Trunk
	// UserAgent names the box in messages.
	UserAgent string
	Log       *slog.Logger
}

// A Trunk is a peer: a provider, a telephone system, or one telephone.
type Trunk struct {
	Name string
	// Address has the hosts and networks of the peer, in the spelling of package sipuri.
	// Requests from these addresses are calls of this trunk.
	Address string
	// Register makes the box register at the peer as User.
	Register       bool
	User, Password string
	// From is the number that calls out show; empty: User.
	From string
}

// An Endpoint is the open telephone.
type Endpoint struct {
	Options
	log *slog.Logger

	listeners []*listener
	connections
	sources
	transactions
	dialogs
	nonces *nonces
	trunks []*trunk

	invited  func(context.Context, *Invitation)
	stopping context.Context
	stop     context.CancelFunc
	workers  sync.WaitGroup
}

// Open opens the listeners. invited is called for every call that a trunk may make, in a
// goroutine of its own, after 100 Trying has been sent; its context ends when the
// invitation is over.
func Open(o Options, invited func(context.Context, *Invitation)) (*Endpoint, error) {
	e := &Endpoint{Options: o, log: o.Log, invited: invited, nonces: newNonces()}
	e.connections.open = map[*stream]bool{}
	e.sources.init()
	e.transactions.init()
	e.calls = map[dialogID]*Call{}
	e.stopping, e.stop = context.WithCancel(context.Background())
	if err := e.openTrunks(); err != nil {
		return nil, err
	}
	for _, address := range o.Listen {
		l, err := e.listen(address)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sip: listening on %s: %w", address, err), e.Close(closedContext()))
		}
		e.listeners = append(e.listeners, l)
	}
	for _, l := range e.listeners {
		e.workers.Go(func() { e.serve(l) })
	}
	e.workers.Go(e.startTrunks)
	return e, nil
}

// closedContext returns a context that is over.
func closedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Listeners returns the addresses at which the endpoint listens.
func (e *Endpoint) Listeners() []string {
	all := make([]string, len(e.listeners))
	for i, l := range e.listeners {
		all[i] = l.String()
	}
	return all
}

// Close refuses waiting calls, hangs up all others, and unregisters at the trunks. It waits
// until the peers have confirmed, at most until ctx ends. Only the first call counts.
func (e *Endpoint) Close(ctx context.Context) error {
	if !e.dialogs.close() {
		return nil
	}
	var farewells sync.WaitGroup
	for _, c := range e.dialogs.all() {
		farewells.Go(func() { c.farewell(ctx) })
	}
	farewells.Go(func() { e.closeTrunks(ctx) })
	farewells.Wait()
	e.stop()
	var err error
	for _, l := range e.listeners {
		err = errors.Join(err, l.close())
	}
	e.connections.closeAll()
	e.transactions.terminate()
	e.settle()
	return err
}

// settleTime bounds how long Close waits for goroutines: they end at once, unless a user of
// a call does not return from what it was told.
const settleTime = time.Second

func (e *Endpoint) settle() {
	settled := make(chan struct{})
	go func() {
		e.workers.Wait()
		close(settled)
	}()
	select {
	case <-settled:
	case <-time.After(settleTime):
		e.log.Warn("sip: some calls have not ended yet")
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
