package sip

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"
)

// A change makes a request another one.
type change func(*request)

func with(fields ...string) change { return func(r *request) { r.fields = fields } }

func TestRequestsThatTheBoxCannotTakeAreRefused(t *testing.T) {
	s := open(t, desk())
	for _, c := range []struct {
		name   string
		change change
		status int
		field  string // of the response
		value  string
	}{
		{"unknown option", with("Require: 100rel, magic"), 420, "Unsupported", "magic"},
		{"other body", with("Content-Type: text/plain"), 415, "Accept", "application/sdp"},
		{"encoded body", with("Content-Encoding: gzip"), 415, "Accept-Encoding", "identity"},
		{"body of no type", with("Content-Type: /"), 415, "Accept", "application/sdp"},
		{"no hops left", with("Max-Forwards: 0"), 483, "", ""},
		{"short timer", with("Supported: timer", "Session-Expires: 30"), 422, "Min-SE", "90"},
		{"unknown method", func(r *request) { r.method = "DANCE" }, 501, "Allow", "UPDATE"},
		{"method of others", func(r *request) { r.method = "PUBLISH" }, 405, "Allow", "INVITE"},
		{"end of no call", func(r *request) { r.method, r.toTag = "BYE", "none" }, 481, "", ""},
		{"end without a call", func(r *request) { r.method = "BYE" }, 481, "", ""},
		{"cancel of no call", func(r *request) { r.method = "CANCEL" }, 481, "", ""},
	} {
		r := s.dial()
		c.change(&r)
		s.send(s.text(r))
		res := s.want(c.status)
		if c.field != "" && !strings.Contains(field(res, c.field, ""), c.value) {
			t.Errorf("%s: %s is %q; want %s in it", c.name, c.field, field(res, c.field, ""), c.value)
		}
	}
	for _, c := range []struct {
		name, old, new string
		status         int
	}{
		{"scheme", "INVITE sip:100@" + s.at, "INVITE weird:100", 416},
		{"version", " SIP/2.0\r\nVia", " SIP/7.0\r\nVia", 505},
		{"no contact", "Contact:", "X-Contact:", 400},
		{"contact of all", "<sip:1001@" + s.conn.LocalAddr().String() + ">\r\nContent-T", "*\r\nContent-T", 400},
		{"no From", "From:", "X-From:", 0},
		{"other method", "CSeq: 1 INVITE", "CSeq: 1 BYE", 400},
		{"long number", "CSeq: 1 INVITE", "CSeq: 4294967296 INVITE", 0},
		{"two Call-IDs", "Call-ID:", "Call-ID: other\r\nCall-ID:", 400},
		{"negative length", "Content-Length: ", "Content-Length: -", 400},
		{"long body", "Content-Length: ", "Content-Length: 9", 400},
	} {
		text := s.text(s.dial())
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("%s: nothing changed in\n%s", c.name, text)
		}
		s.send(changed)
		if c.status == 0 {
			s.quiet(50 * time.Millisecond)
			continue
		}
		s.want(c.status)
	}
	if n := len(s.invitations); n != 0 {
		t.Errorf("there are %d invitations; want none", n)
	}
}

func TestStrangersAreRefusedWithoutState(t *testing.T) {
	s := open(t, Trunk{Name: "other", Address: "192.0.2.1"})
	for range 3 {
		s.send(s.text(s.dial()))
		s.want(403)
	}
	options := s.dial()
	options.method = "OPTIONS"
	s.send(s.text(options))
	s.want(403)
	s.e.transactions.mu.Lock()
	defer s.e.transactions.mu.Unlock()
	if len(s.e.servers) != 0 || len(s.e.calls) != 0 {
		t.Errorf("%d transactions and %d calls are stored; want none", len(s.e.servers), len(s.e.calls))
	}
}

func TestStrangerWithAPasswordCalls(t *testing.T) {
	s := open(t, Trunk{Name: "mobile", User: "ada", Password: "secret"})
	challenge := func(algorithm string) *digest.Challenge {
		t.Helper()
		s.send(s.text(s.dial()))
		c, err := digest.ParseChallenge(field(s.want(401), "www-authenticate", ""))
		if err != nil {
			t.Fatal(err)
		}
		c.Algorithm = algorithm
		return c
	}
	show := func(c *digest.Challenge, count int, password string) string {
		t.Helper()
		shown, err := digest.Digest(c, digest.Options{
			Method:   "INVITE",
			URI:      "sip:100@" + s.at,
			Count:    count,
			Username: "ada",
			Password: password,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := s.dial("Authorization: " + shown.String())
		return s.text(r)
	}
	for _, algorithm := range []string{"MD5", "SHA-256"} {
		c := challenge(algorithm)
		s.send(show(c, 1, "wrong"))
		s.want(403)
		s.send(show(c, 1, "secret"))
		s.want(100)
		i := s.invitation()
		if i.Trunk != "mobile" {
			t.Errorf("the trunk is %q", i.Trunk)
		}
		if err := i.Reject(486, 0); err != nil {
			t.Fatal(err)
		}
		s.want(486)
		s.send(show(c, 1, "secret")) // recorded by somebody and sent again
		if res := s.want(401); !strings.Contains(field(res, "www-authenticate", ""), "stale=true") {
			t.Errorf("the challenge is\n%s", res)
		}
	}
	c := challenge("MD5")
	c.QOP = nil // as the oldest telephones answer
	s.send(show(c, 0, "secret"))
	s.want(100)
	c.Nonce = strings.Repeat("0", len(c.Nonce))
	s.send(show(c, 0, "secret"))
	s.want(401)
}

func TestOptionsTellWhatTheBoxCan(t *testing.T) {
	s := open(t, desk())
	r := s.dial()
	r.method, r.body = "OPTIONS", ""
	s.send(s.text(r))
	res := s.want(200)
	for field, word := range map[string]string{"allow": "PRACK", "supported": "timer", "accept": "application/sdp"} {
		if !lists(res, field, "", word) {
			t.Errorf("%s has no %s in\n%s", field, word, res)
		}
	}
}

func TestFloodOfCallsLeavesLiveOnesAlone(t *testing.T) {
	s := open(t, desk())
	_, invite, res := s.answered()
	flood := s.socket()
	for range 300 {
		other := s.dial()
		if _, err := flood.Write([]byte(s.text(other))); err != nil {
			t.Fatal(err)
		}
	}
	for n := 2; n < 12; n++ {
		r := invite.in(res, "OPTIONS", n)
		s.send(s.text(r))
		for {
			m := s.want(200)
			if int(m.CSeq().SeqNo) == n {
				break
			}
		}
	}
	s.e.table.Lock()
	defer s.e.table.Unlock()
	if n := len(s.e.calls); n > int(inviteRate.burst)+10 {
		t.Errorf("%d calls were taken; want at most %v at once", n, inviteRate.burst)
	}
}

func TestFloodOfStrangersIsIgnored(t *testing.T) {
	s := open(t, Trunk{Name: "other", Address: "192.0.2.1"})
	text := s.text(s.dial())
	for range 200 {
		s.send(text)
	}
	answers := 0
	for s.read(100*time.Millisecond) != nil {
		answers++
	}
	if most := int(strangerRate.burst + 2*strangerRate.perSecond); answers == 0 || answers > most {
		t.Errorf("%d answers came; want at most %d, and one at least", answers, most)
	}
	// However many addresses there are, what is stored about them is bounded.
	address := netip.MustParseAddr("10.0.0.0")
	for range 3 * maxSources {
		address = address.Next()
		s.e.admit(address, []byte(text))
	}
	s.e.sources.mu.Lock()
	defer s.e.sources.mu.Unlock()
	if n := len(s.e.buckets); n > maxSources {
		t.Errorf("%d addresses are stored; want at most %d", n, maxSources)
	}
}
