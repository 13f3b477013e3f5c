package sip

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestOfferDuringACallIsAnswered(t *testing.T) {
	s := open(t, desk())
	_, invite, res := s.answered()
	hold := strings.Replace(offer, "m=audio", "a=sendonly\r\nm=audio", 1)
	again := invite.in(res, "INVITE", 2, "Contact: <sip:1001@192.0.2.7:5099>")
	again.body = hold
	s.send(s.text(again))
	s.send(s.text(again.in(s.want(200), "ACK", 2)))
	update := invite.in(res, "UPDATE", 3)
	update.body = offer
	s.send(s.text(update))
	s.want(200)
	m := s.media[0]
	m.mu.Lock()
	if len(m.answered) != 3 || m.answered[1] != hold {
		t.Errorf("answered: %q", m.answered)
	}
	m.refuse = true
	m.mu.Unlock()
	again = invite.in(res, "INVITE", 4)
	again.body = offer
	s.send(s.text(again))
	s.want(488) // and the call goes on
	s.send(s.text(invite.in(res, "OPTIONS", 5)))
	s.want(200)
}

func TestInviteWithoutAnOfferDuringACallGetsOne(t *testing.T) {
	s := open(t, desk())
	_, invite, res := s.answered()
	again := invite.in(res, "INVITE", 2)
	s.send(s.text(again))
	res = s.want(200)
	if string(res.Body()) != offer {
		t.Errorf("the offer is %q", res.Body())
	}
	// Until the answer is there, further offers have to wait.
	update := invite.in(res, "UPDATE", 3)
	update.body = offer
	s.send(s.text(update))
	for res = s.want2(200, 491); res.StatusCode == 200; res = s.want2(200, 491) {
	}
	ack := again.in(res, "ACK", 2)
	ack.body = offer
	s.send(s.text(ack))
	time.Sleep(50 * time.Millisecond)
	s.media[0].mu.Lock()
	defer s.media[0].mu.Unlock()
	if got := s.media[0].accepted; len(got) != 1 {
		t.Errorf("accepted is %q", got)
	}
}

func TestRequestsOutOfOrderAreRefused(t *testing.T) {
	s := open(t, desk())
	_, invite, res := s.answered()
	s.send(s.text(invite.in(res, "OPTIONS", 5)))
	s.want(200)
	s.send(s.text(invite.in(res, "OPTIONS", 4)))
	if res := s.want(500); field(res, "retry-after", "") == "" {
		t.Errorf("no Retry-After in\n%s", res)
	}
}

func TestSecondInviteBeforeTheAckHasToWait(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	if _, err := s.invitation().Answer(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := invite.in(s.want(200), "INVITE", 2)
	again.body = offer
	s.send(s.text(again))
	for res := s.want2(200, 500); res.StatusCode == 200; res = s.want2(200, 500) {
	}
}

func TestKeysInMessagesArePressed(t *testing.T) {
	s := open(t, desk())
	c, invite, res := s.answered()
	keys := make(chan rune, 16)
	c.Listen(nil, func(key rune) { keys <- key })
	for i, body := range []string{"Signal=4\r\nDuration=160\r\n", "Signal= 11", "signal=#", "Signal=nothing"} {
		info := invite.in(res, "INFO", 2+i, "Content-Type: application/dtmf-relay")
		info.body = body
		s.send(s.text(info))
		s.want(200)
	}
	info := invite.in(res, "INFO", 10, "Content-Type: application/dtmf")
	info.body = "*"
	s.send(s.text(info))
	s.want(200)
	other := invite.in(res, "INFO", 11, "Content-Type: application/media_control+xml")
	other.body = "<x/>"
	s.send(s.text(other))
	s.want(415)
	for _, want := range "4##*" {
		if got := <-keys; got != want {
			t.Errorf("the key is %q; want %q", got, want)
		}
	}
	if len(keys) > 0 {
		t.Errorf("%d further keys came", len(keys))
	}
}

func TestSessionTimerOfTheCallerEndsALostCall(t *testing.T) {
	s := open(t, desk())
	c, _, res := s.answered("Supported: timer", "Session-Expires: 120;refresher=uac")
	if got := field(res, "session-expires", ""); got != "120;refresher=uac" || !lists(res, "require", "", "timer") {
		t.Errorf("the answer says\n%s", res)
	}
	c.timer.begin(60*time.Millisecond, false)
	s.wantRequest("BYE")
	if err := s.ended(c); !errors.Is(err, ErrLost) {
		t.Errorf("Err is %v; want %v", err, ErrLost)
	}
}

func TestBoxRefreshesTheSessionTimer(t *testing.T) {
	s := open(t, desk())
	c, _, _ := s.answered("Supported: timer", "Session-Expires: 120;refresher=uas", "Allow: INVITE, UPDATE")
	due := func() { // soon, and early enough on a machine that is busy
		c.timer.begin(100*time.Millisecond, true)
		c.timer.mu.Lock()
		defer c.timer.mu.Unlock()
		c.timer.expires = time.Now().Add(time.Minute)
	}
	for range 2 {
		due()
		update := s.wantRequest("UPDATE")
		if got := field(update, "session-expires", ""); !strings.HasSuffix(got, ";refresher=uac") {
			t.Errorf("Session-Expires is %q", got)
		}
		s.send(s.respond(update, 200, "Session-Expires: 90;refresher=uac"))
		s.refreshed(c)
	}
	c.timer.mu.Lock()
	c.timer.update = false
	c.timer.mu.Unlock()
	due()
	invite := s.wantRequest("INVITE")
	s.send(s.respond(invite, 200, "Session-Expires: 90;refresher=uac", "Content-Type: application/sdp\n"+offer))
	if ack := s.wantRequest("ACK"); ack.CSeq().SeqNo != invite.CSeq().SeqNo {
		t.Errorf("the ACK has the number %d; want %d", ack.CSeq().SeqNo, invite.CSeq().SeqNo)
	}
	s.refreshed(c)
	due()
	invite = s.wantRequest("INVITE")
	s.send(s.respond(invite, 481))
	s.wantRequest("ACK")
	s.wantRequest("BYE")
	if err := s.ended(c); !errors.Is(err, ErrLost) {
		t.Errorf("Err is %v; want %v", err, ErrLost)
	}
}

// refreshed waits until a call has the session interval 90 s.
func (s *stage) refreshed(c *Call) {
	s.Helper()
	for range 200 {
		c.timer.mu.Lock()
		interval := c.timer.interval
		c.timer.mu.Unlock()
		if interval == 90*time.Second {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatal("the interval is not 90 s")
}

func TestBoxRefreshesWhereTheCallerAsksForNoInterval(t *testing.T) {
	s := open(t, desk())
	_, _, res := s.answered("Supported: timer")
	if got := field(res, "session-expires", ""); got != "1800;refresher=uas" || lists(res, "require", "", "timer") {
		t.Errorf("the answer says\n%s", res)
	}
	if _, _, res := s.answered(); field(res, "session-expires", "") != "" {
		t.Errorf("a caller without session timers gets\n%s", res)
	}
}

func TestSilentCallIsLost(t *testing.T) {
	s := open(t, desk())
	c, _, _ := s.answered()
	close(s.media[0].silent)
	s.wantRequest("BYE")
	if err := s.ended(c); !errors.Is(err, ErrLost) {
		t.Errorf("Err is %v; want %v", err, ErrLost)
	}
}

func TestPeerThatHoldsTheBoxIsAskedWhetherItIsThere(t *testing.T) {
	s := open(t, desk())
	c, _, _ := s.answered()
	c.probe()
	s.send(s.respond(s.wantRequest("OPTIONS"), 200))
	c.probe()
	s.send(s.respond(s.wantRequest("OPTIONS"), 481))
	s.wantRequest("BYE")
	if err := s.ended(c); !errors.Is(err, ErrLost) {
		t.Errorf("Err is %v; want %v", err, ErrLost)
	}
}

func TestRequestsOfTheBoxTakeTheWayOfTheProxies(t *testing.T) {
	s := open(t, desk())
	at := s.conn.LocalAddr().String()
	c, _, res := s.answered("Record-Route: <sip:"+at+";lr>, <sip:192.0.2.9;lr>", "Contact: <sip:ada@192.0.2.7>")
	if got := len(res.GetHeaders("record-route")); got != 2 {
		t.Errorf("the answer has %d Record-Route; want 2", got)
	}
	c.HangUp()
	bye := s.wantRequest("BYE")
	routes := bye.GetHeaders("route")
	if len(routes) != 2 || routes[0].Value() != "<sip:"+at+";lr>" || bye.Recipient.Host != "192.0.2.7" {
		t.Errorf("the BYE is\n%s", bye)
	}
}

func TestRequestsOfTheBoxReachACallerBehindATranslator(t *testing.T) {
	s := open(t, desk())
	// The caller does not know under which address the box sees it.
	c, _, _ := s.answered("Via: SIP/2.0/UDP 10.1.2.3:5060;branch=z9hG4bKnat;rport", "Contact: <sip:ada@10.1.2.3:5060>")
	c.HangUp()
	s.wantRequest("BYE")
}
