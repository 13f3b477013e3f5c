package webrtc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// Why a call is over, beside the reasons of all lines.
var (
	errLost      = errors.New("the connection is lost")
	errNeverCame = errors.New("no connection came about")
	errChannels  = errors.New("the client opens channel after channel")
	errStreams   = errors.New("the client sends with number after number")
	errAddresses = errors.New("the client comes from address after address")
	errChannel   = errors.New("the client's channel is closed")
)

// Call is one client's connection. It is a chat.Line.
type Call struct {
	id, account, client string

	pc        *pion.PeerConnection
	track     *pion.TrackLocalStaticRTP // socket the voice
	sender    *pion.RTPSender           // over which it goes; nil where the client takes none
	voice     *voice
	channel   *dataChannel
	roundTrip *roundTrip
	beat      batchClock
	timing    Timing
	log       *slog.Logger
	lifecycle *line.Lifecycle
	errs      line.ErrorLimiter // socket the sender

	offers     sync.Mutex   // one exchange of descriptions at a time
	remote     string       // the newest description of the client's
	etag       string       // socket the newest answer
	candidates int          // named by the client beside its offers
	strangers  atomic.Int32 // data channels beside that of the messages
	inflow     inflow       // on data channels

	joined   chan struct{} // closed at the first connection
	joinOnce sync.Once
	session  line.AuthorizedSession // when opened is closed
	opened   chan struct{}
	heard    chan *pion.TrackRemote
}

// ID names the call towards its client.
func (c *Call) ID() string { return c.id }

// watch follows the connection, as the library tells of it.
func (c *Call) watch() {
	c.pc.OnConnectionStateChange(func(s pion.PeerConnectionState) {
		c.log.Debug("call", "state", s.String())
		switch s {
		case pion.PeerConnectionStateConnected:
			c.joinOnce.Do(func() { close(c.joined) })
		case pion.PeerConnectionStateFailed:
			c.lifecycle.Drop(errLost)
		case pion.PeerConnectionStateClosed:
			c.lifecycle.Drop(line.ErrLeft)
		}
	})
	c.pc.OnTrack(func(t *pion.TrackRemote, _ *pion.RTPReceiver) {
		select {
		case c.heard <- t:
		default: // there is one voice in a call, and a few are passed over
		}
	})
	c.pc.OnDataChannel(func(d *pion.DataChannel) {
		defer c.lifecycle.Recover("taking a channel", func() { c.lifecycle.Drop(line.ErrPanicked) })
		c.takeChannel(d)
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
			switch r := p.(type) {
			case *rtcp.ReceiverReport:
				c.reported(r.Reports)
			case *rtcp.SenderReport: // socket a client that speaks, too
				c.reported(r.Reports)
			}
		}
	}
}

func (c *Call) reported(reports []rtcp.ReceptionReport) {
	if len(reports) > 0 {
		c.roundTrip.update(reports, time.Now())
		c.voice.lossy.Store(c.roundTrip.lossy(reports))
	}
}

// played passes on how far the client has come.
func (c *Call) played(id string, upTo time.Duration) {
	select {
	case <-c.opened:
		c.session.Played(id, upTo)
	default: // a greeting: the session is about to be there
	}
}

// Send queues a message for the client, as text on the data channel. Clients
// that have no channel get none.
func (c *Call) Send(_ context.Context, m contract.ServerMessage) error {
	if err := c.lifecycle.Err(); err != nil {
		return err
	}
	m, tooOften := c.errs.Note(m)
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	if err := c.channel.put(data); err != nil {
		return err
	}
	if tooOften != nil {
		c.Close(contract.ClosePolicy, tooOften.Error())
		return fmt.Errorf("%w after %w", line.ErrClosed, tooOften)
	}
	return nil
}

// Play queues sound for the client.
func (c *Call) Play(_ context.Context, s contract.Sound) error {
	if err := c.lifecycle.Err(); err != nil {
		return err
	}
	return c.voice.play(s)
}

// Kept is how many samples wait for more.
func (c *Call) HeldBack() int { return c.voice.heldSamples() }

// Unsent is 0: what is played is told.
func (c *Call) Unsent() time.Duration { return 0 }

// Cut drops the sound that was not sent. What is on its way is heard for the
// tenth of a second that it lasts.
func (c *Call) Cut() { c.voice.cut() }

// Close ends the call after what is queued. It returns at once; only the first
// call counts.
func (c *Call) Close(code int, reason string) { c.lifecycle.Close(code, reason) }

// closeTimeout is how long the client has to take the last words, and hear the last
// sound behind them.
const closeTimeout = time.Second

// finish ends the connection, after what was said where it ended as it should.
func (c *Call) finish() {
	if c.lifecycle.Gone().Err() == nil {
		c.sendCallEnded()
		c.lifecycle.Drop(line.ErrClosed)
	}
	_ = c.pc.GracefulClose()
	c.channel.close()
	c.lifecycle.Wait()
}

func (c *Call) sendCallEnded() {
	c.Close(contract.CloseNormal, "")
	code, reason := c.lifecycle.Closed()
	if code == contract.CloseNormal {
		select {
		case <-c.voice.drained():
			wait(c.lifecycle.Gone(), c.voice.delay())
		case <-c.lifecycle.Gone().Done():
		}
	} else {
		c.voice.cut()
	}
	ctx, cancel := context.WithTimeout(c.lifecycle.Gone(), closeTimeout)
	defer cancel()
	c.channel.goodbye(ctx, code, reason)
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
