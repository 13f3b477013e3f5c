package chat

import (
	"context"

	"parley/appliance/contract"
)

// A Line carries one conversation to a person and back. It calls the
// Session's Receive, Hear, Fault and HangUp; the session calls it.
type Line interface {
	// Send gives the client a message. It is called by one goroutine, in
	// order, and blocks no longer than the line's own bound; an error means
	// that the line is gone or too slow.
	Send(ctx context.Context, m contract.ServerMessage) error
	// Close ends the line. It is called once, after the last Send, with a
	// WebSocket close code that other lines map to their own.
	Close(code int, reason string)
}
