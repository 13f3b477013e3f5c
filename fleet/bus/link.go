package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// connectLimit is for one attempt, with TLS, over a slow line.
	connectLimit = 10 * time.Second
	// pingEvery and pingsOut notice within 45 s that a peer is gone without a word.
	pingEvery = 15 * time.Second
	pingsOut  = 2
	// soonest and latest are the pauses between attempts. They double, and each is up to half as long again at random,
	// so that the boxes of a hub that returns do not all come at once.
	soonest = 2 * time.Second
	latest  = 30 * time.Second
)

// storedAfter is when a new connection is told once more that something may have changed. A message that the server
// took just before is not pushed to it, and may not be stored yet when it is first asked for: a busy disk takes a
// second.
const storedAfter = 3 * time.Second

// link is a connection that is made again whenever it ends, for ever. It does not use the client's own way to
// reconnect, which does not say why an attempt failed.
type link struct {
	name    string // of this client, for the server's log
	user    Credentials
	inbox   string // prefix of the subjects of answers
	servers []string
	local   Local // in place of servers
	tls     *tls.Config
	log     *slog.Logger
	explain func(error) string
	// opened prepares a new connection; the link is up when it returns.
	opened func(context.Context, *nats.Conn) error
	pauses [2]time.Duration // soonest and latest

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	done    chan struct{}
	changed chan struct{}

	mu     sync.Mutex
	conn   *nats.Conn      // nil while it is down
	life   context.Context // ends with conn
	up     chan struct{}   // closed while it is up
	why    string
	denied string // the last thing that the server did not permit
	// refused is what the server said of the credentials before it ended the present connection.
	refused error
}

// Credentials are those of a user of the servers.
type Credentials struct {
	JWT  string
	Seed string // the private key
}

// Local is a server inside this program.
type Local interface {
	InProcessConn() (net.Conn, error)
}

func (l *link) start() {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.done = make(chan struct{})
	l.changed = make(chan struct{}, 1)
	l.up = make(chan struct{})
	l.why = "it is connecting for the first time"
	if l.pauses == [2]time.Duration{} {
		l.pauses = [2]time.Duration{soonest, latest}
	}
	if l.local != nil {
		l.servers = []string{"nats://local"} // the client wants a URL; it is not used
	}
	go l.run()
}

// close ends the connection and waits for the end of what it started.
func (l *link) close() {
	l.cancel()
	<-l.done
}

func (l *link) run() {
	defer close(l.done)
	pause := l.pauses[0]
	for {
		for _, server := range l.servers {
			lasted, err := l.hold(server)
			l.down(server, err)
			if l.ctx.Err() != nil {
				return
			}
			if lasted > l.pauses[1] {
				pause = l.pauses[0]
			}
		}
		t := time.NewTimer(pause + rand.N(pause/2+1))
		select {
		case <-l.ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		pause = min(2*pause, l.pauses[1])
	}
}

// hold connects to a server, and returns how long that connection lasted and why it ended.
func (l *link) hold(server string) (time.Duration, error) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	l.mu.Lock()
	l.refused = nil
	l.mu.Unlock()
	conn, closed, err := l.dial(ctx, server)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	err = l.use(ctx, server, conn, closed)
	conn.Close()
	<-closed // so that nothing of this connection runs on
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused != nil {
		err = l.refused
	}
	return time.Since(begun), err
}

// use returns why a connection ended.
func (l *link) use(ctx context.Context, server string, conn *nats.Conn, closed <-chan struct{}) error {
	limit, stop := context.WithTimeout(ctx, 3*connectLimit)
	err := l.opened(limit, conn)
	stop()
	if err != nil {
		return err
	}
	life, end := context.WithCancel(l.ctx)
	defer end()
	l.mu.Lock()
	l.conn, l.life, l.why, l.denied = conn, life, "", ""
	close(l.up)
	l.mu.Unlock()
	l.notify()
	defer time.AfterFunc(storedAfter, l.notify).Stop()
	l.log.Info("connected to the fleet", "server", server)
	select {
	case <-l.ctx.Done():
		err = l.ctx.Err()
	case <-closed:
		if err = conn.LastError(); err == nil {
			err = errors.New("the server closed the connection")
		}
	}
	return err
}

// dial connects once. The channel is closed when the connection has ended.
func (l *link) dial(ctx context.Context, server string) (*nats.Conn, <-chan struct{}, error) {
	closed := make(chan struct{})
	d := &dialer{ctx: ctx}
	options := []nats.Option{
		nats.Name(l.name),
		nats.UserJWT(func() (string, error) { return l.user.JWT, nil }, sign(l.user.Seed)),
		nats.CustomInboxPrefix(l.inbox),
		nats.NoReconnect(),
		nats.IgnoreDiscoveredServers(),
		nats.Timeout(connectLimit),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsOut),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.report(err) }),
	}
	if l.local != nil {
		options = append(options, nats.InProcessServer(l.local))
	} else {
		options = append(options, nats.SetCustomDialer(d), nats.Secure(l.tls))
	}
	conn, err := nats.Connect(server, options...)
	if err != nil {
		if d.err != nil {
			err = d.err // the client reports a refused connection as the absence of servers
		}
		return nil, nil, err
	}
	return conn, closed, nil
}

// report notes what a server says while the connection stands.
func (l *link) report(err error) {
	l.mu.Lock()
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		l.denied = err.Error()
	case isRefusal(err):
		l.refused = err
	}
	l.mu.Unlock()
	l.log.Warn("the fleet's server reports an error", "err", err)
}

// down notes that there is no connection, and why.
func (l *link) down(server string, err error) {
	why := "it was closed"
	if l.ctx.Err() == nil {
		why = l.explain(err)
	}
	if len(l.servers) > 1 {
		why = server + ": " + why
	}
	l.mu.Lock()
	if l.conn != nil {
		l.conn, l.up = nil, make(chan struct{})
	}
	same := l.why == why
	l.why = why
	l.mu.Unlock()
	if !same && l.ctx.Err() == nil { // and not at each attempt
		l.log.Warn("not connected to the fleet; trying again", "server", server, "why", why)
		l.notify()
	}
}

func (l *link) notify() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// errEnded is the error of what was going on when the connection ended. The client library would wait for an answer.
var errEnded = errors.New("the connection ended before the answer came")

// during calls do with the connection, and a context that also ends with it. Without a connection, it returns ErrAway.
func (l *link) during(ctx context.Context, do func(context.Context, *nats.Conn) error) error {
	l.mu.Lock()
	conn, life, why := l.conn, l.life, l.why
	l.mu.Unlock()
	if conn == nil {
		return ErrAway{Why: why}
	}
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	err := do(both, conn)
	if err != nil && life.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w (%v)", errEnded, err)
	}
	return err
}

// wait returns when there is a connection.
func (l *link) wait(ctx context.Context) error {
	l.mu.Lock()
	up := l.up
	l.mu.Unlock()
	select {
	case <-up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ctx.Done():
		return ErrAway{Why: "it was closed"}
	}
}

func (l *link) connected() (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn != nil, l.why
}

// requestLimit is for one answer of the server, which may have to write it to its disk first.
const requestLimit = 15 * time.Second

// request sends a message and returns the answer.
func (l *link) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	var answer *nats.Msg
	err := l.during(ctx, func(ctx context.Context, conn *nats.Conn) (err error) {
		answer, err = conn.RequestMsgWithContext(ctx, m)
		return err
	})
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, nats.ErrNoResponders):
		return nil, errors.New("the fleet's server has no stream for this yet: start the hub, which makes them")
	}
	l.mu.Lock()
	denied := l.denied
	l.mu.Unlock()
	if denied != "" {
		return nil, fmt.Errorf("%w (%s)", err, denied)
	}
	return nil, err
}

// ErrAway says that there is no connection, and why.
type ErrAway struct{ Why string }

func (e ErrAway) Error() string { return "not connected to the fleet: " + e.Why }

// dialer opens the connections of one attempt, and closes them when the attempt's context ends.
type dialer struct {
	ctx context.Context
	err error
}

// Dial is called by the goroutine that called nats.Connect.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: connectLimit}).DialContext(d.ctx, network, address)
	if d.err = err; err != nil {
		return nil, err
	}
	context.AfterFunc(d.ctx, func() { conn.Close() })
	return conn, nil
}
