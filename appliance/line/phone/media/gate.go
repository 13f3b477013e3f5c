package media

import (
	"net/netip"
	"time"
)

const (
	// knownQuiet and strangeQuiet are how long the current stream has to be silent before
	// another one takes its place: from an address of the far end, as when a gateway
	// switches over, and from another address, as when a router changes the port.
	knownQuiet   = 60 * time.Millisecond
	strangeQuiet = 500 * time.Millisecond
	// knownPackets and strangePackets are how many consecutive packets such a stream has to
	// have (RFC 3550, section 6.2.1 asks for two).
	knownPackets, strangePackets = 2, 4
	// maxMoves bounds the changes to strange addresses between two descriptions.
	maxMoves = 8
)

// source is what tells streams of packets apart.
type source struct {
	from netip.AddrPort
	ssrc uint32
}

// gate lets the packets of one stream through: that of the far end. Anybody who guesses the
// port can send packets, so that another stream has to prove itself, and cannot take the place
// of one that goes on. Encrypted packets need no proof.
type gate struct {
	current    source
	begun      bool
	newest     time.Time // of the packets of current
	candidates [4]candidate
	oldest     int
	moves      int
	described  netip.AddrPort // address in the newest description
	moved      bool           // described has changed since the current stream began
}

// candidate is a stream that is not let through yet.
type candidate struct {
	source
	next  uint16 // expected sequence number
	count int    // consecutive packets
}

// admit reports whether a packet belongs to the stream of the far end, and whether that stream
// begins with it. described is the far end's address in its description.
func (g *gate) admit(s source, sequence uint16, described netip.AddrPort, encrypted bool, now time.Time) (
	ok, begins bool) {
	if described != g.described {
		g.described, g.moves, g.moved = described, 0, g.begun
	}
	if g.begun && s == g.current {
		g.newest = now
		return true, false
	}
	if !encrypted && !g.proven(s, sequence, now) {
		return false, false
	}
	if !g.knows(s) {
		g.moves++
	}
	g.current, g.begun, g.moved, g.newest = s, true, false, now
	g.candidates = [4]candidate{}
	return true, true
}

// knows reports whether a stream comes from an address of the far end.
func (g *gate) knows(s source) bool {
	return s.from.Addr() == g.described.Addr() || g.begun && s.from.Addr() == g.current.from.Addr()
}

// proven reports whether another stream may take the place of the current one.
func (g *gate) proven(s source, sequence uint16, now time.Time) bool {
	wanted, quiet := strangePackets, strangeQuiet
	switch {
	case !g.begun && s.from == g.described:
		return true
	case g.moved && s.from == g.described:
		wanted, quiet = knownPackets, 0 // the far end has moved, and the old one may still send
	case g.knows(s):
		wanted, quiet = knownPackets, knownQuiet
	case g.moves >= maxMoves:
		return false
	}
	if g.begun && now.Sub(g.newest) < quiet {
		return false
	}
	c := g.candidate(s)
	if c.count == 0 || c.next != sequence {
		c.count = 0
	}
	c.count++
	c.next = sequence + 1
	return c.count >= wanted
}

// candidate returns the record of a stream, in place of the oldest one if it is new.
func (g *gate) candidate(s source) *candidate {
	for i := range g.candidates {
		if g.candidates[i].source == s {
			return &g.candidates[i]
		}
	}
	c := &g.candidates[g.oldest]
	g.oldest = (g.oldest + 1) % len(g.candidates)
	*c = candidate{source: s}
	return c
}
