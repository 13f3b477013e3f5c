package addresses

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Allowed lists what an operator allows the box to connect to besides public addresses.
// The zero value allows nothing.
type Allowed struct{ entries []entry }

// entry is a name, or a range of addresses.
type entry struct {
	host   string
	prefix netip.Prefix
	port   uint16 // 0: any
}

// ParseAllowed parses a list of hosts, addresses and ranges. A host or an address may
// have a port: llm.lan, llm.lan:8000, 192.168.1.20, [fd00::7]:8000, 192.168.1.0/24.
func ParseAllowed(texts []string) (Allowed, error) {
	var a Allowed
	t := NewTable(nil)
	for _, text := range texts {
		e, err := t.entry(text)
		if err != nil {
			return Allowed{}, err
		}
		a.entries = append(a.entries, e)
	}
	return a, nil
}

func (t Table) entry(text string) (e entry, err error) {
	wrong := fmt.Errorf("%.80q is not allowed: use a host or an address, with or without a port, or a range, "+
		"such as llm.lan, llm.lan:8000, 192.168.1.20, [fd00::7]:8000 or 192.168.1.0/24", text)
	if p, err := netip.ParsePrefix(text); err == nil {
		if p.Addr().Is4In6() {
			return e, wrong
		}
		return entry{prefix: p.Masked()}, nil
	}
	host := text
	if at := strings.LastIndexByte(text, ':'); at >= 0 && (strings.Count(text, ":") == 1 || text[at-1] == ']') {
		n, err := strconv.ParseUint(text[at+1:], 10, 16)
		if err != nil || n == 0 {
			return e, wrong
		}
		host, e.port = text[:at], uint16(n)
	}
	if ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		at := t.At(netip.AddrPortFrom(ip, 0))
		if at.Kind == Special {
			return e, fmt.Errorf("%.80q is not allowed: %s, which the box never calls", text, at)
		}
		e.prefix = netip.PrefixFrom(at.IP, at.IP.BitLen())
		return e, nil
	}
	e.host = plainHost(host)
	if e.host == "" || strings.Trim(e.host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return e, wrong
	}
	return e, nil
}

// plainHost returns the name of a host in the form for comparisons.
func plainHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// Allows reports whether a connection to host, a name or an address, may go to d, which
// host resolved to. Special destinations are never allowed: they have no server.
func (a Allowed) Allows(host string, d Destination) bool {
	host = plainHost(host)
	return d.Kind != Special && slices.ContainsFunc(a.entries, func(e entry) bool {
		if e.port != 0 && e.port != d.Port {
			return false
		}
		return e.host != "" && e.host == host || e.prefix.Contains(d.IP)
	})
}
