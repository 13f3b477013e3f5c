package webrtc

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
)

// offerOf returns a complete offer of a client that does not connect.
func offerOf(t testing.TB) string {
	t.Helper()
	pc, err := pion.NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pc.GracefulClose() }()
	if _, err := pc.AddTransceiverFromKind(pion.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	if _, err := pc.CreateDataChannel(channelLabel, nil); err != nil {
		t.Fatal(err)
	}
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := pion.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	return pc.LocalDescription().SDP
}

// section returns one m-line of an offer with its attributes.
func section(offer, kind string) string {
	_, after, _ := strings.Cut(offer, "m="+kind)
	own, _, _ := strings.Cut(after, "m=")
	return "m=" + kind + own
}

// bad returns offers that no client makes, or that have no valid answer.
func bad(offer string) map[string]string {
	audio := section(offer, "audio")
	codecs := strings.NewReplacer("opus/48000/2", "PCMU/8000", "minptime=10;useinbandfec=1", "x=1")
	return map[string]string{
		"only video":          strings.ReplaceAll(offer, "m=audio", "m=video"),
		"only a data channel": strings.Replace(offer, audio, "", 1),
		"fifty m-lines":       offer + strings.Repeat(audio, 48),
		"a thousand addresses": strings.Replace(offer, "a=end-of-candidates",
			strings.Repeat("a=candidate:1 1 udp 2130706431 192.0.2.7 9 typ host\r\n", 1000)+"a=end-of-candidates",
			1),
		"audio that is not wanted": strings.Replace(offer, "m=audio 9", "m=audio 0", 1),
		"audio in the clear": strings.Replace(offer, audio,
			strings.Replace(audio, "UDP/TLS/RTP/SAVPF", "RTP/AVP", 1), 1),
		"no codec of ours":  codecs.Replace(offer),
		"no fingerprint":    strings.ReplaceAll(offer, "a=fingerprint:", "a=nothing:"),
		"no hash":           replaceLine(offer, "a=fingerprint:", "a=fingerprint:sha-256 nonsense"),
		"half a hash":       replaceLine(offer, "a=fingerprint:", "a=fingerprint:sha-256 0A:1B:2C:3D"),
		"no credentials":    strings.ReplaceAll(offer, "a=ice-ufrag:", "a=nothing:"),
		"no password":       strings.ReplaceAll(offer, "a=ice-pwd:", "a=nothing:"),
		"half of it":        offer[:len(offer)/2],
		"nothing but lines": "v=0\r\nm=audio" + strings.Repeat("\r\n", 30000),
	}
}

// replaceLine replaces the lines of an offer that begin with a prefix.
func replaceLine(offer, begins, other string) string {
	var b strings.Builder
	for line := range strings.Lines(offer) {
		if strings.HasPrefix(line, begins) {
			line = other + "\r\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// An offer that cannot be answered is refused with a reason, and leaves nothing behind.
func TestHostileOffersAreRefused(t *testing.T) {
	l := start(t, Timing{})
	for name, offer := range bad(offerOf(t)) {
		code, said, _ := bring(t, http.MethodPost, l.http.URL+"/call/", sdpType, offer)
		if code != http.StatusTeapot || !strings.HasPrefix(said, "body: ") {
			t.Errorf("%s: %d %.300s", name, code, said)
		}
	}
	if n := l.seats(); n != 0 {
		t.Errorf("%d slots are in use", n)
	}
}

// No patch ends a call. A DELETE ends it, once.
func TestHostilePatchesChangeNothing(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	offer := c.LocalDescription().SDP
	for _, p := range []struct {
		typ, body string
		want      int
	}{
		{fragmentType, "", http.StatusNoContent},
		{fragmentType, "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=end-of-candidates\r\n", http.StatusNoContent},
		{fragmentType, "hello", http.StatusTeapot},
		{fragmentType, "a=candidate:nonsense\r\n", http.StatusTeapot},
		{fragmentType,
			"a=candidate:1 1 udp 2130706431 5c0d8a4e-3a1f-4a1c-9a2e-1f0f5a3c2b1d.local 9 typ host\r\na=mid:0\r\n",
			http.StatusNoContent},
		{fragmentType, strings.Repeat("a=candidate:1 1 udp 2130706431 192.0.2.7 9 typ host\r\n", 1000),
			http.StatusTeapot},
		{fragmentType, "a=ice-ufrag:other\r\n", http.StatusTeapot},
		{fragmentType, "a=ice-ufrag:\x00\r\na=ice-pwd:\x00\r\n", http.StatusTeapot},
		{sdpType, "", http.StatusTeapot},
		{sdpType, offer[:len(offer)/3], http.StatusTeapot},
		{sdpType, strings.ReplaceAll(offer, "m=audio", "m=video"), http.StatusTeapot},
		{"text/plain", offer, http.StatusTeapot},
	} {
		if code, said, _ := bring(t, http.MethodPatch, c.at, p.typ, p.body); code != p.want {
			t.Errorf("%s %.60q: %d %.200s", p.typ, p.body, code, said)
		}
	}
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	answer, _ := c.offer(t, http.MethodPatch, c.at, &pion.OfferOptions{ICERestart: true})
	if err := c.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := bring(t, http.MethodDelete, c.at, "", ""); code != http.StatusOK {
		t.Errorf("DELETE: %d", code)
	}
	got(t, s.done)
	for code, deadline := 0, time.Now().Add(30*time.Second); code != http.StatusTeapot; {
		if code, _, _ = bring(t, http.MethodDelete, c.at, "", ""); time.Now().After(deadline) {
			t.Fatalf("DELETE of a call that is over: %d", code)
		}
	}
	if code, _, _ := bring(t, http.MethodPatch, c.at, fragmentType, ""); code != http.StatusTeapot {
		t.Errorf("PATCH of a call that is over: %d", code)
	}
}

// The box chooses the ids of calls, so two calls of one client differ.
func TestTwoCallsOfOneClientHaveDifferentIDs(t *testing.T) {
	l := start(t, Timing{})
	one, other := l.dial(t, "resumed_chat_group_id=g"), l.dial(t, "resumed_chat_group_id=g")
	first, second := got(t, l.opened), got(t, l.opened)
	if one.at == other.at {
		t.Errorf("both are %s", one.at)
	}
	bring(t, http.MethodDelete, one.at, "", "")
	select {
	case <-first.done:
		first = second
	case <-second.done:
	case <-time.After(30 * time.Second):
		t.Fatal("none ended")
	}
	if err := first.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Errorf("the other is over too: %v", err)
	}
	first.end(contract.CloseNormal, "")
}

// A client that does not complete DTLS, or not with its certificate, soon loses its slot.
func TestHalfOpenCallsEnd(t *testing.T) {
	gone := func(t *testing.T, l *phone) {
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for l.seats() > 0 {
			if time.Now().After(deadline) {
				t.Fatal("the slot is still in use")
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(l.opened) > 0 {
			t.Error("it opened a conversation")
		}
	}
	t.Run("DTLS never comes", func(t *testing.T) {
		l := start(t, Timing{Connect: 300 * time.Millisecond})
		w := newWifi(t, l.server.Port())
		w.refuse(func(packet []byte) bool { return packet[0] >= 20 && packet[0] < 64 }) // RFC 7983
		l.between = w
		l.dial(t, "")
		gone(t, l)
	})
	t.Run("the fingerprint is another's", func(t *testing.T) {
		l := start(t, Timing{})
		l.offered = func(offer string) string {
			at := strings.Index(offer, "a=fingerprint:sha-256 ") + len("a=fingerprint:sha-256 ")
			return strings.ReplaceAll(offer, offer[at:at+95], strings.Repeat("AB:", 31)+"AB")
		}
		l.dial(t, "")
		gone(t, l)
	})
}

// A client that opens ever more channels is disconnected. A few surplus channels are
// closed.
func TestAFloodOfChannelsEndsTheCall(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	for n := range 1000 {
		if _, err := c.CreateDataChannel(fmt.Sprint("more ", n), nil); err != nil {
			break // the channel is closed
		}
	}
	got(t, s.done)
}

// A message may be as long as the answer says. A longer one is answered with an error.
func TestATooLongMessageIsAnsweredWithAnError(t *testing.T) {
	l := start(t, Timing{})
	l.answered = func(answer string) string {
		return strings.Replace(answer, fmt.Sprint("a=max-message-size:", maxMessage), "a=max-message-size:1000000",
			1)
	}
	c := l.dial(t, "")
	s := got(t, l.opened)
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	if err := c.words.SendText(`{"type":"user_input","text":"Hi"` + strings.Repeat(" ", maxMessage-100) +
		`}`); err != nil {
		t.Fatal(err)
	}
	if m := got(t, s.got); m != (contract.UserInput{Text: "Hi"}) {
		t.Errorf("of the longest that is allowed the session got %+v", m)
	}
	if err := c.words.SendText(strings.Repeat("a", 512<<10)); err != nil {
		t.Fatal(err)
	}
	if fault := got(t, s.faults); !strings.Contains(fault, "524288 bytes; at most 262144") {
		t.Errorf("the fault is %q", fault)
	}
	s.end(contract.CloseNormal, "")
}

// Packets that do not belong to the call, and packets from elsewhere, cost no memory and
// end nothing.
func TestACallSurvivesGarbage(t *testing.T) {
	l := start(t, Timing{})
	w := newWifi(t, l.server.Port())
	l.between = w
	c := l.dial(t, "")
	s := got(t, l.opened)
	stranger, err := net.Dial("udp4", "127.0.0.1:"+l.server.Port())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	before := heap()
	for n := range 20000 {
		packet := make([]byte, 20+n%1200)
		_, _ = rand.Read(packet)
		switch n % 4 {
		case 0: // STUN, by its first bytes
			copy(packet, []byte{0, 1, 0, byte(len(packet) - 20), 0x21, 0x12, 0xa4, 0x42})
		case 1: // DTLS
			packet[0] = 22
		case 2: // SRTP, each from another source
			packet[0], packet[1] = 0x80, opusType
		}
		if n%2 == 0 {
			_, _ = stranger.Write(packet)
		} else {
			_, _ = w.inner.WriteTo(packet, w.box) // from the client's address
		}
	}
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	// The box needs a moment for the packets in its buffers.
	grown := heap() - before
	for deadline := time.Now().Add(time.Minute); grown > 16<<20 &&
		time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		grown = heap() - before
	}
	if grown > 16<<20 {
		t.Errorf("%d KiB more are in use", grown>>10)
	}
	s.end(contract.CloseNormal, "")
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// tried sends an offer to the box, and fails the test unless the result is an answer or a
// refusal with a reason.
func tried(t *testing.T, s *Server, offer string) {
	t.Helper()
	c, err := s.begin("acme", "req", "192.0.2.7", offer)
	var answer string
	if err == nil {
		answer, err = c.answer(t.Context(), offer)
		s.forget(c)
	}
	switch {
	case err != nil && !strings.HasPrefix(err.Error(), "body: "):
		t.Errorf("%q: %v", offer, err)
	case err == nil && !strings.Contains(answer, "m=audio"):
		t.Errorf("%q is answered with %q", offer, answer)
	}
}

// Offers that are damaged at any place are answered or refused, and leave nothing behind.
func TestDamagedOffersAreAnsweredOrRefused(t *testing.T) {
	l := start(t, Timing{})
	good := offerOf(t)
	chance, offers := mathrand.New(mathrand.NewPCG(1, 2)), 300
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		chance, offers = mathrand.New(mathrand.NewPCG(mathrand.Uint64(), 0)), 30000
	}
	for range offers {
		b := []byte(good)
		for range 1 + chance.IntN(6) {
			from := chance.IntN(len(b))
			to := min(len(b), from+chance.IntN(200))
			switch chance.IntN(4) {
			case 0:
				b[from] = byte(chance.IntN(256))
			case 1:
				b[from] = "0123456789 =:\r\n"[chance.IntN(15)]
			case 2:
				b = slices.Delete(b, from, min(to, from+20))
			case 3:
				b = slices.Insert(b, to, b[from:to]...)
			}
		}
		tried(t, l.server, string(b))
	}
}
