package chaos

import (
	"net"
	"sync"
	"testing"
)

// relay carries the connections of boxes to the hub's server, and cuts them.
type relay struct {
	to     string
	listen net.Listener

	mu     sync.Mutex
	down   bool // new connections are closed
	silent bool // nothing passes, in neither direction
	mended chan struct{}
	conns  map[net.Conn]bool
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &relay{to: to, listen: l, conns: map[net.Conn]bool{}, mended: make(chan struct{})}
	close(r.mended)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { r.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.cut(true)
		r.mend()
		served.Wait()
	})
	return r
}

func (r *relay) serve(c net.Conn) {
	defer c.Close()
	there, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer there.Close()
	r.mu.Lock()
	if r.down {
		r.mu.Unlock()
		return
	}
	r.conns[c], r.conns[there] = true, true
	r.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { r.carry(there, c) })
	both.Go(func() { r.carry(c, there) })
	both.Wait()
	r.mu.Lock()
	delete(r.conns, c)
	delete(r.conns, there)
	r.mu.Unlock()
}

// carry copies one direction. While the relay is silent, bytes wait, as on a link that is lost for a moment.
func (r *relay) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		r.mu.Lock()
		mended := r.mended
		r.mu.Unlock()
		<-mended
		if _, e := to.Write(buffer[:n]); e != nil || err != nil {
			return
		}
	}
}

// cut closes all connections and refuses new ones, or lets nothing pass without a word, until mend.
func (r *relay) cut(closes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !closes {
		if !r.silent {
			r.silent, r.mended = true, make(chan struct{})
		}
		return
	}
	r.down = true
	for c := range r.conns {
		c.Close()
	}
}

func (r *relay) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = false
	if r.silent {
		r.silent = false
		close(r.mended)
	}
}
