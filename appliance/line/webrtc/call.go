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
	"parley/appliance/line/rtp"
)

// The reasons for which a call ends, besides those of all lines.
var (
	errLost      = errors.New("the connection is lost")
	errNeverCame = errors.New("no connection came about")
	errChannels  = errors.New("the client opens channel after channel")
	errStreams   = errors.New("the client sends with number after number")
	errAddresses = errors.New("the client comes from address after address")
	errChannel   = errors.New("the client's channel is closed")
)

// Call is a client's call. It implements connection.Line.
type Call struct {
	id, account, client string

	pc        *pion.PeerConnection
	track     *pion.TrackLocalStaticRTP // of the voice
	sender    *pion.RTPSender           // sends track; nil if the client takes no voice
	voice     *voice
	channel   *dataChannel
	roundTrip *rtp.RoundTrip
	beat      rtp.Clock
	timing    Timing
	log       *slog.Logger
	lifecycle *line.Lifecycle
	errs      line.ErrorLimiter // used by the sender

	offers        sync.Mutex   // one exchange of descriptions at a time
	remote        string       // the client's newest description
	etag          string       // of the newest answer
	candidates    int          // sectionByMid by the client besides its offers
	extraChannels atomic.Int32 // number of data channels besides that of the messages
	inflow        inflow       // of the data channels

	joined   chan struct{} // closed when the first connection is up
	joinOnce sync.Once
	session  line.AuthorizedSession // set when opened is closed
	opened   chan struct{}
	tracks   chan *pion.TrackRemote
}

// ID returns the id of the call in its URL.
func (c *Call) ID() string { return c.id }

// watch handles the events of the connection.
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
		case c.tracks <- t:
		default: // a call has one voice; a few more tracks are ignored
		}
	})
	c.pc.OnDataChannel(func(d *pion.DataChannel) {
		defer c.lifecycle.Recover("taking a channel", func() { c.lifecycle.Drop(line.ErrPanicked) })
		c.takeChannel(d)
	})
}

// reports reads the client's reception reports, for the round-trip time and the packet
// loss.
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
			case *rtcp.SenderReport: // of a client that also speaks
				c.reported(r.Reports)
			}
		}
	}
}

func (c *Call) reported(reports []rtcp.ReceptionReport) {
	if len(reports) > 0 {
		c.roundTrip.Update(reports, time.Now())
		c.voice.lossy.Store(c.roundTrip.Lossy(reports))
	}
}

// played reports to the session what the client has played.
func (c *Call) played(id string, upTo time.Duration) {
	select {
	case <-c.opened:
		c.session.Played(id, upTo)
	default: // a greeting, before the session is set
	}
}

// Send queues a message as text on the data channel. A client without a channel gets no
// messages.
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
	return c.voice.Play(s)
}

// HeldBack returns the number of samples that wait for more.
func (c *Call) HeldBack() int { return c.voice.HeldBack() }

// Unsent returns 0, because the call reports what was played.
func (c *Call) Unsent() time.Duration { return 0 }

// Cut drops the sound that was not sent. The tenth of a second on its way is still heard.
func (c *Call) Cut() { c.voice.Cut() }

// Close ends the call after what is queued. It returns at once; only the first call counts.
func (c *Call) Close(code int, reason string) { c.lifecycle.Close(code, reason) }

// closeTimeout is how long the client has to receive the last messages and play the last
// sound.
const closeTimeout = time.Second

// finish closes the connection. If the session closed the call, finish first sends what is
// queued.
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
		case <-c.voice.Drained():
			wait(c.lifecycle.Gone(), c.roundTrip.Delay())
		case <-c.lifecycle.Gone().Done():
		}
	} else {
		c.voice.Cut()
	}
	ctx, cancel := context.WithTimeout(c.lifecycle.Gone(), closeTimeout)
	defer cancel()
	c.channel.goodbye(ctx, code, reason)
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
