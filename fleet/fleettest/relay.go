package fleettest

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Relay stands between clients and a server, and does to their connections what networks do.
type Relay struct {
	URL string

	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	faults Faults
	pairs  map[*pair]bool
	closed chan struct{}
}

// Faults say how bad a network is.
type Faults struct {
	Delay time.Duration // at most, for each piece
	// Life is how long a connection lasts at most; 0: as long as its ends want. When it is cut, the client learns of it
	// at once and may connect again, while what it had sent is still on its way, and the server keeps the old
	// connection for up to Late.
	Life, Late time.Duration
}

// pair is a client's connection and the one to the server that belongs to it.
type pair struct{ client, server net.Conn }

// NewRelay relays to a server until the test ends. The same seed does the same.
func NewRelay(t testing.TB, server string, seed uint64, faults Faults) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{
		URL:      "tls://" + l.Addr().String(),
		listener: l,
		target:   strings.TrimPrefix(server, "tls://"),
		random:   rand.New(rand.NewPCG(seed, 0)),
		faults:   faults,
		pairs:    map[*pair]bool{},
		closed:   make(chan struct{}),
	}
	r.wg.Go(r.accept)
	t.Cleanup(func() {
		close(r.closed)
		l.Close()
		r.Cut()
		r.wg.Wait()
	})
	return r
}

// Set changes the faults of connections from now on.
func (r *Relay) Set(f Faults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = f
}

// Cut closes all connections at both ends.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.pairs {
		p.client.Close()
		p.server.Close()
	}
}

// upTo returns a random part of a duration.
func (r *Relay) upTo(d time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.random.Float64() * float64(d))
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil {
			client.Close()
			continue
		}
		p := &pair{client: client, server: server}
		r.mu.Lock()
		r.pairs[p] = true
		f := r.faults
		r.mu.Unlock()
		r.wg.Go(func() { r.relay(p, f) })
	}
}

func (r *Relay) relay(p *pair, f Faults) {
	defer func() {
		p.client.Close()
		p.server.Close()
		r.mu.Lock()
		delete(r.pairs, p)
		r.mu.Unlock()
	}()
	if f.Life > 0 {
		cut := time.AfterFunc(r.upTo(f.Life), func() {
			p.client.Close()
			p.server.SetDeadline(time.Now().Add(r.upTo(f.Late)))
		})
		defer cut.Stop()
	}
	var both sync.WaitGroup
	both.Go(func() {
		r.copy(p.server, p.client, f)
		if f.Life > 0 {
			r.wait(r.upTo(f.Late)) // the server does not know yet
		}
		p.server.Close()
	})
	both.Go(func() {
		r.copy(p.client, p.server, f)
		p.client.Close()
	})
	both.Wait()
}

// copy passes on piece by piece. What was read is on its way, and arrives also if the sender is gone.
func (r *Relay) copy(to io.Writer, from io.Reader, f Faults) {
	pieces := make(chan []byte, 64)
	var late sync.WaitGroup
	late.Go(func() {
		for piece := range pieces {
			r.wait(r.upTo(f.Delay))
			if _, err := to.Write(piece); err != nil {
				for range pieces { // nobody takes it
				}
			}
		}
	})
	for {
		buffer := make([]byte, 16<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			pieces <- buffer[:n]
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	late.Wait()
}

func (r *Relay) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.closed:
	}
}
