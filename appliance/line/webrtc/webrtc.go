// Package webrtc carries live chats over WebRTC: the voices as Opus in RTP, every
// other message of the contract as text in a data channel. A call begins with an
// offer over HTTP, as WHIP has it (RFC 9725).
package webrtc

import (
	"context"
	"time"

	"parley/appliance/contract"
)

// A Host has room for conversations.
type Host interface {
	// Reserve takes room for one conversation of an account, so that a full box
	// (contract.ErrFull), or an account that has all it may
	// (contract.ErrTooMany), can be told over HTTP.
	Reserve(account string) (Seat, error)
}

// A Seat is reserved room.
type Seat interface {
	// Open begins the conversation. The session may send on o.Line at once. A
	// contract.Fault is told to the client. The session releases the seat.
	Open(ctx context.Context, o Opening) (Session, error)
	// Release gives the seat back where there is no session. It may be called
	// once more than is needed.
	Release()
}

// Opening is what the line knows of a conversation before it begins.
type Opening struct {
	Account   string
	RequestID string // of the offer
	Client    string // its network address
	Settings  contract.ConnectSettings
	Line      *Call
}

// A Session is one live conversation, as the line uses it. After an error of
// any of these it is over.
type Session interface {
	Receive(m contract.ClientMessage) error
	// Hear takes sound, mono at engine.SpeechRateHz, and owns it.
	Hear(pcm []float32) error
	// Played says how much of the sound of an assistant message was played.
	Played(id string, upTo time.Duration)
	// Fault takes a message that could not be read, so that its error comes in
	// order with the rest.
	Fault(code contract.Code, detail string) error
	// HangUp says that the client is gone.
	HangUp()
	// Done is closed when the session is over, after it has closed the line.
	Done() <-chan struct{}
}

// A Pass is what lets a client be in a call. Where its key is revoked, it holds no
// more.
type Pass interface {
	// Watch returns a context that ends when it holds no more. release, called
	// once, gives the watch back.
	Watch() (lost context.Context, release func())
}

// Timing holds the patience of a call. The zero value of each means its default.
type Timing struct {
	// Gather is how long the box may take to list its own addresses, 2 s: it
	// asks nobody else for them, unless servers are configured, which answer
	// within that.
	Gather time.Duration
	// Connect is how long a client may take from the answer to the first
	// connection, 30 s: a person may be asked for the microphone meanwhile.
	Connect time.Duration
	// Silent is after how long without a sign of life a connection counts as
	// broken, 5 s, and Lost how long it may stay so, 15 s more: what a phone needs
	// from one network to the next. So a client that is gone is found within 20 s.
	Silent, Lost time.Duration
	// Write is how long messages may wait for a client that takes none, 10 s.
	Write time.Duration
}

func (t Timing) orDefault() Timing {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&t.Gather, 2*time.Second)
	set(&t.Connect, 30*time.Second)
	set(&t.Silent, 5*time.Second)
	set(&t.Lost, 15*time.Second)
	set(&t.Write, 10*time.Second)
	return t
}
