// Package line holds what all lines share, whatever carries the conversation: what they
// need from the box, their lifecycle, and the handling of a client's messages and
// authorization.
package line

import (
	"context"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// A Host has slots for chats.
type Host interface {
	// Reserve reserves a slot for a chat of an account, before the client gets its HTTP
	// response. So a full box (contract.ErrFull), or an account at its limit
	// (contract.ErrTooMany), can still be reported over HTTP.
	Reserve(account string) (Slot, error)
}

// A Slot is the right to run one chat.
type Slot interface {
	// Open starts the chat. The session may send on o.Line at once, and releases the slot
	// at its end. A contract.Fault is an error for the client (Refuse).
	Open(ctx context.Context, o connection.Opening) (Session, error)
	// Release releases the slot if there is no session. It may be called again.
	Release()
}

// A Session is one live chat, as a line uses it. After an error of any method it is over.
type Session interface {
	Receive(m contract.ClientMessage) error
	// Hear takes over pcm, mono at engine.SpeechRateHz.
	Hear(pcm []float32) error
	// Audio returns the current format of headerless audio, for lines whose clients choose
	// one; nil means a container.
	Audio() *contract.AudioConfiguration
	// Played reports how much of the sound of an assistant message was played, for lines
	// that know.
	Played(id string, upTo time.Duration)
	// Fault reports an unreadable message, so that its error is sent in order.
	Fault(code contract.Code, detail string) error
	// HangUp reports that the client is gone. CutOff reports that the line has dropped the
	// client, and why; the chat then ends with an error.
	HangUp()
	CutOff(why error)
	// Done is closed when the session is over and has closed the line.
	Done() <-chan struct{}
}
