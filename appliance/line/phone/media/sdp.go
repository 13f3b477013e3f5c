package media

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

const (
	// maxSDP bounds a description in bytes. Telephones send 0.5 to 4 kB.
	maxSDP = 64 << 10
	// maxSections bounds the m-lines of a description. A telephone with a camera, a fax and
	// a shared screen sends five.
	maxSections = 32
	// maxFormats bounds the formats of an m-line: RTP has so many payload types.
	maxFormats = 128
)

// description is a session description of the far end (RFC 8866), as far as a call needs it.
// Unlike pion/sdp it accepts what it does not know, as telephones send it: a fax (m=image),
// names as session numbers, bandwidths of any type.
type description struct {
	attributes
	address  string // of c=, for sections without one
	sections []section
}

// section is an m-line with the lines below it.
type section struct {
	attributes
	kind     string // "audio"
	port     uint16 // 0: refused, or turned off
	protocol string // "RTP/AVP"
	formats  []string
	address  string // of c=
}

// attributes are a-lines without "a=".
type attributes []string

// get returns the value of the first attribute with a name.
func (a attributes) get(name string) (value string, ok bool) {
	for _, line := range a {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// all returns the values of all attributes with a name.
func (a attributes) all(name string) (values []string) {
	for _, line := range a {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// parse reads a description. The error is ErrSDP.
func parse(text []byte) (d description, err error) {
	if len(text) > maxSDP {
		return d, fmt.Errorf("%w: it has %d bytes; at most %d are allowed", ErrSDP, len(text), maxSDP)
	}
	if !strings.HasPrefix(strings.TrimSpace(string(text)), "v=0") {
		return d, fmt.Errorf("%w: it does not begin with v=0", ErrSDP)
	}
	for line := range strings.Lines(string(text)) {
		kind, value, ok := strings.Cut(strings.TrimRight(line, "\r\n \t"), "=")
		if !ok {
			continue
		}
		switch kind {
		case "m":
			m, err := parseSection(value)
			if err != nil {
				return d, err
			}
			if d.sections = append(d.sections, m); len(d.sections) > maxSections {
				return d, fmt.Errorf("%w: it has more than %d m-lines", ErrSDP, maxSections)
			}
		case "c":
			if n := len(d.sections); n > 0 {
				d.sections[n-1].address = connectionAddress(value)
			} else {
				d.address = connectionAddress(value)
			}
		case "a":
			if n := len(d.sections); n > 0 {
				d.sections[n-1].attributes = append(d.sections[n-1].attributes, value)
			} else {
				d.attributes = append(d.attributes, value)
			}
		}
	}
	if len(d.sections) == 0 {
		return d, fmt.Errorf("%w: it has no m-line", ErrSDP)
	}
	return d, nil
}

// parseSection reads the value of an m-line, such as "audio 4000 RTP/AVP 0 8".
func parseSection(line string) (section, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return section{}, fmt.Errorf("%w: m=%.80q; expected m=audio PORT PROTOCOL FORMATS", ErrSDP, line)
	}
	if n := len(fields) - 3; n > maxFormats {
		return section{}, fmt.Errorf("%w: m=%.80q has %d formats; at most %d are allowed", ErrSDP, line, n, maxFormats)
	}
	number, _, _ := strings.Cut(fields[1], "/") // "/2" is a number of ports
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return section{}, fmt.Errorf("%w: the port of m=%.80q; allowed are 0 to 65535", ErrSDP, line)
	}
	return section{
		kind:     fields[0],
		port:     uint16(port),
		protocol: fields[2],
		formats:  fields[3:],
	}, nil
}

// connectionAddress returns the address of a c-line, such as "IN IP4 192.0.2.1".
func connectionAddress(line string) string {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return ""
	}
	address, _, _ := strings.Cut(fields[2], "/") // "/127" is the reach of a multicast
	return address
}

// attribute returns the value of an attribute of a section, or else of the whole description.
func (d description) attribute(s section, name string) (string, bool) {
	if v, ok := s.get(name); ok {
		return v, true
	}
	return d.get(name)
}

// direction returns what the far end does: whether it sends and whether it receives. The
// default is both (RFC 3264, section 5.1).
func (d description) direction(s section) (sends, receives bool) {
	for _, lines := range []attributes{s.attributes, d.attributes} {
		for _, line := range lines {
			switch line {
			case "sendrecv":
				return true, true
			case "sendonly":
				return true, false
			case "recvonly":
				return false, true
			case "inactive":
				return false, false
			}
		}
	}
	return true, true
}

// addresses returns where the far end takes RTP and RTCP. A name in place of an address means
// peer: packets tell the rest. held reports an unspecified address, which is the old way to
// hold a call (RFC 2543, section B.5).
func (d description) addresses(s section, peer netip.Addr) (rtp, rtcp netip.AddrPort, held bool) {
	text := s.address
	if text == "" {
		text = d.address
	}
	at, err := netip.ParseAddr(text)
	if err != nil {
		at = peer
	}
	at = at.Unmap()
	rtp, rtcp = netip.AddrPortFrom(at, s.port), netip.AddrPortFrom(at, s.port+1)
	if v, ok := s.get("rtcp"); ok { // "4001", or "4001 IN IP4 192.0.2.1" (RFC 3605)
		number, rest, _ := strings.Cut(v, " ")
		if port, err := strconv.ParseUint(number, 10, 16); err == nil {
			rtcp = netip.AddrPortFrom(at, uint16(port))
		}
		if other, err := netip.ParseAddr(connectionAddress(rest)); err == nil {
			rtcp = netip.AddrPortFrom(other.Unmap(), rtcp.Port())
		}
	}
	return rtp, rtcp, at.IsUnspecified()
}

// formatName returns what a format of a section means, such as "PCMU/8000".
func (s section) formatName(format string) string {
	for _, v := range s.all("rtpmap") {
		if number, name, _ := strings.Cut(v, " "); number == format {
			return strings.TrimSpace(name)
		}
	}
	if n, err := strconv.ParseUint(format, 10, 7); err == nil {
		return static(uint8(n))
	}
	return ""
}
