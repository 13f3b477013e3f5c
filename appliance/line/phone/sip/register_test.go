package sip

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

// registers returns the trunk of the far side, at which the box registers.
func (f *far) registers() Trunk {
	t := f.trunk()
	t.Register = true
	return t
}

// until waits for a state of the trunk.
func (s *stage) until(what string, is func(TrunkStatus) bool) TrunkStatus {
	s.Helper()
	for range 300 {
		if status := s.e.Trunks()[0]; is(status) {
			return status
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatalf("the trunk is not %s: %+v", what, s.e.Trunks()[0])
	return TrunkStatus{}
}

func registered(s TrunkStatus) bool { return s.Registered }

func TestTrunkIsRegisteredRefreshedAndUnregistered(t *testing.T) {
	f := newFar(t)
	s := open(t, f.registers())
	first := f.want("REGISTER")
	if got, want := first.Recipient.String(), "sip:"+f.address(); got != want {
		t.Errorf("the REGISTER is for %s; want %s", got, want)
	}
	if got, want := first.To().Address.String(), "sip:parley@127.0.0.1"; got != want {
		t.Errorf("the REGISTER is of %s; want %s", got, want)
	}
	if got, want := first.Contact().Address.String(), "sip:parley@"+s.at; got != want {
		t.Errorf("the Contact is %s; want %s", got, want)
	}
	f.answer(first, 401, "", `WWW-Authenticate: Digest realm="far", nonce="1", qop="auth"`)
	again := f.want("REGISTER")
	if field(again, "Authorization", "") == "" || again.CSeq().SeqNo <= first.CSeq().SeqNo {
		t.Errorf("the second REGISTER is\n%s", again)
	}
	granted := "Contact: <sip:other@192.0.2.1>;expires=7, <sip:parley@" + s.at + ">;expires=2"
	f.answer(again, 200, "", granted, "Expires: 3000")
	status := s.until("registered", registered)
	if left := time.Until(status.Expires); left > 2*time.Second || left < time.Second {
		t.Errorf("the registration holds for %s; want the 2 s that the peer granted", left)
	}
	if status.At != "udp://"+f.address() {
		t.Errorf("it is registered at %s", status.At)
	}
	refreshed := f.want("REGISTER")
	if *refreshed.CallID() != *first.CallID() || refreshed.CSeq().SeqNo <= again.CSeq().SeqNo {
		t.Errorf("the refreshing is\n%s", refreshed)
	}
	f.answer(refreshed, 200, "", "Contact: <sip:parley@"+s.at+">;expires=60")
	s.until("refreshed", func(s TrunkStatus) bool { return time.Until(s.Expires) > 30*time.Second })
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		s.e.closeTrunks(ctx)
	}()
	last := f.want("REGISTER")
	if field(last, "Expires", "") != "0" || last.Contact().Address.String() != first.Contact().Address.String() {
		t.Errorf("the last REGISTER is\n%s", last)
	}
	f.answer(last, 200, "")
	<-done
}

func TestLongerRegistrationIsTakenWhereThePeerAsksForIt(t *testing.T) {
	f := newFar(t)
	s := open(t, f.registers())
	f.answer(f.want("REGISTER"), 423, "", "Min-Expires: 3600")
	again := f.want("REGISTER")
	if got := field(again, "Expires", ""); got != "3600" {
		t.Errorf("Expires is %s", got)
	}
	f.answer(again, 200, "")
	status := s.until("registered", registered)
	if left := time.Until(status.Expires); left < 59*time.Minute {
		t.Errorf("the registration holds for %s", left)
	}
}

func TestRegistrationFollowsARedirection(t *testing.T) {
	f, other := newFar(t), newFar(t)
	s := open(t, f.registers())
	f.answer(f.want("REGISTER"), 302, "", "Contact: <sip:"+other.address()+">")
	other.answer(other.want("REGISTER"), 200, "")
	status := s.until("registered", registered)
	if status.At != "udp://"+other.address() {
		t.Errorf("it is registered at %s; want the other one, %s", status.At, other.address())
	}
}

func TestRegistrationMovesToTheNextAddress(t *testing.T) {
	f, other := newFar(t), newFar(t)
	trunk := f.registers()
	trunk.Address = f.address() + " " + other.address()
	s := open(t, trunk)
	f.answer(f.want("REGISTER"), 503, "")
	other.answer(other.want("REGISTER"), 200, "")
	s.until("registered", registered)
	// Calls go there first, too.
	done := s.dials(context.Background(), DialOptions{To: "100"})
	other.answer(other.want("INVITE"), 486, "")
	if _, err := result(t, done); err == nil {
		t.Error("no error")
	}
}

func TestContactFollowsTheAddressThatThePeerSees(t *testing.T) {
	f := newFar(t)
	s := open(t, f.registers())
	// What a translator of addresses does: the peer sees the box elsewhere.
	answer := func(req *sip.Request, status int) {
		via := req.Via()
		via.Params.Add("received", "203.0.113.9")
		via.Params.Add("rport", "61234")
		f.answer(req, status, "")
	}
	first := f.want("REGISTER")
	answer(first, 200)
	second := f.want("REGISTER")
	const public = "sip:parley@203.0.113.9:61234"
	if got := second.Contact().Address.String(); got != public {
		t.Errorf("the second Contact is %s; want %s", got, public)
	}
	answer(second, 200)
	older := f.want("REGISTER")
	if got := older.Contact().Address; got.String() != first.Contact().Address.String() ||
		field(older, "Expires", "") != "0" {
		t.Errorf("the older Contact is not taken back:\n%s", older)
	}
	answer(older, 200)
	s.until("registered", registered)
	done := s.dials(context.Background(), DialOptions{To: "100"})
	invite := f.want("INVITE")
	if got := invite.Contact().Address.String(); got != public {
		t.Errorf("the Contact of a call is %s; want %s", got, public)
	}
	f.answer(invite, 486, "")
	_, _ = result(t, done)
}

func TestFailedRegistrationIsToldAndTriedAgain(t *testing.T) {
	f := newFar(t)
	s := open(t, f.registers())
	f.answer(f.want("REGISTER"), 500, "")
	status := s.until("failed", func(s TrunkStatus) bool { return s.LastError != "" })
	if told := status.LastError; !strings.Contains(told, "500") || !strings.Contains(told, f.address()) ||
		status.Registered {
		t.Errorf("the status is %+v", status)
	}
	for failures := 1; failures < 20; failures++ {
		wait := retryIn(failures, &responseError{sip.NewResponse(500, "x")})
		if wait < firstRetry/2 || wait > lastRetry {
			t.Errorf("after %d failures the box waits for %s", failures, wait)
		}
	}
	if wait := retryIn(1, errWrongPassword); wait < lastRetry/2 {
		t.Errorf("a wrong password is sent again after %s", wait)
	}
	busy := sip.NewResponse(503, "x")
	busy.AppendHeader(sip.NewHeader("Retry-After", "1200 (restarting);duration=60"))
	if wait := retryIn(1, &responseError{busy}); wait != 20*time.Minute {
		t.Errorf("the box waits for %s when asked for 20 minutes", wait)
	}
}

func TestTrunkWithoutAHostCannotRegister(t *testing.T) {
	for _, trunk := range []Trunk{
		{Name: "a", Address: "192.0.2.0/24", User: "u", Register: true},
		{Name: "b", Address: "192.0.2.1", Register: true},
		{Name: "c", Address: "ws://192.0.2.1"},
	} {
		_, err := Open(Options{Trunks: []Trunk{trunk}}, nil)
		if err == nil || !strings.Contains(err.Error(), "the trunk "+trunk.Name) {
			t.Errorf("%+v: the error is %v", trunk, err)
		}
	}
}

func TestRegistrarIsAskedWhetherItIsThere(t *testing.T) {
	f := newFar(t)
	s := open(t, f.registers())
	f.answer(f.want("REGISTER"), 200, "")
	s.until("registered", registered)
	r := s.e.trunks[0].registration
	asks := func(answer func(*sip.Request)) bool {
		there := make(chan bool)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			there <- r.answers(ctx, r.held)
		}()
		answer(f.want("OPTIONS", "OPTIONS"))
		return <-there
	}
	if !asks(func(req *sip.Request) { f.answer(req, 404, "") }) {
		t.Error("a refusal of OPTIONS counts as silence")
	}
	if asks(func(*sip.Request) {}) {
		t.Error("silence counts as an answer")
	}
	if asks(func(req *sip.Request) {
		req.Via().Params.Add("rport", "61234")
		f.answer(req, 200, "")
	}) {
		t.Error("the box keeps a Contact at which nobody reaches it")
	}
	if r.moved(context.Background(), r.held) {
		t.Error("the box has moved")
	}
}
