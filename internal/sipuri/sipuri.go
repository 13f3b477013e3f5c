// Package sipuri parses the addresses of SIP peers as people write them in settings.
package sipuri

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Address is where a SIP peer is, or a network of peers. Exactly one of Host and Network
// is set.
type Address struct {
	Host      string // a domain name, or an IP address without brackets
	Port      uint16 // 0: what DNS says, else the usual one of the transport
	Transport string // udp, tcp or tls; empty: what DNS says, else udp
	// Network holds addresses from which calls come. The box cannot call a network.
	Network netip.Prefix
}

// String returns the address in a spelling that ParseAddresses takes.
func (a Address) String() string {
	if a.Network.IsValid() {
		return a.Network.String()
	}
	s := a.Host
	if strings.Contains(s, ":") {
		s = "[" + s + "]"
	}
	if a.Port != 0 {
		s += ":" + strconv.Itoa(int(a.Port))
	}
	if a.Transport != "" {
		s = a.Transport + "://" + s
	}
	return s
}

// maxAddresses bounds how many addresses one peer has: a provider names two or three.
const maxAddresses = 16

// ParseAddresses parses a list of addresses, separated by commas or white space. An
// address is written as HOST, HOST:PORT, udp://HOST:PORT (also tcp and tls), as a SIP URI
// such as sip:HOST:PORT;transport=tls, or as a network such as 192.0.2.0/24. An error
// says which address is wrong and what is allowed.
func ParseAddresses(list string) ([]Address, error) {
	words := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("no address; expected a host such as 192.0.2.10 or sip.example.org:5060")
	case len(words) > maxAddresses:
		return nil, fmt.Errorf("%d addresses; at most %d are allowed", len(words), maxAddresses)
	}
	all := make([]Address, len(words))
	for i, w := range words {
		a, err := parse(w)
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", w, err)
		}
		all[i] = a
	}
	return all, nil
}

func parse(text string) (Address, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return Address{Network: p.Masked()}, nil
	}
	transport, rest, err := cutScheme(text)
	if err != nil {
		return Address{}, err
	}
	rest, parameters, _ := strings.Cut(rest, ";")
	if transport, err = withParameters(transport, parameters); err != nil {
		return Address{}, err
	}
	if strings.Contains(rest, "@") {
		return Address{}, fmt.Errorf("names a user; expected the host alone, and the user in the setting of its own")
	}
	if strings.ContainsAny(rest, "/?") {
		return Address{}, fmt.Errorf("is neither a host nor a network such as 192.0.2.0/24")
	}
	a := Address{Transport: transport}
	a.Host, a.Port, err = hostPort(rest)
	return a, err
}

// transports are those that the box speaks.
func transports() []string { return []string{"udp", "tcp", "tls"} }

// cutScheme takes udp://, tcp://, tls://, sip: or sips: off the beginning of text.
func cutScheme(text string) (transport, rest string, err error) {
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		scheme = strings.ToLower(scheme)
		if !slices.Contains(transports(), scheme) {
			return "", "", fmt.Errorf("the transport is %q; expected udp, tcp or tls", scheme)
		}
		return scheme, rest, nil
	}
	switch lower := strings.ToLower(text); {
	case strings.HasPrefix(lower, "sips:"):
		return "tls", text[len("sips:"):], nil
	case strings.HasPrefix(lower, "sip:"):
		return "", text[len("sip:"):], nil
	}
	return "", text, nil
}

// withParameters returns the transport that the parameters of a SIP URI name, or else
// transport. The parameter lr says nothing about a peer and is ignored.
func withParameters(transport, parameters string) (string, error) {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.ToLower(p), "=")
		switch {
		case name == "" || name == "lr":
		case name != "transport":
			return "", fmt.Errorf("the parameter is %q; expected transport", name)
		case !slices.Contains(transports(), value):
			return "", fmt.Errorf("the transport is %q; expected udp, tcp or tls", value)
		case transport == "tls" && value == "tcp": // sips:HOST;transport=tcp is TLS over TCP
		case transport != "" && transport != value:
			return "", fmt.Errorf("names two transports, %s and %s", transport, value)
		default:
			transport = value
		}
	}
	return transport, nil
}

// domainName matches a name of RFC 1123; an underscore stands in names of local networks.
var domainName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?\.?$`)

// numeric matches what was meant as an IPv4 address.
var numeric = regexp.MustCompile(`^[0-9.]+$`)

func hostPort(text string) (host string, port uint16, err error) {
	if ip, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return ip.Unmap().String(), 0, nil
	}
	host = text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		n, err := strconv.ParseUint(text[i+1:], 10, 16)
		if err != nil || n == 0 {
			return "", 0, fmt.Errorf("the port is %q; expected 1 to 65535", text[i+1:])
		}
		host, port = text[:i], uint16(n)
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return ip.Unmap().String(), port, nil
	}
	if !domainName.MatchString(host) || numeric.MatchString(host) || strings.Contains(host, "..") {
		return "", 0, fmt.Errorf("%q is neither an IP address nor a name", host)
	}
	return strings.TrimSuffix(strings.ToLower(host), "."), port, nil
}
