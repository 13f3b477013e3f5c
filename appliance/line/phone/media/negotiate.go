package media

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Offer returns a description that offers the call: at first with all codecs of the box, and
// during the call with those that are agreed on before the others. Nothing changes until
// Accept.
func (s *Session) Offer() ([]byte, error) {
	s.negotiation.Lock()
	defer s.negotiation.Unlock()
	l, a := &s.local, s.agreed.Load()
	wanted := audioSection{
		protocol:  "RTP/AVP",
		formats:   offeredFormats(a),
		frame:     usualFrame,
		direction: "sendrecv",
		mux:       a != nil && a.mux,
	}
	how := plain
	switch {
	case a != nil:
		how = a.security
		wanted.protocol = l.layout[l.audio].protocol
	case l.options.Secure:
		how, wanted.protocol = bySDES, "RTP/SAVP"
	}
	switch how {
	case bySDES:
		wanted.security = l.offerCryptos(a)
	case byDTLS:
		lines, err := l.dtlsLines("actpass")
		if err != nil {
			return nil, err
		}
		wanted.security = lines
	}
	layout := l.layout
	if layout == nil {
		layout = []section{{kind: "audio"}}
	}
	l.offered = wanted.formats
	return l.describe(layout, l.audio, wanted), nil
}

// offerCryptos returns the a=crypto lines of an offer: the suite in use, or the first three.
func (l *local) offerCryptos(a *agreement) (lines []string) {
	offered := suites()[:3]
	if a != nil && a.keys != nil {
		offered = []suite{a.keys.suite}
	}
	for i, s := range offered {
		lines = append(lines, "crypto:"+writeCrypto(strconv.Itoa(i+1), s, l.master(s)))
	}
	return lines
}

// offeredFormats returns the formats of an offer. Those of an agreement keep their numbers, and
// the others take none of them.
func offeredFormats(a *agreement) (f formats) {
	taken := map[uint8]bool{}
	if a != nil {
		for n := range a.codecs {
			taken[n] = true
		}
		for n := range a.events {
			taken[n] = true
		}
		f.codecs = append(f.codecs, payload{a.codec, a.sendType})
		if a.eventHz != 0 {
			f.events = append(f.events, payload{codec{name: eventName, clockHz: a.eventHz}, a.eventType})
		}
	}
	for _, c := range codecs() {
		if !slices.ContainsFunc(f.codecs, func(p payload) bool { return p.name == c.name }) {
			f.codecs = appendFree(f.codecs, taken, c, c.offered)
		}
	}
	for _, e := range []payload{
		{codec{name: eventName, clockHz: phoneHz}, eventType},
		{codec{name: eventName, clockHz: 48000}, wideEventType},
	} {
		if !slices.ContainsFunc(f.events, func(p payload) bool { return p.clockHz == e.clockHz }) {
			f.events = appendFree(f.events, taken, e.codec, e.number)
		}
	}
	f.noise = []uint8{noiseType}
	return f
}

// appendFree appends a format with a number, or with another one where that is a dynamic one and
// taken (RFC 3551, section 6: 96 to 127). It leaves the format out if all are taken.
func appendFree(to []payload, taken map[uint8]bool, c codec, number uint8) []payload {
	if number >= 96 {
		for n := 0; n < 32 && taken[number]; n++ {
			number = 96 + (number-96+1)%32
		}
		if taken[number] {
			return to
		}
	}
	taken[number] = true
	return append(to, payload{c, number})
}

// Answer agrees to an offer of the far end, the first one or a later one, and returns the
// answer. An error is ErrSDP or ErrNoCodec, and changes nothing.
func (s *Session) Answer(offer []byte) ([]byte, error) {
	d, err := parse(offer)
	if err != nil {
		return nil, err
	}
	defer s.tellHold(s.Held())
	s.negotiation.Lock()
	defer s.negotiation.Unlock()
	at, err := choose(d)
	if err != nil {
		return nil, err
	}
	m := d.sections[at]
	a, ok := agree(d, m, s.local.peer)
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoCodec, strings.Join(m.formats, " "))
	}
	lines, err := s.secure(a, d, m, nil)
	if err != nil {
		return nil, err
	}
	f := formats{codecs: []payload{{a.codec, a.sendType}}, noise: a.noise}
	if a.eventHz != 0 {
		f.events = []payload{{codec{name: eventName, clockHz: a.eventHz}, a.eventType}}
	}
	sends, receives := d.direction(m)
	s.local.follow(a.remote.rtp.Addr())
	s.local.layout, s.local.audio = d.sections, at
	answer := s.local.describe(d.sections, at, audioSection{
		protocol:  m.protocol,
		formats:   f,
		frame:     a.frame,
		direction: directionOf(receives, sends),
		mux:       a.mux,
		security:  lines,
	})
	s.apply(a)
	return answer, nil
}

// Accept agrees to the answer to the newest Offer. An error is ErrSDP or ErrNoCodec, and
// changes nothing.
func (s *Session) Accept(answer []byte) error {
	d, err := parse(answer)
	if err != nil {
		return err
	}
	defer s.tellHold(s.Held())
	s.negotiation.Lock()
	defer s.negotiation.Unlock()
	l := &s.local
	if l.audio >= len(d.sections) {
		return fmt.Errorf("%w: the answer has %d m-lines", ErrNoCodec, len(d.sections))
	}
	m := d.sections[l.audio]
	a, ok := agree(d, m, l.peer)
	if !ok {
		return fmt.Errorf("%w: the answer has %s on port %d", ErrNoCodec, strings.Join(m.formats, " "), m.port)
	}
	a.takes(l.offered)
	wanted := plain
	if before := s.agreed.Load(); before != nil {
		wanted = before.security
	} else if l.options.Secure {
		wanted = bySDES
	}
	if _, err := s.secure(a, d, m, &wanted); err != nil {
		return err
	}
	if a.security != wanted {
		return fmt.Errorf("%w: the answer takes the encryption back", ErrNoCodec)
	}
	l.layout = d.sections
	s.apply(a)
	return nil
}

// choose returns the number of the best audio section: the first encrypted one with a codec of
// the box, or else the first one with such a codec.
func choose(d description) (int, error) {
	best := -1
	for i, m := range d.sections {
		if m.kind != "audio" || m.port == 0 || len(m.understood().codecs) == 0 {
			continue
		}
		how, ok := d.securityOf(m)
		if !ok {
			continue
		}
		if how != plain {
			return i, nil
		}
		if best < 0 {
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%w: expected m=audio with PCMU, PCMA, G722 or opus", ErrNoCodec)
	}
	return best, nil
}

// securityOf returns how a section is encrypted, and false if the box cannot do it. A section
// of RTP/AVP with keys is encrypted too, if both sides can (RFC 8643).
func (d description) securityOf(m section) (security, bool) {
	_, fingerprint := d.attribute(m, "fingerprint")
	switch strings.ToUpper(m.protocol) {
	case "RTP/AVP", "RTP/AVPF":
		if len(m.cryptos()) > 0 {
			return bySDES, true
		}
		return plain, true
	case "RTP/SAVP", "RTP/SAVPF":
		if len(m.cryptos()) > 0 {
			return bySDES, true
		}
		return byDTLS, fingerprint
	case "UDP/TLS/RTP/SAVP", "UDP/TLS/RTP/SAVPF":
		return byDTLS, fingerprint
	}
	return plain, false
}

// secure sets the encryption of an agreement on a section, and returns the attributes of the
// box's answer. wanted is nil for an offer; for an answer it is what the box offered.
func (s *Session) secure(a *agreement, d description, m section, wanted *security) (lines []string, err error) {
	how, ok := d.securityOf(m)
	if !ok {
		return nil, fmt.Errorf("%w: cannot encrypt %s", ErrNoCodec, m.protocol)
	}
	if wanted != nil && *wanted == plain {
		how = plain // an answer cannot ask for it
	}
	a.security = how
	before := s.agreed.Load()
	switch how {
	case bySDES:
		c := m.cryptos()[0]
		master := s.local.master(c.suite)
		if before != nil && before.keys.same(c, master) {
			a.keys = before.keys
		} else if a.keys, err = newKeys(c.suite, master, c.master, c.mki); err != nil {
			return nil, err
		}
		return []string{"crypto:" + writeCrypto(c.tag, c.suite, master)}, nil
	case byDTLS:
		return s.secureByDTLS(a, before, d, m, wanted != nil)
	}
	return nil, nil
}

// apply makes an agreement the current one. While the far end holds the box with an address
// that is none, reports go to the one before.
func (s *Session) apply(a *agreement) {
	before := s.agreed.Load()
	if before != nil && a.remote.rtp.Addr().IsUnspecified() {
		a.remote = before.remote
	}
	if before != nil {
		a.alsoTakes(before)
	}
	s.out.adopt(before, a)
	s.agreed.Store(a)
	if before == nil || before.remote != a.remote {
		remote := a.remote
		s.target.Store(&remote)
	}
	if before != nil && before.association != nil && before.association != a.association {
		before.association.cancel()
	}
	if a.association != nil {
		a.association.start(s)
	}
	s.note(time.Now())
	s.start()
}

// tellHold tells that the far end has begun or ended to hold the box since before.
func (s *Session) tellHold(before bool) {
	if changed := s.onHold.Load(); changed != nil && s.Held() != before {
		(*changed)(!before)
	}
}

// sameRemote reports whether the far end is the same as before, by its keys.
func (a *agreement) sameRemote(b *agreement) bool {
	switch {
	case a.security != b.security:
		return false
	case a.security == bySDES:
		return bytes.Equal(a.keys.remote, b.keys.remote)
	case a.security == byDTLS:
		return a.association == b.association
	}
	return true
}
