package media

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// local is the box's side of the descriptions of a call.
type local struct {
	address netip.Addr // in descriptions
	port    uint16
	peer    netip.Addr // of the signalling
	options Options

	session, version uint64 // of o=
	last             string // the newest description without its version

	masters     map[string][]byte // the box's key for each suite that was used
	certificate *tls.Certificate  // of DTLS; nil before it is needed
	layout      []section         // m-lines of the newest agreement, which later offers repeat
	audio       int               // number of the m-line of the call
	offered     formats           // of the newest offer of the box
}

func newLocal(address netip.Addr, port uint16, peer netip.Addr, o Options) local {
	return local{
		address: address,
		port:    port,
		peer:    peer,
		options: o,
		session: uint64(rand.Uint32()),
		version: uint64(rand.Uint32()),
		masters: map[string][]byte{},
	}
}

// follow makes the address one of the family of the far end's, which may not be that of its
// signalling.
func (l *local) follow(remote netip.Addr) {
	if !remote.IsValid() || remote.IsUnspecified() || remote.Is4() == l.address.Is4() {
		return
	}
	a, err := LocalAddress(remote, l.options.Listen, l.options.External)
	if err == nil {
		l.address = a
	}
}

// master returns the box's key for a suite.
func (l *local) master(s suite) []byte {
	if l.masters[s.name] == nil {
		l.masters[s.name] = s.newKey()
	}
	return l.masters[s.name]
}

// audioSection is the box's m-line.
type audioSection struct {
	protocol  string
	formats   formats
	frame     time.Duration // wanted of the far end
	direction string
	mux       bool
	security  []string // attributes
}

// describe returns a description with the box's audio at a place among m-lines, of which it
// refuses the others. The version in o= rises when something changes (RFC 3264, section 8).
func (l *local) describe(layout []section, at int, a audioSection) []byte {
	family := "IP4"
	if l.address.Is6() {
		family = "IP6"
	}
	var body strings.Builder
	fmt.Fprintf(&body, "s=-\r\nc=IN %s %s\r\nt=0 0\r\n", family, l.address)
	for i, s := range layout {
		if i != at {
			fmt.Fprintf(&body, "m=%s 0 %s %s\r\n", s.kind, s.protocol, strings.Join(s.formats, " "))
			continue
		}
		a.write(&body, l.port)
	}
	if body.String() != l.last {
		l.version++
		l.last = body.String()
	}
	return fmt.Appendf(nil, "v=0\r\no=parley %d %d IN %s %s\r\n%s", l.session, l.version, family, l.address, l.last)
}

// write writes an m-line and its attributes.
func (a audioSection) write(to *strings.Builder, port uint16) {
	fmt.Fprintf(to, "m=audio %d %s", port, a.protocol)
	for _, p := range slices.Concat(a.formats.codecs, a.formats.events) {
		fmt.Fprintf(to, " %d", p.number)
	}
	for _, n := range a.formats.noise {
		fmt.Fprintf(to, " %d", n)
	}
	to.WriteString("\r\n")
	for _, p := range slices.Concat(a.formats.codecs, a.formats.events) {
		fmt.Fprintf(to, "a=rtpmap:%d %s\r\n", p.number, p.rtpmap())
		if p.name == eventName {
			fmt.Fprintf(to, "a=fmtp:%d 0-15\r\n", p.number)
		} else if p.fmtp != "" {
			fmt.Fprintf(to, "a=fmtp:%d %s\r\n", p.number, p.fmtp)
		}
	}
	for _, n := range a.formats.noise {
		fmt.Fprintf(to, "a=rtpmap:%d %s/8000\r\n", n, noiseName)
	}
	fmt.Fprintf(to, "a=ptime:%d\r\na=%s\r\n", a.frame.Milliseconds(), a.direction)
	if a.mux {
		to.WriteString("a=rtcp-mux\r\n")
	} else {
		fmt.Fprintf(to, "a=rtcp:%d\r\n", port+1)
	}
	for _, line := range a.security {
		fmt.Fprintf(to, "a=%s\r\n", line)
	}
}

// directionOf names what one side does.
func directionOf(sends, receives bool) string {
	switch {
	case sends && receives:
		return "sendrecv"
	case sends:
		return "sendonly"
	case receives:
		return "recvonly"
	}
	return "inactive"
}
