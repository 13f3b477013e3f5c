package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"parley/internal/addresses"
)

// dialFilter says to which addresses connections for a custom language model may go,
// which anybody with a key may name. It is asked with the address itself, after
// the name was resolved, so a name that leads elsewhere the second time gains
// nothing, and before the first packet, so the error is the same whatever
// listens there.
type dialFilter struct {
	allowed   addresses.Allowed
	encrypted bool
	table     addresses.Table
}

// errNotAllowed is why a connection is not made: the address is not one that a
// custom language model may have.
type errNotAllowed struct {
	why    string // with the address, for the operator
	public string // for the model's developer
}

func (e errNotAllowed) Error() string { return e.why }

func isNotAllowed(err error) bool {
	_, ok := errors.AsType[errNotAllowed](err)
	return ok
}

// dial connects to address, HOST:PORT, where that leads to an address that is
// allowed.
func (g dialFilter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	dialer.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		return g.check(address, resolved)
	}
	return dialer.DialContext(ctx, network, address)
}

// check returns an errNotAllowed where address, which has led to resolved, may not
// be connected to.
func (g dialFilter) check(address, resolved string) error {
	to, err := g.table.Destination(resolved)
	if err != nil {
		return errNotAllowed{err.Error(), "The box connects to no such address."}
	}
	host, _, err := net.SplitHostPort(address)
	switch {
	case to.Kind == addresses.Public && g.encrypted:
		return nil
	case to.Kind == addresses.Public:
		return errNotAllowed{to.String() + ", and the URL is not encrypted: use https or wss", publicPlain}
	case to.Kind == addresses.Special:
		return errNotAllowed{to.String(), special}
	case err == nil && g.allowed.Allows(host, to):
		return nil
	}
	line := fmt.Sprintf("models: {allow: [%s]}", strconv.Quote(allowEntry(address, to)))
	return errNotAllowed{to.String() + ": " + toAllow + ", and start the box anew: " + line,
		local + toAllow + ": " + line}
}

// What is said of an address that is refused.
const (
	publicPlain = "Its address is public, and its URL is not encrypted: use https:// or wss://."
	special     = "The box connects to no such address: it is link-local, of a cloud's own services, or no server's."
	local       = "Its address is in the box's own network, where only the operator of the box can allow it: "
	toAllow     = "to allow it, put this line into parley.yaml, or its entry behind those that models.allow has there"
)

// allowEntry is the entry of models.allow for address, which has led to a place.
func allowEntry(address string, to addresses.Destination) string {
	if _, err := addresses.ParseAllowed([]string{address}); err == nil {
		return address
	}
	return netip.AddrPortFrom(to.IP, to.Port).String()
}
