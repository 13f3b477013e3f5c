package sip

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestCallIsAnsweredAndHungUpByTheCaller(t *testing.T) {
	s := open(t, desk())
	invite := s.dial()
	s.send(s.text(invite))
	s.want(100)
	i := s.invitation()
	if i.From != "1001" || i.To != "100" || i.DisplayName != "Ada" || i.Trunk != "desk" || i.CallID != invite.callID {
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
