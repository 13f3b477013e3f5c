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

// dialFilter decides to which addresses connections for a custom language model may go, whose URL
// any client with a key may choose. It checks the resolved address, so that a name that resolves
// differently the second time gains nothing, and before the first packet, so that the error does
// not depend on what listens there.
type dialFilter struct {
	allowed   addresses.Allowed
	encrypted bool
	table     addresses.Table
}

// errNotAllowed reports an address to which a custom language model may not connect.
type errNotAllowed struct {
	why    string // with the address, for the operator
	public string // for the model's developer
}

func (e errNotAllowed) Error() string { return e.why }

func isNotAllowed(err error) bool {
	_, ok := errors.AsType[errNotAllowed](err)
	return ok
}

// dial connects to address, HOST:PORT, if it resolves to an allowed address.
func (d dialFilter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	dialer.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		return d.check(address, resolved)
	}
	return dialer.DialContext(ctx, network, address)
}

// check returns an errNotAllowed if address, which has resolved to resolved, is not allowed.
func (d dialFilter) check(address, resolved string) error {
	to, err := d.table.Destination(resolved)
	if err != nil {
		return errNotAllowed{err.Error(), "The box connects to no such address."}
	}
	host, _, err := net.SplitHostPort(address)
	switch {
	case to.Kind == addresses.Public && d.encrypted:
		return nil
	case to.Kind == addresses.Public:
		return errNotAllowed{to.String() + ", and the URL is not encrypted: use https or wss", publicPlain}
	case to.Kind == addresses.Special:
		return errNotAllowed{to.String(), special}
	case err == nil && d.allowed.Allows(host, to):
		return nil
	}
	line := fmt.Sprintf("models: {allow: [%s]}", strconv.Quote(allowEntry(address, to)))
	return errNotAllowed{to.String() + ": " + toAllow + ", and start the box anew: " + line,
		local + toAllow + ": " + line}
}

// The public details of refused addresses.
const (
	publicPlain = "Its address is public, and its URL is not encrypted: use https:// or wss://."
	special     = "The box connects to no such address: it is link-local, of a cloud's own services, or no server's."
	local       = "Its address is in the box's own network, where only the operator of the box can allow it: "
	toAllow     = "to allow it, put this line into parley.yaml, or its entry behind those that models.allow has there"
)

// allowEntry returns the entry of models.allow for address, which has resolved to to.
func allowEntry(address string, to addresses.Destination) string {
	if _, err := addresses.ParseAllowed([]string{address}); err == nil {
		return address
	}
	return netip.AddrPortFrom(to.IP, to.Port).String()
}
