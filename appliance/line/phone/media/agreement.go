package media

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// agreement is what both sides have agreed on: the newest offer and its answer. It does not
// change.
type agreement struct {
	codec     codec // codec of the packets that the box sends
	sendType  uint8 // payload type of codec
	frame     time.Duration
	codecs    map[uint8]codec // of the packets that the box takes, by payload type
	events    map[uint8]int   // clock rate of key presses, by payload type
	eventType uint8           // of the key presses that are sent
	eventHz   int             // their clock rate; 0: the far end takes none
	noise     []uint8         // payload types of comfort noise

	sends, hears bool // what the box does
	remote       targets
	since        time.Time
	mux          bool // RTCP comes and goes through the RTP port (RFC 5761)

	security    security
	keys        *keys        // of security bySDES
	association *association // of security byDTLS
}

// crypto returns the keys of the call, nil if it is not encrypted. They are not ready before
// the DTLS handshake has ended.
func (a *agreement) crypto() (k *keys, ready bool) {
	switch a.security {
	case bySDES:
		return a.keys, true
	case byDTLS:
		k = a.association.keys.Load()
		return k, k != nil
	}
	return nil, true
}

// formats is what of a section the box understands.
type formats struct {
	codecs []payload // in the order of the far end
	events []payload
	noise  []uint8
}

// payload is a codec, or kind of event, with its number.
type payload struct {
	codec
	number uint8
}

// understood returns the formats of a section that the box understands.
func (s section) understood() (f formats) {
	for _, text := range s.formats {
		n, err := strconv.ParseUint(text, 10, 7)
		if err != nil {
			continue
		}
		number, name := uint8(n), s.formatName(text)
		kind, rest, _ := strings.Cut(name, "/")
		rate, _, _ := strings.Cut(rest, "/")
		hz, _ := strconv.Atoi(rate)
		switch {
		case strings.EqualFold(kind, eventName) && (hz == phoneHz || hz == 48000):
			f.events = append(f.events, payload{codec{name: eventName, clockHz: hz}, number})
		case strings.EqualFold(kind, noiseName):
			f.noise = append(f.noise, number)
		default:
			for _, c := range codecs() {
				if c.names(name) {
					f.codecs = append(f.codecs, payload{c, number})
				}
			}
		}
	}
	return f
}

// event returns the kind of key presses that fits a codec: with its clock rate, or else any.
func (f formats) event(c codec) (payload, bool) {
	i := slices.IndexFunc(f.events, func(p payload) bool { return p.clockHz == c.clockHz })
	if i < 0 && len(f.events) > 0 {
		i = 0
	}
	if i < 0 {
		return payload{}, false
	}
	return f.events[i], true
}

// agree returns the agreement on a section of the far end, and false if there is no codec in
// common.
func agree(d description, s section, peer netip.Addr) (*agreement, bool) {
	f := s.understood()
	if len(f.codecs) == 0 || s.port == 0 {
		return nil, false
	}
	first := f.codecs[0]
	ptime, _ := d.attribute(s, "ptime")
	ms, _ := strconv.Atoi(ptime)
	a := &agreement{
		codec:    first.codec,
		sendType: first.number,
		frame:    first.frame(ms),
		codecs:   map[uint8]codec{},
		events:   map[uint8]int{},
		noise:    f.noise,
		since:    time.Now(),
	}
	for _, p := range f.codecs {
		a.codecs[p.number] = p.codec
	}
	for _, p := range f.events {
		a.events[p.number] = p.clockHz
	}
	if e, ok := f.event(first.codec); ok {
		a.eventType, a.eventHz = e.number, e.clockHz
	}
	var held bool
	a.remote.rtp, a.remote.rtcp, held = d.addresses(s, peer)
	a.hears, a.sends = d.direction(s)
	a.sends = a.sends && !held
	if _, a.mux = s.get("rtcp-mux"); a.mux {
		a.remote.rtcp = a.remote.rtp
	}
	return a, true
}

// takes adds the payload types of an offer of the box, which the far end may use whatever its
// answer says (RFC 3264, section 6.1).
func (a *agreement) takes(offered formats) {
	for _, p := range offered.codecs {
		a.codecs[p.number] = p.codec
	}
	for _, p := range offered.events {
		a.events[p.number] = p.clockHz
	}
	a.noise = append(a.noise, offered.noise...)
}

// alsoTakes adds the payload types of an earlier agreement that mean nothing else now: packets
// of them may be on their way.
func (a *agreement) alsoTakes(before *agreement) {
	for n, c := range before.codecs {
		if _, ok := a.codecs[n]; !ok && !a.isOther(n) {
			a.codecs[n] = c
		}
	}
}
