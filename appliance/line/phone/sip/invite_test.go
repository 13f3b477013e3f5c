package sip

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

func TestCallIsAnsweredAndHungUpByTheCaller(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	s.want(100)
	i := s.invitation()
	if i.From != "1001" || i.To != "100" || i.Trunk != "desk" {
		t.Errorf("the invitation is %+v", i)
	}
	if err := i.Ring(); err != nil {
		t.Fatal(err)
	}
	s.want(180)
	c, err := i.Answer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	res := s.want(200)
	if string(res.Body()) != offer || res.Contact() == nil {
		t.Errorf("the answer is\n%s", res)
	}
	s.send(s.text(invite.in(res, "ACK", 1)))
	s.quiet(200 * time.Millisecond) // no repetition after the ACK
	s.send(s.text(invite.in(res, "BYE", 2)))
	s.want(200)
	if err := s.ended(c); err != nil {
		t.Errorf("Err is %v; want nil, as the caller hung up", err)
	}
	<-s.media[0].closed
}

func TestAnswerIsRepeatedUntilItsAck(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	c, err := s.invitation().Answer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s.want(100)
	for range 3 {
		s.want(200)
	}
	// Without an ACK the call is lost, and the box says BYE (RFC 3261, section 13.3.1.4).
	s.wantRequest("BYE")
	if err := s.ended(c); !errors.Is(err, ErrLost) {
		t.Errorf("Err is %v; want %v", err, ErrLost)
	}
}

func TestBoxHangsUp(t *testing.T) {
	s := open(t, desk())
	c, invite, _ := s.answered()
	c.HangUp()
	c.HangUp()
	bye := s.wantRequest("BYE")
	if string(*bye.CallID()) != invite.callID || bye.Recipient.User != "1001" || bye.CSeq().SeqNo == 0 {
		t.Errorf("the BYE is\n%s", bye)
	}
	if err := s.ended(c); !errors.Is(err, ErrClosed) {
		t.Errorf("Err is %v; want %v", err, ErrClosed)
	}
}

func TestCancelEndsAnInvitation(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	s.want(100)
	i := s.invitation()
	if err := i.Ring(); err != nil {
		t.Fatal(err)
	}
	ringing := s.want(180)
	cancel := invite
	cancel.method, cancel.body = "CANCEL", ""
	s.send(s.text(cancel))
	if res := s.want(200); res.CSeq().MethodName != "CANCEL" {
		t.Errorf("the response is to %s", res.CSeq().MethodName)
	}
	res := s.want(487)
	if tagOf(res.To().Params) != tagOf(ringing.To().Params) {
		t.Error("the tag of the box has changed")
	}
	<-i.Done()
	if _, err := i.Answer(context.Background()); !errors.Is(err, ErrOver) {
		t.Errorf("Answer returns %v; want %v", err, ErrOver)
	}
	if err := i.Reject(486, 0); !errors.Is(err, ErrOver) {
		t.Errorf("Reject returns %v; want %v", err, ErrOver)
	}
	<-s.media[0].closed
	s.quiet(150 * time.Millisecond)
}

func TestCancelAfterTheAnswerChangesNothing(t *testing.T) {
	s := open(t, desk())
	c, invite, res := s.answered()
	cancel := invite
	cancel.method, cancel.body = "CANCEL", ""
	s.send(s.text(cancel))
	s.want(200)
	s.send(s.text(invite.in(res, "OPTIONS", 2)))
	s.want(200)
	if c.Err() != nil {
		t.Errorf("the call is over: %v", c.Err())
	}
}

func TestInviteByAnotherWayIsALoop(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	s.want(100)
	s.invitation()
	s.send(s.text(invite)) // repeated: so is the response
	s.want(100)
	invite.branch += "other"
	s.send(s.text(invite))
	s.want(482)
}

func TestRingingIsRepeatedUntilItsPrack(t *testing.T) {
	s := open(t, desk())
	invite := s.dial("Require: 100rel")
	s.send(s.text(invite))
	i := s.invitation()
	if err := i.Ring(); err != nil {
		t.Fatal(err)
	}
	s.want(100)
	for range 2 {
		if res := s.want(180); field(res, "rseq", "") != "1" || !lists(res, "require", "", "100rel") {
			t.Errorf("the ringing is\n%s", res)
		}
	}
	res := s.want(180)
	s.send(s.text(invite.in(res, "PRACK", 2, "RAck: 7 1 INVITE")))
	s.want(481)
	s.send(s.text(invite.in(res, "PRACK", 3, "RAck: 1 1 INVITE")))
	for res := s.want(200); res.CSeq().MethodName != "PRACK"; res = s.want(200) {
	}
	s.quiet(300 * time.Millisecond)
	if _, err := i.Answer(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.want(200)
}

func TestCallerWithoutACodecIsRefused(t *testing.T) {
	s := open(t, desk())
	s.refuse = true
	s.send(s.text(s.dial()))
	i := s.invitation()
	if err := i.Ring(); !errors.Is(err, ErrNoCodec) {
		t.Errorf("Ring returns %v; want %v", err, ErrNoCodec)
	}
	s.want(488)
	<-i.Done()
}

func TestInviteWithoutAnOfferGetsOne(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	invite.body = ""
	s.send(s.text(invite))
	i := s.invitation()
	answered := make(chan error, 1)
	go func() {
		_, err := i.Answer(context.Background())
		answered <- err
	}()
	res := s.want(200)
	if string(res.Body()) != offer {
		t.Errorf("the offer is %q", res.Body())
	}
	ack := invite.in(res, "ACK", 1)
	ack.body = offer
	s.send(s.text(ack))
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if got := s.media[0].accepted; len(got) != 1 || got[0] != offer {
		t.Errorf("accepted is %q", got)
	}
}

func TestInviteWithoutAnOfferWhoseAckHasNoAnswerIsEnded(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	invite.body = ""
	s.send(s.text(invite))
	i := s.invitation()
	answered := make(chan error, 1)
	go func() {
		_, err := i.Answer(context.Background())
		answered <- err
	}()
	s.send(s.text(invite.in(s.want(200), "ACK", 1)))
	if err := <-answered; !errors.Is(err, ErrNoCodec) {
		t.Errorf("Answer returns %v; want %v", err, ErrNoCodec)
	}
	s.wantRequest("BYE")
}

func TestSdpAmongOtherPartsIsFound(t *testing.T) {
	s := open(t, desk())
	invite := s.dial("Content-Type: multipart/mixed;boundary=\"xx\"")
	invite.body = "--xx\r\nContent-Type: application/isup\r\n\r\n\x01\x02\r\n" +
		"--xx\r\nContent-Type: application/sdp\r\n\r\n" + offer + "\r\n--xx--\r\n"
	s.send(s.text(invite))
	if _, err := s.invitation().Answer(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.want(200)
}

func TestEndBeforeTheAnswer(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	i := s.invitation()
	if err := i.Ring(); err != nil {
		t.Fatal(err)
	}
	s.send(s.text(invite.in(s.want(180), "BYE", 2)))
	s.want(200)
	s.want(487)
	<-i.Done()
}

func TestCallerThatWaitsNoLongerIsReleased(t *testing.T) {
	s := open(t, desk())
	s.send(s.text(s.dial("Expires: 1")))
	i := s.invitation()
	s.want(487)
	<-i.Done()
}

func TestPanicOfWhoAnswersCostsOneCall(t *testing.T) {
	s := open(t, desk())
	s.send(s.text(s.dial("From: <sip:" + panics + "@h>;tag=caller")))
	s.want(500)
	s.answered()
}

func TestStoppingBoxTellsEveryCall(t *testing.T) {
	s := open(t, desk())
	c, _, _ := s.answered()
	s.send(s.text(s.dial()))
	s.want(100)
	i := s.invitation()
	closed := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		closed <- s.e.Close(ctx)
	}()
	var bye, refused bool
	for !bye || !refused {
		switch m := s.read(time.Second).(type) {
		case *sip.Request:
			bye = m.Method == sip.BYE
			s.send(sip.NewResponseFromRequest(m, 200, "OK", nil).String())
		case *sip.Response:
			refused = m.StatusCode == 503
		default:
			t.Fatalf("BYE came: %v, 503 came: %v", bye, refused)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := s.ended(c); !errors.Is(err, ErrClosed) {
		t.Errorf("Err is %v; want %v", err, ErrClosed)
	}
	<-i.Done()
}
