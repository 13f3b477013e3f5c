package webrtc

import (
	"net/http"
	"strings"
	"testing"

	pion "github.com/pion/webrtc/v4"
)

// The If-Match header of a WHIP client names the connection of its candidates. Candidates
// of a connection before an ICE restart are refused (RFC 9725, section 4.3.1).
func TestCandidatesOfAnEarlierConnectionAreRefused(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	got(t, l.opened)
	const candidate = "a=mid:0\r\na=candidate:1 1 udp 2130706431 192.0.2.7 9 typ host\r\n"
	restart := "a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwxyz\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\n" +
		"a=mid:0\r\n"
	code, said, head := asks(t, http.MethodPatch, c.at, fragmentType, restart, "*")
	now := head.Get("ETag")
	if code != http.StatusOK || now == "" || !strings.Contains(said, "a=ice-ufrag:") {
		t.Fatalf("ICE restart: %d, ETag %q: %s", code, now, said)
	}
	for _, p := range []struct {
		match string
		want  int
	}{{"", http.StatusNoContent}, {"*", http.StatusNoContent}, {now, http.StatusNoContent},
		{`"other", ` + now, http.StatusNoContent}, {`"other"`, http.StatusTeapot}} {
		if code, said, _ := asks(t, http.MethodPatch, c.at, fragmentType, candidate, p.match); code != p.want ||
			code == http.StatusTeapot && !strings.Contains(said, "begun anew") {
			t.Errorf("If-Match %s: %d %s", p.match, code, said)
		}
	}
	if code, said, _ := bring(t, http.MethodDelete, c.at, "", ""); code != http.StatusOK {
		t.Errorf("DELETE: %d %s", code, said)
	}
}

// A call that was hung up is gone at once.
func TestACallCanBeHungUpOnce(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	got(t, l.opened)
	for _, want := range []int{http.StatusOK, http.StatusTeapot, http.StatusTeapot} {
		if code, said, _ := bring(t, http.MethodDelete, c.at, "", ""); code != want {
			t.Errorf("DELETE: %d %s, want %d", code, said, want)
		}
	}
}

// The error for a client without Opus says so, instead of showing the library's error.
func TestTheErrorForAnOfferWithoutOpusSaysSo(t *testing.T) {
	l := start(t, Timing{})
	media := &pion.MediaEngine{}
	if err := media.RegisterCodec(
		pion.RTPCodecParameters{RTPCodecCapability: pion.RTPCodecCapability{MimeType: pion.MimeTypePCMU,
			ClockRate: 8000}, PayloadType: 0}, pion.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	pc, err := pion.NewAPI(pion.WithMediaEngine(media)).NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	if _, err := pc.AddTransceiverFromKind(pion.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if code, said, _ := bring(t, http.MethodPost, l.http.URL+"/call/", sdpType, offer.SDP); code != http.StatusTeapot ||
		!strings.Contains(said, "a=rtpmap:<number> opus/48000/2") {
		t.Errorf("%d %s", code, said)
	}
}
