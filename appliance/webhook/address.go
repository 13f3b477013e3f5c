package webhook

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"parley/internal/addresses"
)

// guard says which addresses a webhook may go to. It is asked when a connection
// is made, with the address that the name has led to: what a name led to before
// does not count, so a name that changes its mind gains nothing.
type guard struct {
	plain        bool // for http: only within the house
	allowPrivate bool // the operator lets webhooks go to private addresses
	own          func() []netip.Addr
	table        addresses.Table
}

// newGuard returns the guard of what is sent over http (plain) or https. own are
// the addresses of this machine.
func newGuard(plain, allowPrivate bool, own func() []netip.Addr) guard {
	return guard{plain: plain, allowPrivate: allowPrivate, own: own, table: addresses.NewTable()}
}

// ErrRefused is an address that webhooks may not go to.
type ErrRefused struct{ Why string }

func (e ErrRefused) Error() string { return "refused: " + e.Why }

// control refuses a connection before its first packet (net.Dialer.ControlContext).
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrRefused{fmt.Sprintf("%q is not an address", address)}
	}
	return g.check(to.Addr())
}

// check returns an ErrRefused where a webhook may not go to ip.
func (g guard) check(ip netip.Addr) error {
	ip = g.table.Meant(ip)
	kind := g.table.Kind(ip)
	switch {
	case kind == addresses.Special:
		return ErrRefused{fmt.Sprintf("webhooks never go to %s: it is link-local, of a cloud's own services, or no receiver's address", ip)}
	case kind != addresses.Public || slices.Contains(g.own(), ip):
		if !g.allowPrivate {
			return ErrRefused{fmt.Sprintf("%s is %s address; set webhooks.allow_private to let webhooks go there", ip, named(kind))}
		}
	case g.plain:
		return ErrRefused{fmt.Sprintf("%s is public, and http:// is not encrypted; use https://", ip)}
	}
	return nil
}

func named(k addresses.Kind) string {
	switch k {
	case addresses.Box:
		return "the box's own loopback"
	case addresses.Private:
		return "a private"
	}
	return "the box's own"
}
