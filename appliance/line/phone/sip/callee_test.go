package sip

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/internal/sipuri"
)

func TestWhoIsCalledIsWrittenAsAUserOfTheTrunk(t *testing.T) {
	trunk := &trunk{Trunk: Trunk{Name: "desk"}, peers: []sipuri.Address{{Host: "pbx.example", Port: 5070}}}
	for to, want := range map[string]string{
		"100":                        "sip:100@pbx.example:5070",
		"+49 (0)30 / 123-45.6":       "sip:+4930123456@pbx.example:5070",
		"**611#":                     "sip:**611%23@pbx.example:5070",
		"anna.b-c":                   "sip:anna.b-c@pbx.example:5070",
		"sip:anna@pbx.example":       "sip:anna@pbx.example:5070",
		"SIPS:anna@PBX.example:5061": "sip:anna@pbx.example:5070",
		"sip:a%23b;x=1@pbx.example":  "sip:a%23b%3Bx%3D1@pbx.example:5070",
		"(555) 123":                  "sip:555123@pbx.example:5070",
	} {
		got, err := trunk.callee(to)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v; want %s", to, got.String(), err, want)
		}
	}
}

func TestATelephoneInTheNetworkOfATrunkIsCalledAsItIsNamed(t *testing.T) {
	network := sipuri.Address{Network: netip.MustParsePrefix("192.0.2.0/24")}
	trunk := &trunk{Trunk: Trunk{Name: "desk"}, peers: []sipuri.Address{network}}
	got, err := trunk.callee("sip:desk@192.0.2.7:5096")
	if want := "sip:desk@192.0.2.7:5096"; err != nil || got.String() != want {
		t.Errorf("got %s, %v; want %s", got.String(), err, want)
	}
	if _, err := trunk.callee("sip:desk@198.51.100.7"); err == nil {
		t.Error("a telephone outside of the network is called")
	}
}

func TestUserWithADomainCallsAndRegistersInIt(t *testing.T) {
	f := newFar(t)
	account := f.registers()
	account.User = "me@voice.example"
	s := open(t, account)
	req := f.want("REGISTER")
	if to, uri := req.To().Address.String(), req.Recipient.String(); to != "sip:me@voice.example" ||
		uri != "sip:voice.example" || req.Contact().Address.User != "me" {
		t.Errorf("the REGISTER is\n%s", req)
	}
	f.answer(req, 200, "")
	for _, to := range []string{"100", "sip:100@voice.example", "sip:100@127.0.0.1"} {
		done := s.dials(context.Background(), DialOptions{To: to})
		invite := f.want("INVITE")
		if got := invite.Recipient.String(); got != "sip:100@voice.example" {
			t.Errorf("%s is called as %s", to, got)
		}
		f.answer(invite, 486, "")
		f.want("ACK")
		_, _ = result(t, done)
	}
}

func TestNothingElseIsCalled(t *testing.T) {
	f := newFar(t)
	s := open(t, f.trunk())
	for _, to := range []string{
		"", " ", "sip:", "sip:@127.0.0.1", "sip:anna@elsewhere.example", "sip:anna@127.0.0.1@elsewhere.example",
		"100\r\nX-Header: 1", "sip:anna\r\nVia: x@127.0.0.1", "sip:anna@127.0.0.1\r\nVia: x",
		"sip:anna@127.0.0.1?Replaces=x\r\n",
		"http://127.0.0.1/", "tel:100", "a b", "<100>", "100>;tag=1", "\"x\"", strings.Repeat("1", 65), "+",
		"100\x00",
	} {
		_, err := s.e.Dial(context.Background(), DialOptions{To: to})
		var refused *DialError
		if !errors.As(err, &refused) || refused.By != contract.ByWrongNumber {
			t.Errorf("%q: the error is %v", to, err)
		}
	}
	for _, from := range []string{"x\r\ny", "\"x\"", "a b", "<sip:x>", "1;tag=2"} {
		if _, err := s.e.Dial(context.Background(), DialOptions{To: "100", From: from}); err == nil {
			t.Errorf("calls show %q", from)
		}
	}
	if _, err := s.e.Dial(context.Background(), DialOptions{Trunk: "none", To: "100"}); err == nil {
		t.Error("a trunk that is not there was taken")
	}
}

// FuzzCallee: whatever is called, the URI is one word of visible characters, and of the
// trunk.
func FuzzCallee(f *testing.F) {
	trunk := &trunk{Trunk: Trunk{Name: "desk"}, peers: []sipuri.Address{{Host: "pbx.example"}}}
	for _, to := range []string{"100", "+49 30", "sip:a@pbx.example", "sip:a@b", "sip:%0d%0a@pbx.example", "a\r\nb"} {
		f.Add(to)
	}
	f.Fuzz(func(t *testing.T, to string) {
		uri, err := trunk.callee(to)
		if err != nil {
			return
		}
		text := uri.String()
		if !printable(text) || strings.ContainsAny(text, "<>\",;?") || !strings.HasSuffix(text, "@pbx.example") ||
			strings.Count(text, "@") != 1 {
			t.Errorf("%q is called as %q", to, text)
		}
	})
}
