package sip

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

// transfers transfers a call in the background.
func transfers(c *Call, to string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Transfer(context.Background(), to) }()
	return done
}

func ends(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(3 * time.Second):
		t.Fatal("Transfer does not return")
		return nil
	}
}

func news(f *far, invite *sip.Request, number int, state, status string) {
	f.Helper()
	f.inside(invite, "NOTIFY", number, "Event: refer", "Subscription-State: "+state,
		"Content-Type: message/sipfrag", "body: "+status+"\r\n")
	f.wantStatus(200)
}

func TestTransferIsFollowedUntilTheNewCallIsAnswered(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	done := transfers(c, "200#")
	refer := f.want("REFER")
	if got, want := field(refer, "Refer-To", "r"), "<sip:200%23@"+f.address()+">"; got != want {
		t.Errorf("Refer-To is %s; want %s", got, want)
	}
	if field(refer, "Referred-By", "b") == "" || tagOf(refer.To().Params) != f.tag {
		t.Errorf("the REFER is\n%s", refer)
	}
	f.answer(refer, 202, "")
	news(f, invite, 1, "active;expires=60", "SIP/2.0 100 Trying")
	news(f, invite, 2, "active;expires=60", "SIP/2.0 180 Ringing")
	select {
	case err := <-done:
		t.Fatalf("Transfer returned %v while the new call rings", err)
	case <-time.After(50 * time.Millisecond):
	}
	news(f, invite, 3, "terminated;reason=noresource", "SIP/2.0 200 OK")
	if err := ends(t, done); err != nil {
		t.Error(err)
	}
	f.answer(f.want("BYE"), 200, "")
	_ = s.ended(c)
}

func TestFailedTransferLeavesTheCall(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	for i, p := range []struct {
		refer  int    // the answer to REFER
		state  string // of the NOTIFY; "": none comes
		body   string
		status int // of the error
	}{
		{405, "", "", 405},
		{603, "", "", 603},
		{202, "terminated;reason=noresource", "SIP/2.0 486 Busy Here", 486},
		{202, "active", "SIP/2.0 603 Decline", 603},
		{202, "terminated;reason=giveup", "", 0},
	} {
		done := transfers(c, "200")
		f.answer(f.want("REFER"), p.refer, "")
		if p.state != "" {
			news(f, invite, i+1, p.state, p.body)
		}
		err := ends(t, done)
		var failed *TransferError
		if !errors.As(err, &failed) || failed.Status != p.status {
			t.Errorf("%+v: the error is %v", p, err)
		}
	}
	if err := c.Transfer(context.Background(), "sip:x@elsewhere.example"); err == nil {
		t.Error("a foreign address was taken")
	}
	select {
	case <-c.Done():
		t.Error("the call is over")
	default:
	}
}

func TestTransferSucceedsWhenThePeerHangsUpWithoutNews(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	done := transfers(c, "200")
	f.answer(f.want("REFER"), 202, "")
	f.inside(invite, "BYE", 1)
	f.wantStatus(200)
	if err := ends(t, done); err != nil {
		t.Error(err)
	}
}

func TestBoxCallsWhomThePeerRefersItTo(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	f.inside(invite, "REFER", 5, "Refer-To: <sip:200@"+f.address()+
		"?Replaces=abc%40far%3Bto-tag%3D1%3Bfrom-tag%3D2>", "Referred-By: <sip:ada@far>")
	f.wantStatus(202)
	second, seen := f.untilInvite("100")
	if !seen || second.Recipient.User != "200" {
		t.Errorf("news came: %v; the INVITE is for %s", seen, second.Recipient.String())
	}
	if got := field(second, "Replaces", ""); got != "abc@far;to-tag=1;from-tag=2" {
		t.Errorf("Replaces is %q", got)
	}
	if field(second, "Referred-By", "b") != "<sip:ada@far>" {
		t.Errorf("the INVITE is\n%s", second)
	}
	f.tag = "third"
	f.answer(second, 180, "")
	f.notified("180")
	f.answer(second, 200, strings.Replace(offer, "4000", "4100", 1))
	f.want("ACK")
	f.notified("200")
	f.answer(f.want("BYE"), 200, "") // of the first dialog
	if _, got := s.sound(); len(got) != 2 || !strings.Contains(got[1], "4100") || len(s.media) != 1 {
		t.Errorf("the media got the answers %q, and there are %d", got, len(s.media))
	}
	select {
	case <-c.Done():
		t.Fatal("the call is over")
	default:
	}
	f.inside(second, "BYE", 1)
	f.wantStatus(200)
	if err := s.ended(c); err != nil {
		t.Errorf("Err is %v", err)
	}
}

// notified answers a NOTIFY that has to tell a status.
func (f *far) notified(status string) {
	f.Helper()
	notify := f.want("NOTIFY")
	if !strings.HasPrefix(string(notify.Body()), "SIP/2.0 "+status) {
		f.Errorf("the NOTIFY says %q; want %s", notify.Body(), status)
	}
	if event := field(notify, "Event", "o"); !strings.HasPrefix(event, "refer") {
		f.Errorf("the event is %q", event)
	}
	f.answer(notify, 200, "")
}

// untilInvite returns the next INVITE, and whether a NOTIFY with a status came before.
func (f *far) untilInvite(status string) (invite *sip.Request, told bool) {
	f.Helper()
	for range 2 {
		req, ok := f.next(3 * time.Second).(*sip.Request)
		if !ok {
			f.Fatal("no request came")
		}
		f.seen[req.Via().Value()+string(req.Method)] = true
		switch req.Method {
		case sip.NOTIFY:
			told = strings.HasPrefix(string(req.Body()), "SIP/2.0 "+status)
			f.answer(req, 200, "")
		case sip.INVITE:
			invite = req
		}
		if invite != nil && told {
			break
		}
	}
	return invite, told
}

func TestCallGoesOnWhenTheNewOneIsNotAnswered(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	f.inside(invite, "REFER", 5, "Refer-To: sip:200@"+f.address())
	f.wantStatus(202)
	second, _ := f.untilInvite("100")
	f.tag = "third"
	f.answer(second, 486, "")
	f.want("ACK")
	f.notified("486")
	f.tag = "far"
	f.inside(invite, "OPTIONS", 6)
	f.wantStatus(200)
	select {
	case <-c.Done():
		t.Error("the call is over")
	default:
	}
	if _, got := s.sound(); len(got) != 1 {
		t.Errorf("the media got the answers %q", got)
	}
}

func TestReferElsewhereIsRefused(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	_, invite := s.connected(f)
	for i, c := range []struct {
		to     string
		status int
	}{
		{"<sip:1900@elsewhere.example>", 403},
		{"<http://elsewhere.example/>", 416},
		{"<sip:200@" + f.address() + ";method=BYE>", 603},
		{"<sip:" + f.address() + ">", 400},
		{"<sip:200@" + f.address() + "?Replaces=x%0D%0AX-Header:1>", 400},
		{"<sip:200@" + f.address() + "?Replaces=x>", 400},
	} {
		f.inside(invite, "REFER", 5+i, "Refer-To: "+c.to)
		if res, ok := f.next(3 * time.Second).(*sip.Response); !ok || res.StatusCode != c.status {
			t.Errorf("%s: came %v; want %d", c.to, res, c.status)
		}
	}
}

func TestInviteWithReplacesTakesTheCallOver(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, first := s.connected(f)
	replaces := fmt.Sprintf("Replaces: %s;to-tag=%s;from-tag=%s", *first.CallID(), tagOf(first.From().Params), f.tag)
	f.invites(s, "one", offer, strings.Replace(replaces, "to-tag=", "to-tag=x", 1))
	f.final(481)
	f.invites(s, "two", offer, replaces+";early-only")
	f.final(486)
	f.invites(s, "three", strings.Replace(offer, "4000", "4200", 1), replaces)
	res := f.final(200)
	f.confirms(s, "three", res)
	f.answer(f.want("BYE"), 200, "")
	if got, _ := s.sound(); len(got) != 1 || !strings.Contains(got[0], "4200") || len(s.media) != 1 {
		t.Errorf("the media got the offers %q, and there are %d", got, len(s.media))
	}
	select {
	case <-c.Done():
		t.Fatal("the call is over")
	default:
	}
	c.HangUp()
	if bye := f.want("BYE"); tagOf(bye.To().Params) != "taker" {
		t.Errorf("the BYE is\n%s", bye)
	}
}

// invites sends an INVITE of another telephone.
func (f *far) invites(s *stage, id, body string, fields ...string) {
	f.send(f.taker(s, id, "INVITE", "", body, fields))
}

// confirms sends the ACK of an answer to it.
func (f *far) confirms(s *stage, id string, res *sip.Response) {
	f.send(f.taker(s, id, "ACK", tagOf(res.To().Params), "", nil))
}

func (f *far) taker(s *stage, id, method, tag, body string, fields []string) sip.Message {
	f.Helper()
	head := []string{
		method + " sip:parley@" + s.at + " SIP/2.0",
		fmt.Sprintf("Via: SIP/2.0/UDP %s;branch=z9hG4bK%s%s;rport", f.address(), method, id),
		"From: <sip:taker@far>;tag=taker",
		"To: <sip:parley@" + s.at + ">",
		"Call-ID: " + id,
		"CSeq: 1 " + method,
		"Contact: <sip:taker@" + f.address() + ">",
		"Content-Type: application/sdp",
	}
	if tag != "" {
		head[3] += ";tag=" + tag
	}
	head = append(append(head, fields...), fmt.Sprintf("Content-Length: %d", len(body)), "", body)
	m, err := parse([]byte(strings.Join(head, "\r\n")))
	if err != nil {
		f.Fatal(err)
	}
	return m
}

// final returns the next final response, which has to have a status.
func (f *far) final(status int) *sip.Response {
	f.Helper()
	for {
		res, ok := f.next(3 * time.Second).(*sip.Response)
		if !ok || res.StatusCode >= 200 && res.StatusCode != status {
			f.Fatalf("came %v; want %d", res, status)
		}
		if res.StatusCode == status {
			return res
		}
	}
}
