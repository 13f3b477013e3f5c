package sip

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
	"parley/internal/sipuri"
)

// numberOrUser matches numbers without separators, and names of users.
var numberOrUser = regexp.MustCompile(`^(\+?[0-9*#]{1,40}|[A-Za-z0-9][A-Za-z0-9_.+-]{0,63})$`)

// callee returns the SIP URI of whom to call over a trunk: a number (digits, * and #,
// perhaps after a +, with the separators that people write), the name of a user, or a SIP
// URI of a user of the trunk itself. A URI of another host is refused: a trunk is there
// for its own numbers, and a caller must not make the box send requests anywhere else.
// The URI has no character that could begin another header.
func (t *trunk) callee(to string) (sip.Uri, error) {
	to = strings.TrimSpace(to)
	if scheme, rest, ok := strings.Cut(to, ":"); ok {
		if scheme = strings.ToLower(scheme); scheme != "sip" && scheme != "sips" {
			return sip.Uri{}, fmt.Errorf("%q is no SIP address; expected sip:USER@HOST", contract.Clip(to))
		}
		return t.ownUser(to, rest)
	}
	number, err := contract.ParsePhoneNumber(to)
	if err != nil || !numberOrUser.MatchString(number) {
		return sip.Uri{}, fmt.Errorf("%q is neither a number nor a SIP address; expected something like +4930123456, "+
			"100 or sip:desk@%s", contract.Clip(to), t.host())
	}
	return t.uri(number), nil
}

// ownUser returns the URI of a user of the trunk. text is the whole URI, and rest what
// follows its scheme.
func (t *trunk) ownUser(text, rest string) (sip.Uri, error) {
	user, host, ok := strings.Cut(rest, "@")
	if !ok || user == "" {
		return sip.Uri{}, fmt.Errorf("%q names no user; expected sip:USER@%s", contract.Clip(text), t.host())
	}
	var u sip.Uri
	err := sip.ParseUri("sip:"+escapeUser(user)+"@"+host, &u)
	if err != nil || !printable(text) || strings.Contains(host, "?") {
		return sip.Uri{}, fmt.Errorf("%q is no SIP address", contract.Clip(text))
	}
	if !t.owns(u.Host) {
		return sip.Uri{}, fmt.Errorf("%q is at %s, which the trunk %s does not serve; its host is %s",
			contract.Clip(text), u.Host, t.Name, t.host())
	}
	return t.reached(u), nil
}

// reached returns the URI by which a user of the trunk is called. A telephone in a network
// of the trunk is called as it is named, and others at the trunk's host.
func (t *trunk) reached(u sip.Uri) sip.Uri {
	if t.inNetwork(u.Host) {
		return sip.Uri{
			Scheme: "sip",
			User:   u.User,
			Host:   u.Host,
			Port:   u.Port,
		}
	}
	at := t.uri("")
	at.User = u.User
	return at
}

// inNetwork reports whether a host in a SIP URI is not the trunk's own host, but an address
// in one of its networks.
func (t *trunk) inNetwork(host string) bool { return !t.names(host) && t.owns(host) }

// names reports whether a host in a SIP URI is one that the settings name.
func (t *trunk) names(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host != "" && (host == strings.ToLower(t.record().Host) ||
		slices.ContainsFunc(t.peers, func(a sipuri.Address) bool { return a.Host == host }))
}

// owns reports whether a host in a SIP URI is the trunk: one of its hosts, or an address
// of it.
func (t *trunk) owns(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return t.names(host) || err == nil && t.has(ip)
}

// escapeUser escapes what may not stand in the user part of a SIP URI (RFC 3261, section
// 25.1), such as the # of a service code. Escapes that are there stay.
func escapeUser(user string) string {
	const unreserved = "-_.!~*'()+"
	var b strings.Builder
	for i := range len(user) {
		c := user[i]
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', strings.IndexByte(unreserved, c) >= 0:
			b.WriteByte(c)
		case c == '%' && i+2 < len(user) && isHex(user[i+1]) && isHex(user[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f'
}

// printable reports whether text has only visible ASCII characters.
func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}
