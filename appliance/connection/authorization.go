package connection

import (
	"context"

	"parley/appliance/contract"
)

// An Authorization is the right of a client to hold a connection open. It ends when
// the key that opened the connection is revoked, regenerated or expires.
type Authorization interface {
	// Check asks whether the authorization is still valid: contract.ErrUnauthorized means no,
	// another error that it is not known.
	Check(ctx context.Context) error
	// Permits returns a contract.Fault for the client if it may not send the message.
	Permits(m contract.ClientMessage) error
	// Watch returns a context that ends when the authorization does. release, called
	// once, ends the watch.
	Watch() (lost context.Context, release func())
}
