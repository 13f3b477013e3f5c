// Package line holds what all lines have in common, whatever they carry a
// conversation over: what they ask of the box, how they begin and end, what they
// do with a client's messages and with one that may not be there any more.
package line

import (
	"context"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// A Host has room for conversations.
type Host interface {
	// Reserve takes room for one conversation of an account before the client
	// is answered, so that a full box (contract.ErrFull), or an account that
	// has all it may (contract.ErrTooMany), can still be told over HTTP.
	Reserve(account string) (Slot, error)
}

// A Seat is reserved room.
type Slot interface {
	// Open begins the conversation. The session may send on o.Line at once. A
	// contract.Fault is told to the client (Refuse). The session releases the
	// seat.
	Open(ctx context.Context, o connection.Opening) (Session, error)
	// Release gives the seat back where there is no session. It may be called
	// once more than is needed.
	Release()
}

// A Session is one live conversation, as a line uses it. After an error of any of
// these it is over.
type Session interface {
	Receive(m contract.ClientMessage) error
	// Hear takes sound, mono at engine.SpeechRateHz, and owns it.
	Hear(pcm []float32) error
	// Audio is the format of headerless audio that is in force, for lines whose
	// clients choose one; nil is a container.
	Audio() *contract.AudioConfiguration
	// Played says how much of the sound of an assistant message was played. It is
	// for lines that know.
	Played(id string, upTo time.Duration)
	// Fault takes a message that could not be read, so that its error comes in
	// order with the rest.
	Fault(code contract.Code, detail string) error
	// HangUp says that the client is gone, and CutOff that the line has cut it off,
	// and why: that is an error.
	HangUp()
	CutOff(why error)
	// Done is closed when the session is over, after it has closed the line.
	Done() <-chan struct{}
}
