package webrtc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pion/rtcp"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
)

// Why a call is over.
var (
	ErrClosed    = errors.New("the call is over")
	ErrTooSlow   = errors.New("the client does not take what is sent")
	errLost      = errors.New("the connection is lost")
	errLeft      = errors.New("the client has hung up")
	errPanicked  = errors.New("a goroutine of the call panicked")
	errNeverCame = errors.New("no connection came about")
)

// Call is one client's connection. It is a chat.Line.
type Call struct {
	id, account, requestID, client string

	pc     *pion.PeerConnection
	voice  *voice
	words  *words
	trip   *trip
	timing Timing
	log    *slog.Logger

	offers sync.Mutex // one exchange of descriptions at a time
	remote string     // the newest description of the client's

	joined    chan struct{} // closed at the first connection
	joinOnce  sync.Once
	sessionMu sync.Mutex
	session   Session       // nil until it is open
	opened    chan struct{} // closed then
	heard     chan *pion.TrackRemote

	once    sync.Once
	closing chan struct{} // closed by Close, after code and reason are set
	code    int
	reason  string

	gone    context.Context // ends when the connection is of no use any more
	drop    context.CancelCauseFunc
	workers sync.WaitGroup
}

// ID names the call towards its client.
func (c *Call) ID() string { return c.id }

// spawn runs work on a goroutine of the call. A panic there ends this call, and
// no other.
func (c *Call) spawn(doing string, work func()) {
	c.workers.Go(func() { c.survive(doing, work) })
}

// survive does work for the call, whichever goroutine does it.
func (c *Call) survive(doing string, work func()) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a call panicked", "doing", doing, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			c.drop(errPanicked)
		}
	}()
	work()
}

// watch follows the connection, as the library tells of it.
func (c *Call) watch() {
	c.pc.OnConnectionStateChange(func(s pion.PeerConnectionState) {
		c.log.Debug("call", "state", s.String())
		switch s {
		case pion.PeerConnectionStateConnected:
			c.joinOnce.Do(func() { close(c.joined) })
		case pion.PeerConnectionStateFailed:
			c.drop(errLost)
		case pion.PeerConnectionStateClosed:
			c.drop(errLeft)
		}
	})
	c.pc.OnTrack(func(t *pion.TrackRemote, _ *pion.RTPReceiver) {
		select {
		case c.heard <- t:
		default: // there is one voice in a call
		}
	})
	c.pc.OnDataChannel(func(d *pion.DataChannel) {
		if d.Label() != channelLabel || !c.words.open(d) {
			_ = d.Close()
		}
	})
}

// reports reads what the client says of what reaches it, which tells how long
// that takes.
func (c *Call) reports(sender *pion.RTPSender) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, p := range packets {
			if r, ok := p.(*rtcp.ReceiverReport); ok {
				c.trip.take(r.Reports, time.Now())
			}
		}
	}
}

// played passes on how far the client has come.
func (c *Call) played(id string, upTo time.Duration) {
	c.sessionMu.Lock()
	s := c.session
	c.sessionMu.Unlock()
	if s != nil {
		s.Played(id, upTo)
	}
}

// Send queues a message for the client, as text on the data channel. Clients
// that have no channel get none.
func (c *Call) Send(_ context.Context, m contract.ServerMessage) error {
	if err := c.over(); err != nil {
		return err
	}
	if v, ok := m.(contract.WebSocketError); ok && v.RequestID == "" {
		v.RequestID = c.requestID
		m = v
	}
	data, err := m.MarshalJSON()
	if err != nil {
		return err
	}
	return c.words.put(data)
}

// Play queues sound for the client.
func (c *Call) Play(_ context.Context, s contract.Sound) error {
	if err := c.over(); err != nil {
		return err
	}
	return c.voice.play(s)
}

// Kept is how many samples wait for more.
func (c *Call) Kept() int { return c.voice.kept() }

// Cut drops the sound that was not sent. What is on its way is heard for the
// tenth of a second that it lasts.
func (c *Call) Cut() { c.voice.cut() }

// Close ends the call after what is queued. It returns at once; only the first
// call counts.
func (c *Call) Close(code int, reason string) {
	c.once.Do(func() {
		c.code, c.reason = code, reason
		close(c.closing)
	})
}

// over returns why nothing can be sent any more, or nil.
func (c *Call) over() error {
	if c.gone.Err() != nil {
		return context.Cause(c.gone)
	}
	select {
	case <-c.closing:
		return ErrClosed
	default:
		return nil
	}
}

// parting is how long the client has to take the last words, and hear the last
// sound behind them.
const parting = time.Second

// finish ends the connection, after what was said where it ended as it should.
func (c *Call) finish() {
	if c.gone.Err() == nil {
		c.sayGoodbye()
		c.drop(ErrClosed)
	}
	_ = c.pc.GracefulClose()
	c.words.close()
	c.workers.Wait()
}

func (c *Call) sayGoodbye() {
	c.Close(contract.CloseNormal, "")
	if c.code == contract.CloseNormal {
		select {
		case <-c.voice.drained():
			wait(c.gone, c.voice.delay())
		case <-c.gone.Done():
		}
	} else {
		c.voice.cut()
	}
	ctx, cancel := context.WithTimeout(c.gone, parting)
	defer cancel()
	c.words.goodbye(ctx, c.code, c.reason)
}

// wait lets some time pass.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
