package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line"
	"parley/appliance/line/ws"
)

// startTimeout is how long the start message may take. Providers send it at once.
const startTimeout = 10 * time.Second

const (
	// closeUnsupported is the close code of a stream with another format of sound, closeBadData that of
	// a message that is not valid JSON (RFC 6455, section 7.4.1).
	closeUnsupported = 1003
	closeBadData     = 1007
)

// errOver ends the reading of messages.
var errOver = errors.New("the call is over")

// A Call is a telephone call whose sound comes and goes over a stream.
type Call struct {
	ticket Ticket
	socket *ws.TextSocket
	log    *slog.Logger
	ear    *ear
	mouth  *mouth // nil before the start message

	hangUp sync.Once
	done   chan struct{} // closed when the call is over

	mu    sync.Mutex
	why   error // of the end; nil for a normal one
	press func(key rune)
}

func newCall(socket *ws.TextSocket, log *slog.Logger) (*Call, error) {
	ear, err := newEar()
	if err != nil {
		return nil, err
	}
	return &Call{
		socket: socket,
		log:    log.With("client", socket.Client, "request", socket.RequestID),
		ear:    ear,
		done:   make(chan struct{}),
	}, nil
}

// Client returns the network address of the provider's end, without its port.
func (c *Call) Client() string { return c.socket.Client }

// Context returns a context that ends when the connection to the provider is gone.
func (c *Call) Context() context.Context { return c.socket.Gone() }

// Ticket returns what the box knows of the call.
func (c *Call) Ticket() Ticket { return c.ticket }

// carry reads the messages of the provider until the call is over. After the start message it calls
// answered on a goroutine of the call; the message may take as long as timeout. token is that of the URL, or "".
func (c *Call) carry(token string, all *tokens, timeout time.Duration, answered func() error) {
	defer c.end()
	late := time.AfterFunc(timeout, func() {
		_ = c.refuse(contract.ClosePolicy, fmt.Errorf("no start message within %s", timeout))
	})
	defer late.Stop()
	started := false
	c.socket.Receive(func(message []byte) error {
		m, err := parse(message)
		switch {
		case err != nil:
			return c.refuse(closeBadData, err)
		case started:
			return c.take(m)
		case m.Event != "start":
			return nil
		}
		if late.Stop(); !c.start(m, token, all) {
			return errOver
		}
		started = true
		c.socket.Go("a call", func() {
			defer c.HangUp()
			if err := answered(); err != nil {
				c.refuseChat(err)
			}
		})
		return nil
	})
}

// start begins the call with the provider's start message. It returns false after it has refused the stream.
func (c *Call) start(m received, token string, all *tokens) bool {
	if m.Start.StreamSID == "" {
		m.Start.StreamSID = m.StreamSID
	}
	if m.Start.StreamSID == "" {
		_ = c.refuse(contract.ClosePolicy, errors.New("start.streamSid is missing"))
		return false
	}
	if err := m.Start.MediaFormat.check(); err != nil {
		_ = c.refuse(closeUnsupported, err)
		return false
	}
	if t, ok := m.Start.CustomParameters[tokenParameter].(string); ok && t != "" {
		token = t
	}
	ticket, err := all.redeem(token, time.Now())
	if err != nil {
		_ = c.refuse(contract.ClosePolicy, err)
		return false
	}
	if ticket.CallSID == "" {
		ticket.CallSID = m.Start.CallSID
		ticket.Twilio["call_sid"] = ticket.CallSID
	}
	c.ticket = ticket
	c.log = c.log.With("call_sid", ticket.CallSID)
	c.mouth = newMouth(m.Start.StreamSID, c.socket.Send)
	c.socket.Go("speaking", func() { c.mouth.run(c.socket.Gone()) })
	return true
}

// take handles a message after the start. Unknown ones are ignored, as the protocol may get more.
func (c *Call) take(m received) error {
	switch m.Event {
	case "media":
		if !m.Media.isInbound() {
			return nil
		}
		sound, err := m.Media.sound()
		if err != nil {
			return c.refuse(closeBadData, err)
		}
		c.ear.take(piece{chunk: m.Media.Chunk, timestamp: m.Media.Timestamp, sound: sound}, c.socket.Gone())
	case "mark":
		c.mouth.returned(m.Mark.Name)
	case "dtmf":
		c.mu.Lock()
		press := c.press
		c.mu.Unlock()
		if key := []rune(m.DTMF.Digit); press != nil && len(key) == 1 && isKey(key[0]) {
			press(key[0])
		}
	case "stop":
		c.socket.Close(contract.CloseNormal, "")
		return errOver
	}
	return nil
}

// refuse ends the call with a close code because of what the provider sent. It returns errOver.
func (c *Call) refuse(code int, why error) error {
	c.log.Info("a media stream was closed", "code", code, "why", why)
	c.fail(why)
	c.socket.Close(code, why.Error())
	return errOver
}

// closeTryLater is the close code Try Again Later of the IANA registry.
const closeTryLater = 1013

// refuseChat ends a call for which there is no chat. The details of an internal error are only logged.
func (c *Call) refuseChat(err error) {
	f, isFault := errors.AsType[contract.Fault](err)
	_, isMissing := errors.AsType[contract.ErrNotFound](err)
	switch {
	case isBusy(err):
		_ = c.refuse(closeTryLater, err)
	case isFault && f.Code.Fatal():
		_ = c.refuse(f.Code.CloseCode(), err)
	case isFault, isMissing:
		_ = c.refuse(contract.ClosePolicy, err)
	default:
		c.log.Error("cannot open a chat", "err", err)
		_ = c.refuse(contract.CloseInternal, errors.New(contract.Internal.Slug()))
	}
}

// fail notes why the call ends. The first reason counts.
func (c *Call) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil {
		c.why = why
	}
}

// end notes that the call is over. A connection that was closed is a caller who has hung up.
func (c *Call) end() {
	if why := context.Cause(c.socket.Gone()); why != nil && !errors.Is(why, line.ErrLeft) &&
		!errors.Is(why, line.ErrClosed) {
		c.fail(why)
	}
	close(c.done)
}

// Done is closed when the call is over.
func (c *Call) Done() <-chan struct{} { return c.done }

// Err returns why the call ended; nil if either side hung up.
func (c *Call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// HangUp ends the call when the sound that was played has been heard. It returns at once.
func (c *Call) HangUp() {
	c.hangUp.Do(func() {
		go func() {
			select {
			case <-c.Drained():
			case <-c.done:
			}
			c.socket.Close(contract.CloseNormal, "")
		}()
	})
}

// Listen passes on what the caller says, mono at engine.SpeechRateHz without gaps, and the keys that the
// caller presses. It is called once. hear owns the sound and may block.
func (c *Call) Listen(hear func(pcm []float32), press func(key rune)) {
	c.mu.Lock()
	c.press = press
	c.mu.Unlock()
	c.socket.Go("hearing", func() { c.ear.run(c.socket.Gone(), hear) })
}

// Transfer returns ErrCannotTransfer.
func (c *Call) Transfer(context.Context, string) error { return ErrCannotTransfer }

// OnHold does nothing: the provider does not say whether the caller holds the call.
func (c *Call) OnHold(func(held bool)) {}

// Stats returns what is known of the connection.
func (c *Call) Stats() contract.PhoneMedia { return c.ear.stats() }
