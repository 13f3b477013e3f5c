package media

import (
	"errors"
	"testing"

	pionrtp "github.com/pion/rtp"
)

// Key presses count once each: without a beginning, without an end, in packets that come twice
// or late, and when they are so long that they have several parts.
func TestEachKeyCountsOnce(t *testing.T) {
	type packet struct {
		timestamp uint32
		payload   []byte
		marker    bool
	}
	for name, c := range map[string]struct {
		packets []packet
		keys    string
	}{
		"whole": {[]packet{{100, eventOf(1, false, 10, 160), true}, {100, eventOf(1, false, 10, 320), false},
			{100, eventOf(1, true, 10, 480), false}, {100, eventOf(1, true, 10, 480), false}}, "1"},
		"without its beginning": {[]packet{{100, eventOf(11, true, 10, 480), false}}, "#"},
		"without its end": {[]packet{{100, eventOf(1, false, 10, 160), true}, {2000, eventOf(1, false, 10, 160), true}},
			"11"},
		"an end that comes late": {[]packet{{100, eventOf(1, false, 10, 160), true},
			{2000, eventOf(2, false, 10, 160), true}, {100, eventOf(1, true, 10, 480), false}}, "12"},
		"timestamps that wrap around": {[]packet{{1<<32 - 5, eventOf(1, true, 10, 160), true},
			{2000, eventOf(2, true, 10, 160), true}}, "12"},
		"in parts": {[]packet{{100, eventOf(1, false, 10, 0xffff), true},
			{100 + 0xffff, eventOf(1, true, 10, 160), false}, {200000, eventOf(1, true, 10, 160), true}}, "11"},
		"too quiet, unknown, too short": {[]packet{{100, eventOf(1, true, 60, 160), true},
			{2000, eventOf(16, true, 10, 160), true}, {3000, []byte{1, 10}, true}}, ""},
	} {
		var k presses
		got := ""
		for _, p := range c.packets {
			if key, ok := k.press(&pionrtp.Packet{
				Header:  pionrtp.Header{Timestamp: p.timestamp, Marker: p.marker},
				Payload: p.payload,
			}); ok {
				got += string(key)
			}
		}
		if got != c.keys {
			t.Errorf("%s: the keys are %q, want %q", name, got, c.keys)
		}
	}
}

// A key press is sent as one event: with one timestamp, growing, and its end three times.
func TestAKeyIsSentAsOneEvent(t *testing.T) {
	f, e := newFar(t), newEnd(t, options())
	f.offer(t, e, audioLine, eventMap)
	f.next(t)
	go func() { _ = e.Press(t.Context(), "5") }()
	var all []*pionrtp.Packet
	for len(all) == 0 || all[len(all)-1].PayloadType == 101 {
		if p := f.next(t); p.PayloadType == 101 || len(all) > 0 {
			all = append(all, p)
		}
	}
	after := all[len(all)-1]
	all = all[:len(all)-1]
	ends, duration := 0, 0
	for n, p := range all {
		if p.Marker != (n == 0) || p.Timestamp != all[0].Timestamp || p.Payload[0] != 5 ||
			p.Payload[1]&0x3f != keyVolume {
			t.Errorf("packet %d is %+v", n, p)
		}
		length := int(p.Payload[2])<<8 | int(p.Payload[3])
		if length < duration {
			t.Errorf("the key is pressed for %d after %d", length, duration)
		}
		duration = length
		if p.Payload[1]&0x80 != 0 {
			ends++
		}
	}
	if ends != keyEnds || duration != 800 {
		t.Errorf("it ends %d times after %d; want %d after 800", ends, duration, keyEnds)
	}
	if passed := after.Timestamp - all[0].Timestamp; passed != uint32(len(all)*160) {
		t.Errorf("the stream goes on %d later for %d packets", passed, len(all))
	}
	g, other := newFar(t), newEnd(t, options())
	g.offer(t, other, "m=audio PORT RTP/AVP 0")
	if err := other.Press(t.Context(), "5"); !errors.Is(err, ErrNoKeys) {
		t.Errorf("a far end without events gets one: %v", err)
	}
}
