package webhook

import (
	"context"
	"syscall"

	"parley/internal/addresses"
)

// dialFilter decides which addresses a webhook may go to. It checks each connection with
// the address that the DNS lookup returned for it, so changing DNS answers cannot bypass
// it.
type dialFilter struct {
	plain        bool // for http, which may go to private addresses only
	allowPrivate bool // by the settings
	table        addresses.Table
}

// ErrRefused is the error for an address that webhooks may not go to.
type ErrRefused struct{ Why string }

func (e ErrRefused) Error() string { return "refused: " + e.Why }

// control refuses a connection before its first packet (net.Dialer.ControlContext).
func (g dialFilter) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := g.table.Destination(address)
	switch {
	case err != nil:
		return ErrRefused{err.Error()}
	case to.Kind == addresses.Special:
		return ErrRefused{to.String() + "; webhooks never go there"}
	case to.Kind != addresses.Public:
		if !g.allowPrivate {
			return ErrRefused{to.String() + "; set webhooks.allow_private to let webhooks go there"}
		}
	case g.plain:
		return ErrRefused{to.String() + ", and http:// is not encrypted; use https://"}
	}
	return nil
}
