package sip

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
)

func TestCallOutIsAnsweredAndHungUp(t *testing.T) {
	f := newFar(t)
	trunk := f.trunk()
	trunk.From = "+4930123"
	s := open(t, trunk)
	done := s.dials(context.Background(), DialOptions{Trunk: "far", To: "+49 (0)30 / 555-1*#"})
	invite := f.want("INVITE")
	if got, want := invite.Recipient.String(), "sip:+49305551%2A%23@"+f.address(); !strings.EqualFold(got, want) &&
		got != strings.ReplaceAll(want, "%2A", "*") {
		t.Errorf("the INVITE is for %s; want %s", got, want)
	}
	if from := invite.From().Address.User; from != "+4930123" {
		t.Errorf("From shows %q", from)
	}
	if id := field(invite, "P-Preferred-Identity", ""); !strings.HasPrefix(id, "<sip:+4930123@") {
		t.Errorf("P-Preferred-Identity is %q", id)
	}
	if expires := field(invite, "Session-Expires", "x"); !strings.HasPrefix(expires, "1800") {
		t.Errorf("Session-Expires is %q", expires)
	}
	f.answer(invite, 100, "")
	f.answer(invite, 180, "")
	f.answer(invite, 200, offer)
	ack := f.want("ACK")
	if ack.CSeq().SeqNo != invite.CSeq().SeqNo || tagOf(ack.To().Params) != f.tag {
		t.Errorf("the ACK is\n%s", ack)
	}
	c, err := result(t, done)
	if err != nil {
		t.Fatal(err)
	}
	if _, got := s.sound(); len(got) != 1 || got[0] != offer {
		t.Errorf("the media got the answers %q", got)
	}
	f.answer(invite, 200, offer) // the ACK was lost
	f.want("ACK")
	c.HangUp()
	f.answer(f.want("BYE"), 200, "")
	if err := s.ended(c); !errors.Is(err, ErrClosed) {
		t.Errorf("Err is %v", err)
	}
}

func TestCallOutEndsWhenTheFarSideHangsUp(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	f.inside(invite, "BYE", 1)
	f.wantStatus(200)
	if err := s.ended(c); err != nil {
		t.Errorf("Err is %v; want nil", err)
	}
	<-s.media[0].closed
}

func TestWhyACallOutWasNotAnsweredIsTold(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	for _, c := range []struct {
		status int
		reason string
		want   contract.AnsweredBy
	}{
		{486, "", contract.ByBusy},
		{600, "", contract.ByBusy},
		{480, "", contract.ByNobody},
		{408, "", contract.ByNobody},
		{603, "", contract.ByRejected},
		{403, "", contract.ByRejected},
		{404, "", contract.ByWrongNumber},
		{410, "", contract.ByWrongNumber},
		{484, "", contract.ByWrongNumber},
		{604, "", contract.ByWrongNumber},
		{488, "", contract.ByFailedNetworks},
		{500, "", contract.ByFailedNetworks},
		{503, "", contract.ByFailedNetworks},
		{480, "Q.850;cause=17;text=\"User busy\"", contract.ByBusy},
		{503, "Q.850 ;cause=1", contract.ByWrongNumber},
		{487, "SIP;cause=200, Q.850;cause=21", contract.ByNobody}, // one line of two is not read
	} {
		done := s.dials(context.Background(), DialOptions{To: "100"})
		var fields []string
		if c.reason != "" {
			fields = append(fields, "Reason: "+c.reason)
		}
		f.answer(f.want("INVITE"), c.status, "", fields...)
		f.want("ACK")
		call, err := result(t, done)
		var refused *DialError
		if call != nil || !errors.As(err, &refused) || refused.By != c.want || refused.Status != c.status {
			t.Errorf("%d %s: %v; want %s", c.status, c.reason, err, c.want)
		}
	}
	for _, m := range s.media {
		<-m.closed
	}
}

func TestCallOutShowsItsPasswordOnceForANonce(t *testing.T) {
	const challenge = `Digest realm="far", nonce="n1", qop="auth, auth-int", algorithm=md5`
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100"})
	first := f.want("INVITE")
	f.answer(first, 407, "", "Proxy-Authenticate: "+challenge)
	f.want("ACK")
	second := f.want("INVITE")
	if second.CSeq().SeqNo != first.CSeq().SeqNo+1 || *second.CallID() != *first.CallID() {
		t.Errorf("the second INVITE is\n%s", second)
	}
	if shown := field(second, "Proxy-Authorization", ""); !strings.Contains(shown, `username="parley"`) ||
		!strings.Contains(shown, `uri="`+second.Recipient.String()+`"`) || !strings.Contains(shown, "nc=00000001") {
		t.Errorf("Proxy-Authorization is %s", shown)
	}
	// A nonce that is stale is no refusal; one that was not stale is.
	f.answer(second, 407, "", `Proxy-Authenticate: Digest realm="far", nonce="n2", stale=TRUE`)
	f.want("ACK")
	third := f.want("INVITE")
	if shown := third.GetHeaders("Proxy-Authorization"); len(shown) != 1 || !strings.Contains(shown[0].Value(), "n2") {
		t.Errorf("Proxy-Authorization is %v", shown)
	}
	f.answer(third, 407, "", `Proxy-Authenticate: Digest realm="far", nonce="n3"`)
	f.want("ACK")
	if _, err := result(t, done); err == nil || !strings.Contains(err.Error(), "does not accept the user") {
		t.Errorf("the error is %v", err)
	}
}

func TestChallengeOfEachProxyIsAnswered(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100"})
	f.answer(f.want("INVITE"), 401, "", `WWW-Authenticate: Basic realm="x"`,
		`WWW-Authenticate: Digest realm="one", nonce="a", algorithm=SHA-256`,
		`WWW-Authenticate: Digest realm="one", nonce="a", algorithm=MD5`)
	f.want("ACK")
	again := f.want("INVITE")
	if shown := again.GetHeaders("Authorization"); len(shown) != 1 || !strings.Contains(shown[0].Value(), "SHA-256") {
		t.Errorf("Authorization is %v", shown)
	}
	f.answer(again, 407, "", `Proxy-Authenticate: Digest realm="two", nonce="b"`)
	f.want("ACK")
	again = f.want("INVITE")
	if field(again, "Authorization", "") == "" || field(again, "Proxy-Authorization", "") == "" {
		t.Errorf("a password is missing:\n%s", again)
	}
	f.answer(again, 200, offer)
	if ack := f.want("ACK"); field(ack, "Authorization", "") == "" {
		t.Errorf("the ACK has no Authorization:\n%s", ack)
	}
	if _, err := result(t, done); err != nil {
		t.Error(err)
	}
}

func TestTrunkWithoutPasswordSaysSo(t *testing.T) {
	f := newFar(t)
	s := open(t, Trunk{Name: "far", Address: f.address()})
	done := s.dials(context.Background(), DialOptions{To: "100"})
	f.answer(f.want("INVITE"), 401, "", `WWW-Authenticate: Digest realm="one", nonce="a"`)
	if _, err := result(t, done); err == nil || !strings.Contains(err.Error(), "asks for a password") {
		t.Errorf("the error is %v", err)
	}
	if got := s.e.Trunks()[0].LastError; !strings.Contains(got, "asks for a password") {
		t.Errorf("the trunk's last error is %q", got)
	}
}

func TestUnansweredCallIsCancelledAfterItsTime(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100", RingFor: 150 * time.Millisecond})
	invite := f.want("INVITE")
	f.answer(invite, 180, "")
	cancel := f.want("CANCEL")
	if got, want := cancel.Via().Value(), invite.Via().Value(); got != want {
		t.Errorf("the CANCEL has the Via %s; want that of the INVITE, %s", got, want)
	}
	if cancel.CSeq().SeqNo != invite.CSeq().SeqNo || cancel.To().Params.Has("tag") {
		t.Errorf("the CANCEL is\n%s", cancel)
	}
	_, err := result(t, done)
	var refused *DialError
	if !errors.As(err, &refused) || refused.By != contract.ByNobody {
		t.Errorf("the error is %v", err)
	}
	f.answer(cancel, 200, "")
	f.answer(invite, 487, "")
	f.want("ACK")
}

func TestCancelWaitsForAProvisionalResponse(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	ctx, cancel := context.WithCancelCause(context.Background())
	done := s.dials(ctx, DialOptions{To: "100"})
	invite := f.want("INVITE")
	gone := errors.New("the caller is gone")
	cancel(gone)
	if _, err := result(t, done); !errors.Is(err, gone) {
		t.Errorf("the error is %v; want the cause of the context", err)
	}
	if again, ok := f.next(time.Second).(*sip.Request); !ok || again.Method != sip.INVITE {
		t.Errorf("came %v; want the INVITE again, and no CANCEL", again)
	}
	f.answer(invite, 100, "")
	f.answer(f.want("CANCEL", "INVITE"), 200, "")
	f.answer(invite, 487, "")
	f.want("ACK")
}

func TestAnswerThatCrossesTheCancelIsHungUp(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	ctx, cancel := context.WithCancel(context.Background())
	done := s.dials(ctx, DialOptions{To: "100"})
	invite := f.want("INVITE")
	f.answer(invite, 180, "")
	time.Sleep(20 * time.Millisecond)
	cancel()
	f.answer(f.want("CANCEL"), 481, "")
	f.answer(invite, 200, offer)
	if _, err := result(t, done); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	f.want("ACK", "CANCEL")
	f.answer(f.want("BYE"), 200, "")
}

func TestEveryFurtherTelephoneThatAnswersIsHungUp(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, invite := s.connected(f)
	f.tag = "second"
	f.answer(invite, 200, offer)
	ack := f.want("ACK")
	bye := f.want("BYE")
	if tagOf(ack.To().Params) != "second" || tagOf(bye.To().Params) != "second" {
		t.Errorf("another telephone was hung up:\n%s\n%s", ack, bye)
	}
	f.answer(bye, 200, "")
	f.answer(invite, 200, offer) // repeated: only the ACK is
	f.want("ACK")
	select {
	case <-c.Done():
		t.Error("the call is over")
	default:
	}
}

func TestReliableResponsesAreConfirmedInOrder(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100"})
	invite := f.want("INVITE")
	if !lists(invite, "Supported", "k", "100rel") {
		t.Errorf("Supported is %q", field(invite, "Supported", "k"))
	}
	f.answer(invite, 183, offer, "Require: 100rel", "RSeq: 7")
	prack := f.want("PRACK")
	if got := field(prack, "RAck", ""); got != "7 "+field(invite, "CSeq", "") {
		t.Errorf("RAck is %q", got)
	}
	f.answer(prack, 200, "")
	f.answer(invite, 183, offer, "Require: 100rel", "RSeq: 7") // a repetition
	f.answer(invite, 180, "", "Require: 100rel", "RSeq: 9")    // one is missing
	f.answer(invite, 180, "", "Require: 100rel", "RSeq: 8")
	prack = f.want("PRACK")
	if got := field(prack, "RAck", ""); !strings.HasPrefix(got, "8 ") {
		t.Errorf("RAck is %q", got)
	}
	f.answer(prack, 200, "")
	f.answer(invite, 200, "") // the answer about sound was in the 183
	f.want("ACK")
	c, err := result(t, done)
	if err != nil {
		t.Fatal(err)
	}
	c.HangUp()
	if bye := f.want("BYE"); bye.CSeq().SeqNo <= prack.CSeq().SeqNo {
		t.Errorf("BYE has the number %d, PRACK had %d", bye.CSeq().SeqNo, prack.CSeq().SeqNo)
	}
}

func TestRedirectedCallFollowsAndIsBounded(t *testing.T) {
	f, other := newFar(t), newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100"})
	f.answer(f.want("INVITE"), 302, "", "Contact: <sip:200@"+other.address()+">")
	f.want("ACK")
	invite := other.want("INVITE")
	if got := invite.Recipient.User; got != "200" {
		t.Errorf("the new INVITE is for %q", got)
	}
	other.answer(invite, 200, offer)
	other.want("ACK")
	if _, err := result(t, done); err != nil {
		t.Fatal(err)
	}
	done = s.dials(context.Background(), DialOptions{To: "100"})
	for range maxRedirects + 1 {
		f.answer(f.want("INVITE"), 302, "", "Contact: <sip:100@"+f.address()+">")
		f.want("ACK")
	}
	if _, err := result(t, done); err == nil || !strings.Contains(err.Error(), "too often") {
		t.Errorf("the error is %v", err)
	}
}

func TestCallTriesTheNextAddress(t *testing.T) {
	dead, busy, f := newFar(t), newFar(t), newFar(t)
	trunk := f.trunk()
	trunk.Address = strings.Join([]string{busy.address(), f.address()}, ",")
	dead.conn.Close()
	s := open(t, trunk)
	done := s.dials(context.Background(), DialOptions{To: "100"})
	busy.answer(busy.want("INVITE"), 503, "")
	busy.want("ACK")
	f.answer(f.want("INVITE"), 486, "")
	f.want("ACK")
	var refused *DialError
	if _, err := result(t, done); !errors.As(err, &refused) || refused.By != contract.ByBusy {
		t.Errorf("the error is %v", err)
	}
}

func TestSessionIntervalThatIsTooShortIsRaised(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100"})
	f.answer(f.want("INVITE"), 422, "", "Min-SE: 7200")
	f.want("ACK")
	again := f.want("INVITE")
	if got := field(again, "Session-Expires", "x"); got != "7200" {
		t.Errorf("Session-Expires is %q", got)
	}
	f.answer(again, 486, "")
	if _, err := result(t, done); err == nil {
		t.Error("no error")
	}
}

func TestClosingCancelsACallThatRings(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100"})
	invite := f.want("INVITE")
	f.answer(invite, 180, "")
	time.Sleep(20 * time.Millisecond)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		s.e.closeTrunks(ctx)
	}()
	f.answer(f.want("CANCEL"), 200, "")
	f.answer(invite, 487, "")
	f.want("ACK")
	if _, err := result(t, done); !errors.Is(err, errClosing) {
		t.Errorf("the error is %v", err)
	}
	<-closed
}

func TestClosingWaitsForCallsThatWereJustHungUp(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	c, _ := s.connected(f)
	c.HangUp()
	<-c.Done()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.e.closeTrunks(context.Background())
	}()
	bye := f.want("BYE")
	select {
	case <-closed:
		t.Error("closing does not wait for the confirmation")
	case <-time.After(50 * time.Millisecond):
	}
	f.answer(bye, 200, "")
	<-closed
}

func TestSilentPeerIsNoTelephoneThatNobodyAnswers(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	done := s.dials(context.Background(), DialOptions{To: "100", RingFor: 200 * time.Millisecond})
	f.want("INVITE")
	var refused *DialError
	if _, err := result(t, done); !errors.As(err, &refused) || refused.By != contract.ByFailedNetworks {
		t.Errorf("the error is %v", err)
	}
}
