package sip

import (
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/internal/sipuri"
)

// FuzzAnswersOfPeers: whatever a peer answers to a REGISTER or an INVITE, or asks for with
// REFER and NOTIFY, the box reads it within its bounds and sends nothing that has another
// line in it.
func FuzzAnswersOfPeers(f *testing.F) {
	const head = "Via: SIP/2.0/UDP a;branch=z9hG4bKa\r\nFrom: <sip:a@a>;tag=1\r\n" +
		"To: <sip:b@b>;tag=2\r\nCall-ID: c\r\nCSeq: 1 "
	for _, m := range [][2]string{
		{"SIP/2.0 401 X", "INVITE\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\"\r\n\r\n"},
		{"SIP/2.0 200 X", "REGISTER\r\nContact: <sip:parley@a:5060>;expires=30\r\nExpires: 9\r\n\r\n"},
		{"SIP/2.0 503 X", "INVITE\r\nRetry-After: 18000;duration=3600\r\nReason: Q.850;cause=17\r\n\r\n"},
		{"SIP/2.0 423 X", "REGISTER\r\nMin-Expires: 4000\r\n\r\n"},
		{"SIP/2.0 302 X", "INVITE\r\nContact: <sip:x@192.0.2.1:5;transport=tcp>\r\n\r\n"},
		{"REFER sip:a@a SIP/2.0", "REFER\r\nRefer-To: <sip:x@pbx?Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2>\r\n\r\n"},
		{"NOTIFY sip:a@a SIP/2.0", "NOTIFY\r\nEvent: refer\r\nSubscription-State: active\r\n\r\nSIP/2.0 200 OK"},
		{"INVITE sip:a@a SIP/2.0", "INVITE\r\nReplaces: c;to-tag=1;from-tag=2\r\n\r\n"},
	} {
		f.Add(m[0] + "\r\n" + head + m[1])
	}
	peer := &trunk{
		Trunk: Trunk{Name: "pbx", User: "parley", Password: "secret"},
		peers: []sipuri.Address{{Host: "pbx"}},
	}
	call := &Call{trunk: peer, dialog: &dialog{}}
	e := &Endpoint{dialogs: dialogs{calls: map[dialogID]*Call{}}}
	contact := &sip.ContactHeader{Address: sip.Uri{Scheme: "sip", User: "parley", Host: "a", Port: 5060}}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parse([]byte(text))
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *sip.Response:
			if d := grantedExpires(m, contact, time.Minute); d < 0 || d > maxExpires {
				t.Errorf("granted are %s", d)
			}
			if d := retryAfter(m); d < 0 {
				t.Errorf("the box waits for %s", d)
			}
			_ = dialError(m)
			_, _ = longer(time.Minute, m)
			_, _ = (&redirectError{res: m}).contact()
			_, _ = longerSession(peer.newRequest(sip.INVITE, peer.uri("1"), peer.uri("2"), "t", "c", 1), m)
			req := peer.newRequest(sip.INVITE, peer.uri("1"), peer.uri("2"), "t", "c", 1)
			if peer.authorize(req, m) == nil {
				oneLine(t, req)
			}
		case *sip.Request:
			_, _ = readProgress(m)
			_, _, _ = e.replaced(m, peer)
			if w, status := call.referredTo(m); status == 0 {
				req := peer.newRequest(sip.INVITE, w.to, peer.uri("2"), "t", "c", 1)
				for _, h := range w.headers {
					req.AppendHeader(h)
				}
				oneLine(t, req)
				if w.to.Host != "pbx" {
					t.Errorf("the box calls %s", w.to.String())
				}
			}
		}
	})
}

// oneLine fails if a header field has a line end in it.
func oneLine(t *testing.T, req *sip.Request) {
	t.Helper()
	for _, h := range req.Headers() {
		if strings.ContainsAny(h.String(), "\r\n\x00") {
			t.Errorf("a header field is %q", h.String())
		}
	}
	if strings.ContainsAny(req.Recipient.String(), "\r\n <>") {
		t.Errorf("the request is for %q", req.Recipient.String())
	}
}
