package contract

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTheMetadataOfACallNameTheCaller(t *testing.T) {
	c := &Call{
		CallerNumber: "+4930123",
		Twilio:       map[string]string{"call_sid": "CA1"},
		CallInfo:     CallInfo{Direction: Outbound, AnsweredBy: ByMailbox, To: "+4930123", Trunk: "desk"},
	}
	got := c.Metadata(map[string]json.RawMessage{"order": json.RawMessage(`7`)})
	want := `{"call":{"direction":"outbound","answered_by":"mailbox","to":"+4930123","trunk":"desk"},"order":7,` +
		`"twilio":{"call_sid":"CA1","caller_number":"+4930123"}}`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if none := (*Call)(nil).Metadata(nil); none != "" {
		t.Errorf("no call has %s", none)
	}
}

func TestAWithheldNumberIsNull(t *testing.T) {
	c := &Call{CallInfo: CallInfo{Direction: Inbound}}
	if got := c.Metadata(nil); !strings.Contains(got, `"caller_number":null`) {
		t.Errorf("%s", got)
	}
	var w WebhookBase
	if c.Describe(&w); w.CallerNumber != nil || w.Call == nil || w.TwilioMetadata != nil {
		t.Errorf("%+v", w)
	}
}

func TestOnlyNumbersAndAddressesAreDialled(t *testing.T) {
	for _, good := range []string{"+4930123456", "100", "*21#", "030 / 123-456", "desk", "sip:desk@pbx.local",
		"sips:a@[2001:db8::1]:5061"} {
		if why := BadDialString(good); why != "" {
			t.Errorf("%s: %s", good, why)
		}
	}
	for _, bad := range []string{"", "a b", "100\r\nX: y", "sip:a@b>;x", "tel:1", "sip:@b", "sip:a@b c",
		strings.Repeat("1", 300)} {
		if BadDialString(bad) == "" {
			t.Errorf("%q may be dialled", bad)
		}
	}
}

func TestDestinationsOfATransferHaveDefaults(t *testing.T) {
	m, err := ParseClientMessage([]byte(`{"type":"session_settings","builtin_tools":[{"name":"transfer",` +
		`"destinations":[{"name":"desk","to":"100"},{"name":"boss","to":"+49301","attended":true,"ring_secs":20}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	to := m.(SessionSettings).BuiltinTools[0].Destinations
	if to[0] != (TransferDestination{Name: "desk", To: "100", RingSecs: DefaultRingSecs}) ||
		to[1] != (TransferDestination{Name: "boss", To: "+49301", Attended: true, RingSecs: 20}) {
		t.Errorf("%+v", to)
	}
	for field, bad := range map[string]string{
		"to":        `{"name":"desk","to":"1\r\n2"}`,
		"name":      `{"to":"1"}`,
		"ring_secs": `{"name":"desk","to":"1","ring_secs":1}`,
	} {
		_, err := ParseClientMessage([]byte(`{"type":"session_settings","builtin_tools":[{"name":"transfer",` +
			`"destinations":[` + bad + `]}]}`))
		if err == nil || !strings.Contains(err.Error(), "destinations[0]."+field) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestTwoDestinationsOfATransferHaveTwoNames(t *testing.T) {
	_, err := Parse[PostedConfig]([]byte(`{"name":"a","evi_version":"4-mini","builtin_tools":[{"name":"transfer",` +
		`"destinations":[{"name":"desk","to":"100"},{"name":"Desk","to":"200"}]}]}`))
	if err == nil || !strings.Contains(err.Error(), `two destinations have the name "Desk"`) {
		t.Errorf("%v", err)
	}
}
