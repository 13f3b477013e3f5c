package media

import (
	"testing"
	"time"

	pionrtp "github.com/pion/rtp"
)

// FuzzPackets passes any bytes to a call with and without encryption.
func FuzzPackets(f *testing.F) {
	for _, seed := range []string{"", "\x80", "\x80\xc8\x00\x06", "\x16\xfe\xfd",
		"\x90\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x4d"} {
		f.Add([]byte(seed))
	}
	p, err := (&pionrtp.Packet{
		Header:  pionrtp.Header{Version: 2, PayloadType: 101, SSRC: 77},
		Payload: eventOf(1, true, 10, 160),
	}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p)
	offers := []string{
		head + "m=audio 4000 RTP/AVP 0 101 13\r\na=rtpmap:101 telephone-event/8000\r\na=rtcp-mux\r\n",
		head + "m=audio 4000 RTP/AVP 96\r\na=rtpmap:96 opus/48000/2\r\n",
		head + "m=audio 4000 RTP/AVP 9\r\n",
		head + "m=audio 4000 RTP/SAVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 " + key128 + "|2^20|1:4\r\n",
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, offer := range offers {
			s := &Session{
				log:    options().Log,
				local:  newLocal(loopback, 1, loopback, options()),
				silent: make(chan struct{}),
			}
			d, err := parse([]byte(offer))
			if err != nil {
				t.Fatal(err)
			}
			a, _ := agree(d, d.sections[0], loopback)
			if _, err := s.secure(a, d, d.sections[0], nil); err != nil {
				t.Fatal(err)
			}
			s.in, s.out = newReceiver(s), newSender(s, options().Clock)
			s.agreed.Store(a)
			s.target.Store(&a.remote)
			now, heard := time.Now(), 0
			s.note(now)
			s.in.since = now
			s.Listen(nil, func(rune) {})
			for n := range 3 {
				now = now.Add(20 * time.Millisecond)
				s.in.receive(packet, a.remote.rtp, now)
				s.in.receiveReports(packet, a.remote.rtcp, now)
				if n == 1 {
					s.in.pause(now)
				}
			}
			for len(s.in.sound) > 0 {
				heard += len(<-s.in.sound)
			}
			if heard > 16000*60 {
				t.Errorf("three packets of %d bytes are heard for %d s", len(packet), heard/16000)
			}
		}
	})
}

// FuzzDescriptions agrees to any description.
func FuzzDescriptions(f *testing.F) {
	f.Add(head + "m=audio 4000 RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\na=ptime:20\r\n" +
		"a=rtcp:4 IN IP4 1.2.3.4\r\n")
	f.Add(head + "m=audio 4000 RTP/SAVP 96\r\na=rtpmap:96 opus/48000/2\r\n" +
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 " + key128 + "|1:4\r\n")
	f.Add(head + "m=audio 4000 UDP/TLS/RTP/SAVP 9\r\na=setup:actpass\r\na=fingerprint:sha-256 00:11\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parse([]byte(text))
		if err != nil {
			return
		}
		at, err := choose(d)
		if err != nil {
			return
		}
		s := &Session{local: newLocal(loopback, 1, loopback, options())}
		s.done, s.close = t.Context(), func() {}
		a, ok := agree(d, d.sections[at], loopback)
		if !ok {
			t.Fatal("a section that was chosen cannot be agreed on")
		}
		if _, err := s.secure(a, d, d.sections[at], nil); err != nil {
			t.Fatal(err)
		}
		answer := s.local.describe(d.sections, at, audioSection{protocol: d.sections[at].protocol})
		again, err := parse(answer)
		if err != nil || len(again.sections) != len(d.sections) {
			t.Errorf("the answer cannot be read (%v):\n%s", err, answer)
		}
	})
}
