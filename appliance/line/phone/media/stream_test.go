package media

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

const audioLine = "m=audio PORT RTP/AVP 0 101"

const eventMap = "a=rtpmap:101 telephone-event/8000"

// A call that is held in either of the two ways gets no packets, and what comes is not heard.
// The sentence that the hold interrupts goes on afterwards.
func TestAHeldCallIsSilentAndGoesOn(t *testing.T) {
	for name, hold := range map[string][]string{
		"by direction": {audioLine, "a=sendonly"},
		"inactive":     {audioLine, "a=inactive"},
		"by address":   {audioLine, "c=IN IP4 0.0.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, e := newFar(t), newEnd(t, options())
			var told []bool
			e.OnHold(func(held bool) { told = append(told, held) })
			f.offer(t, e, audioLine)
			say(t, e, "a", 400*time.Millisecond)
			f.next(t)
			f.offer(t, e, hold...)
			f.silent(t)
			before := len(e.heard())
			for range 10 {
				f.send(t, 0, loud())
			}
			time.Sleep(250 * time.Millisecond)
			if !e.Held() || len(voiced(e.heard()[before:])) > 0 {
				t.Errorf("held is %v; %d ms of the music are heard", e.Held(), len(voiced(e.heard()[before:]))/16)
			}
			f.offer(t, e, audioLine)
			voice := 0
			for range 25 {
				if p := f.next(t); slices.Max(p.Payload) != slices.Min(p.Payload) {
					voice++
				}
			}
			if voice < 14 {
				t.Errorf("after the hold %d frames of the voice came", voice)
			}
			if !slices.Equal(told, []bool{true, false}) {
				t.Errorf("the holds were told as %v", told)
			}
		})
	}
}

// A far end that changes its codec in the middle of a sentence hears the rest in the other one.
func TestASentenceSurvivesAChangeOfTheCodec(t *testing.T) {
	for _, order := range [][]string{{"PCMU", "opus"}, {"opus", "G722"}, {"G722", "PCMA"}} {
		t.Run(strings.Join(order, " to "), func(t *testing.T) {
			t.Parallel()
			late := lateness(t)
			a, b := newEnd(t, options()), newEnd(t, options())
			connect(t, a, b, only(order[0]))
			say(t, b, "b", 2*time.Second)
			a.until(t, "half of it", func() bool { return len(voiced(a.heard())) > engine.SpeechRateHz })
			connect(t, b, a, only(order[1]))
			a.until(t, "all of it", func() bool { return len(voiced(a.heard())) > 2*engine.SpeechRateHz*95/100 })
			time.Sleep(200 * time.Millisecond)
			if got := len(voiced(a.heard())); got > 2*engine.SpeechRateHz*107/100 && late() < minPause/2 {
				t.Errorf("two seconds are heard as %d ms", got/16)
			}
			if got := a.Stats().Codec; got != order[1] {
				t.Errorf("the codec is %s", got)
			}
		})
	}
}

// Packets go to where the far end's packets come from, once they fit together.
func TestTheBoxSendsToWhereTheStreamComesFrom(t *testing.T) {
	described, real := newFar(t), newFar(t)
	e := newEnd(t, options())
	described.offer(t, e, audioLine)
	described.next(t)
	real.to = described.to
	for range 3 {
		real.send(t, 0, loud())
	}
	if p := real.next(t); p.PayloadType != 0 {
		t.Errorf("the packet has type %d", p.PayloadType)
	}
	described.silent(t)

	// A stranger cannot take the place of a stream that goes on.
	stranger := newFar(t)
	stranger.to, stranger.ssrc = described.to, 78
	for range 20 {
		real.send(t, 0, loud())
		stranger.send(t, 0, loud())
		time.Sleep(5 * time.Millisecond)
	}
	stranger.silent(t)

	// The router gives the far end another port.
	moved := newFar(t)
	moved.to, moved.ssrc, moved.sequence, moved.timestamp = real.to, real.ssrc, real.sequence, real.timestamp
	time.Sleep(knownQuiet)
	for range 3 {
		moved.send(t, 0, loud())
	}
	moved.next(t)

	// A new description leads elsewhere, although the old stream goes on for a while.
	other := newFar(t)
	other.ssrc = 79
	other.offer(t, e, audioLine)
	for range 10 {
		moved.send(t, 0, loud())
		other.send(t, 0, loud())
		time.Sleep(5 * time.Millisecond)
	}
	other.next(t)
	moved.silent(t)
}

func TestStrangeAddressesHaveToProveThemselves(t *testing.T) {
	described := netip.MustParseAddrPort("192.0.2.1:4000")
	strange := source{netip.MustParseAddrPort("198.51.100.1:5000"), 1}
	now := time.Unix(1000, 0)
	var g gate
	for n := range strangePackets {
		now = now.Add(20 * time.Millisecond)
		if ok, _ := g.admit(strange, uint16(n), described, false, now); ok != (n == strangePackets-1) {
			t.Errorf("packet %d of a strange address: admitted is %v", n, ok)
		}
	}
	for n := range 10 { // sequence numbers without a sequence
		now = now.Add(time.Second)
		if ok, _ := g.admit(source{strange.from, 2}, uint16(n*7), described, false, now); ok {
			t.Fatal("packets that do not fit together are admitted")
		}
	}
	moves := 0
	for n := range 100 {
		now = now.Add(time.Second)
		s := source{netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}), 5000), uint32(n)}
		for i := range strangePackets {
			if ok, begins := g.admit(s, uint16(i), described, false, now); ok && begins {
				moves++
			}
		}
	}
	if moves > maxMoves {
		t.Errorf("strangers have taken over %d times; at most %d", moves, maxMoves)
	}
	known := source{described, 5}
	for n := range knownPackets {
		if ok, _ := g.admit(known, uint16(n), described, false, now.Add(time.Second)); ok != (n == knownPackets-1) {
			t.Errorf("packet %d of the described address: admitted is %v", n, ok)
		}
	}
}

// Packets that no telephone sends are dropped, and the call goes on.
func TestHostilePacketsChangeNothing(t *testing.T) {
	f, stranger := newFar(t), newFar(t)
	e := newEnd(t, options())
	f.offer(t, e, audioLine, eventMap, "a=rtcp-mux")
	stranger.to = f.to
	for n := range 50 {
		f.send(t, 0, loud())
		for _, packet := range [][]byte{{}, {0x80}, {0x80, 0}, make([]byte, 12), make([]byte, 1500),
			make([]byte, 60000),
			{0x8f, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1},                  // CSRCs beyond its end
			{0x90, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 77, 1, 1, 255, 255}, // an extension beyond its end
			{0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 77, 255},            // padding beyond its end
			{0x80, 200, 255, 255, 0, 0, 0, 0}, {0x81, 201, 0, 7, 0, 0, 0, 1}, {22, 254, 253, 0}, {0, 1, 0, 0},
			{0x40, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 77}, // version 1
		} {
			if len(packet) > 1 && n%2 == 0 {
				f.raw(t, packet)
			} else {
				stranger.raw(t, packet)
			}
		}
		for i := range 200 { // ten thousand in all
			p, err := (&pionrtp.Packet{
				Header: pionrtp.Header{
					Version:        2,
					SequenceNumber: uint16(i * 31),
					SSRC:           uint32(1000 + n*200 + i),
				},
				Payload: loud(),
			}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			stranger.raw(t, p)
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.until(t, "the voice", func() bool { return len(voiced(e.heard())) >= 45*320 })
	if got := e.Stats(); got.PacketsReceived > 50 || got.PacketsLost > 5 {
		t.Errorf("of 50 packets the figures are %+v", got)
	}
	stranger.silent(t)
}

// Packets that arrive together, a fifth of a second late, are heard without silence between them.
func TestPacketsThatANetworkHoldsUpLeaveNoHole(t *testing.T) {
	late := lateness(t)
	f := newFar(t)
	e := newEnd(t, options())
	f.offer(t, e, audioLine)
	const frames = 50
	begun := time.Now()
	for i := range frames {
		at := time.Duration(i) * usualFrame
		if i >= 20 && i < 30 { // these arrive together, 200 ms late
			at = 30 * usualFrame
		}
		time.Sleep(time.Until(begun.Add(at)))
		f.send(t, 0, loud())
	}
	time.Sleep(50 * time.Millisecond)
	got, want := len(e.heard()), audio.Samples(frames*usualFrame, engine.SpeechRateHz)
	if got > want+engine.SpeechRateHz/50 && late() < minPause/10 {
		t.Errorf("one second is heard as %d ms", got/16)
	}
}

// Comfort noise and pauses are heard as silence, without a gap in time.
func TestPausesOfTheFarEndAreSilence(t *testing.T) {
	t.Parallel()
	f, e := newFar(t), newEnd(t, options())
	f.offer(t, e, "m=audio PORT RTP/AVP 0 13 101", eventMap)
	start := time.Now()
	for range 10 {
		f.send(t, 0, loud())
		time.Sleep(20 * time.Millisecond)
	}
	f.send(t, 13, []byte{60})
	for range 25 { // pauses by the clock too
		f.timestamp += 160
		time.Sleep(20 * time.Millisecond)
	}
	for range 10 {
		f.send(t, 0, loud())
		time.Sleep(20 * time.Millisecond)
	}
	e.until(t, "both parts", func() bool { return len(voiced(e.heard())) > 850*16 })
	got, took := len(voiced(e.heard()))/16, time.Since(start).Milliseconds()
	if got < 850 || int64(got) > took+50 {
		t.Errorf("200 ms, a pause of half a second and 200 ms are heard as %d ms in %d ms", got, took)
	}
}

// Packets of strangers are no sign of the far end: its pause is heard, and in the end it counts as lost.
func TestPacketsOfStrangersDoNotHideAPause(t *testing.T) {
	t.Parallel()
	f, stranger, e := newFar(t), newFar(t), newEnd(t, options())
	f.offer(t, e, audioLine)
	stranger.to, stranger.ssrc = f.to, 78
	f.send(t, 0, loud())
	for begun := time.Now(); time.Since(begun) < 500*time.Millisecond; time.Sleep(5 * time.Millisecond) {
		stranger.send(t, 99, loud())
	}
	if got := len(e.heard()) / 16; got < 300 {
		t.Errorf("half a second of a pause is heard as %d ms", got)
	}
}

// A ringing tone, which gateways send before a call is answered, is not heard afterwards.
func TestWhatComesBeforeTheAnswerIsNotHeard(t *testing.T) {
	f, e := newFar(t), newEnd(t, options())
	if _, err := e.Offer(); err != nil {
		t.Fatal(err)
	}
	f.to = netip.AddrPortFrom(loopback, e.sockets.port)
	for range 100 {
		f.send(t, 0, loud())
	}
	time.Sleep(100 * time.Millisecond)
	if err := e.Accept([]byte(head + strings.ReplaceAll("m=audio PORT RTP/AVP 0\r\n", "PORT", f.port))); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		f.send(t, 0, loud())
	}
	e.until(t, "what comes later", func() bool { return len(voiced(e.heard())) > 150*16 })
	if got := len(voiced(e.heard())); got > 210*16 {
		t.Errorf("%d ms are heard", got/16)
	}
}

// The packets never stop, so that nobody between the box and the far end takes the call for
// dead.
func TestTheBoxSendsAllTheTime(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"0", "8", "9", "96"} {
		f, e := newFar(t), newEnd(t, options())
		f.offer(t, e, "m=audio PORT RTP/AVP "+format, "a=rtpmap:96 opus/48000/2")
		begun := time.Now()
		var before *pionrtp.Packet
		for n := range 25 {
			p := f.next(t)
			if n > 0 && (p.SequenceNumber != before.SequenceNumber+1 || p.Marker) {
				t.Errorf("packet %d is number %d after %d; marker %v", n, p.SequenceNumber, before.SequenceNumber,
					p.Marker)
			}
			before = p
		}
		if took := time.Since(begun); took < 400*time.Millisecond || took > 700*time.Millisecond {
			t.Errorf("half a second of packets took %v", took)
		}
	}
}

// A far end that vanishes is noticed after 20 s, and one that is held or sends reports is not.
func TestAFarEndThatVanishesIsNoticed(t *testing.T) {
	closed := func(s *Session) bool {
		select {
		case <-s.Silent():
			return true
		default:
			return false
		}
	}
	s := &Session{silent: make(chan struct{})}
	both, held := &agreement{sends: true, hears: true}, &agreement{hears: true}
	now := time.Unix(1000, 0)
	s.note(now)
	s.checkSilence(both, now.Add(silenceLimit-time.Second))
	s.checkSilence(held, now.Add(2*silenceLimit))
	s.checkSilence(both, now.Add(3*silenceLimit-time.Second))
	if closed(s) {
		t.Error("it counts as gone while it holds the box")
	}
	s.note(now.Add(4 * silenceLimit))
	s.checkSilence(both, now.Add(5*silenceLimit))
	if closed(s) {
		t.Error("it counts as gone just in time")
	}
	s.checkSilence(both, now.Add(5*silenceLimit+time.Millisecond))
	if !closed(s) {
		t.Error("its silence is not noticed")
	}
}

// The words after an interruption do not begin with a rest of those that it cut.
func TestNothingOfACutSentenceIsHeardLater(t *testing.T) {
	t.Parallel()
	a, b := newEnd(t, options()), newEnd(t, options())
	connect(t, a, b, only("PCMU"))
	say(t, b, "cut", time.Second)
	a.until(t, "the voice", func() bool { return len(voiced(a.heard())) > 0 })
	b.Cut()
	time.Sleep(300 * time.Millisecond)
	before := len(a.heard())
	pause := contract.Sound{ID: "next", PCM: make([]float32, contract.OutputRateHz/10), Last: true}
	if err := b.Play(pause); err != nil {
		t.Fatal(err)
	}
	a.until(t, "the next sentence", func() bool { return len(a.heard()) > before+engine.SpeechRateHz*4/10 })
	if rest := voiced(a.heard()[before:]); len(rest) > 0 {
		t.Errorf("%d samples of the sentence that was cut are heard", len(rest))
	}
}

// A cut drops what was not sent, and the next sentence is heard whole.
func TestCutSoundIsNotHeard(t *testing.T) {
	t.Parallel()
	a, b := newEnd(t, options()), newEnd(t, options())
	connect(t, a, b, only("G722"))
	say(t, a, "a", 10*time.Second)
	b.until(t, "the beginning", func() bool { return len(voiced(b.heard())) > 200*16 })
	a.Cut()
	time.Sleep(200 * time.Millisecond)
	before := len(b.heard())
	say(t, a, "b", 300*time.Millisecond)
	b.until(t, "the next sentence", func() bool { return len(voiced(b.heard()[before:])) > 290*16 })
	select {
	case <-a.Drained():
	case <-time.After(2 * time.Second):
		t.Error("it does not end")
	}
	if got := len(voiced(b.heard()[before:])); got > 320*16 {
		t.Errorf("300 ms after the cut are heard as %d ms", got/16)
	}
}
