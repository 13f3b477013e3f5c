package media

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/contract"
)

const (
	// keyLength is how long a key is pressed, and keyPause the time between two: twice what
	// exchanges need (ITU-T Q.24: 40 ms each), with room for lost packets.
	keyLength = 100 * time.Millisecond
	keyPause  = 100 * time.Millisecond
	// keyVolume is the level of the tones in -dBm0, and minKeyVolume the one from which on
	// they are not to count (RFC 4733, section 3.2).
	keyVolume, minKeyVolume = 10, 55
	// keyEnds is how many times the end of a key press is sent (RFC 4733, section 2.5.1.4).
	keyEnds = 3
)

// event is a key press on its way.
type event struct {
	code      byte
	timestamp uint32
	begun     bool
	length    time.Duration // so far
	ends      int           // number of packets with its end so far
	pause     time.Duration // since its end
	done      chan struct{}
}

// Press presses keys at the far end, one after another: 0 to 9, *, # and A to D. It returns
// when the last one was sent. The error is ErrNoKeys if the far end takes none.
func (s *Session) Press(ctx context.Context, digits string) error {
	digits = strings.ToUpper(digits)
	for _, d := range digits {
		if !strings.ContainsRune(contract.PhoneKeys, d) {
			return fmt.Errorf("the key %q; allowed are 0 to 9, *, # and A to D", d)
		}
	}
	s.pressing.Lock()
	defer s.pressing.Unlock()
	for _, d := range digits {
		if a := s.agreed.Load(); a == nil || a.eventHz == 0 {
			return ErrNoKeys
		}
		e := &event{code: byte(strings.IndexRune(contract.PhoneKeys, d)), done: make(chan struct{})}
		s.out.begin(e)
		select {
		case <-e.done:
		case <-ctx.Done():
			s.out.begin(nil)
			return ctx.Err()
		case <-s.done.Done():
			return ErrClosed
		}
	}
	return nil
}

// begin sets the key press to send.
func (o *sender) begin(e *event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.event = e
}

// sendEvent sends the packet of a key press for a frame's time. It returns false in the pause
// after it, in which other things are sent. mu is held.
func (o *sender) sendEvent(at time.Time) bool {
	e := o.event
	if e.ends == keyEnds {
		if e.pause += o.format.Frame; e.pause >= keyPause {
			close(e.done)
			o.event = nil
		}
		return false
	}
	timestamp, _ := o.stamp(at) // the stream goes on meanwhile
	first := !e.begun
	if first {
		e.begun, e.timestamp = true, timestamp
	}
	if e.ends == 0 {
		e.length += o.format.Frame
	} else {
		e.pause += o.format.Frame
	}
	payload := []byte{e.code, keyVolume, 0, 0}
	if e.length >= keyLength {
		e.ends++
		payload[1] |= 0x80
	}
	binary.BigEndian.PutUint16(payload[2:], uint16(e.length*time.Duration(o.a.eventHz)/time.Second))
	o.write(pionrtp.Header{
		Marker:      first,
		PayloadType: o.a.eventType,
		Timestamp:   e.timestamp,
	}, payload)
	return true
}

// presses recognises the key presses of the far end: each one once, whichever of its packets
// arrive.
type presses struct {
	begun     bool
	timestamp uint32 // of the newest key press
	code      byte
	length    uint16 // of its newest packet
	ended     bool
}

// maxEvent is the length in a packet of a key that has been pressed for as long as can be
// said. Then the press goes on under another timestamp (RFC 4733, section 2.5.1.3).
const maxEvent = 0xffff

// press returns the key of a packet, and false if it is not a new one.
func (k *presses) press(p *pionrtp.Packet) (rune, bool) {
	if len(p.Payload) < 4 || int(p.Payload[0]) >= len(contract.PhoneKeys) || p.Payload[1]&0x3f > minKeyVolume {
		return 0, false
	}
	code, ended, length := p.Payload[0], p.Payload[1]&0x80 != 0, binary.BigEndian.Uint16(p.Payload[2:])
	ahead := int32(p.Timestamp - k.timestamp)
	switch {
	case k.begun && ahead < 0 && ahead > -maxEvent:
		return 0, false // a late packet of an earlier key
	case k.begun && ahead == 0:
		k.length, k.ended = max(k.length, length), k.ended || ended
		return 0, false
	}
	goesOn := k.begun && !k.ended && !p.Marker && code == k.code &&
		ahead == int32(k.length) && k.length > maxEvent-0xfff
	*k = presses{
		begun:     true,
		timestamp: p.Timestamp,
		code:      code,
		length:    length,
		ended:     ended,
	}
	return rune(contract.PhoneKeys[code]), !goesOn
}
