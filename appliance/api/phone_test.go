package api

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"parley/appliance/contract"
)

// fakePhone calls nobody, and remembers its newest call.
type fakePhone struct {
	account  string
	posted   contract.PostedPhoneCall
	transfer contract.PostedPhoneTransfer
}

const fakeCallID = "call-1"

func (p *fakePhone) Status() contract.Phone {
	return contract.Phone{
		Listeners:  []contract.PhoneListener{},
		Trunks:     []contract.PhoneTrunk{},
		Extensions: []contract.PhoneExtension{},
		Calls:      []contract.PhoneCall{p.call()},
		EndedCalls: []contract.PhoneCall{},
	}
}

func (p *fakePhone) call() contract.PhoneCall {
	return contract.PhoneCall{
		CallID:    fakeCallID,
		Direction: contract.Outbound,
		State:     contract.CallRinging,
		To:        p.posted.To,
		Account:   p.account,
		ConfigID:  p.posted.ConfigID,
	}
}

func (p *fakePhone) Call(_ context.Context, account string, c contract.PostedPhoneCall) (contract.PhoneCall, error) {
	p.account, p.posted = account, c
	return p.call(), nil
}

func (p *fakePhone) HangUp(id string) error {
	if id != fakeCallID {
		return contract.ErrNotFound{What: "live call", ID: id}
	}
	return nil
}

func (p *fakePhone) Transfer(_ context.Context, id string, t contract.PostedPhoneTransfer) error {
	p.transfer = t
	return p.HangUp(id)
}

func TestACallGoesOutWithTheConfigThatIsNamed(t *testing.T) {
	all := startRest(t, "home", "museum")
	home, museum := all[0], all[1]
	phone := home.api.Phone.(*fakePhone)
	config := `{"name":"Reminder","evi_version":"4-mini"}`
	id := home.ask("POST", "/v0/evi/configs", config, http.StatusCreated)["id"].(string)
	other := museum.ask("POST", "/v0/evi/configs", config, http.StatusCreated)["id"].(string)

	for body, want := range map[string][2]string{
		`{"to":"+49 (0)30 1","config_id":"Reminder"}`:            {home.account, id},
		`{"to":"100","config_id":"` + id + `"}`:                  {home.account, id},
		`{"to":"100","config_id":"Reminder","account":"museum"}`: {museum.account, other},
	} {
		made := home.ask("POST", "/v0/box/phone/calls", body, http.StatusCreated)
		if phone.account != want[0] || phone.posted.ConfigID != want[1] || made["call_id"] != fakeCallID {
			t.Errorf("%s: %s calls with %s: %v", body, phone.account, phone.posted.ConfigID, made)
		}
	}
	for body, want := range map[string]string{
		`{"to":"100","config_id":"Reminders"}`:                   `config_id: no config "Reminders"`,
		`{"to":"100","config_id":"` + other + `"}`:               "config_id: no config",
		`{"to":"100","config_id":"Reminder","account":"nobody"}`: `no account "nobody"`,
	} {
		got := home.ask("POST", "/v0/box/phone/calls", body, http.StatusNotFound)
		if !strings.Contains(got["message"].(string), want) {
			t.Errorf("%s: %v", body, got)
		}
	}
}

func TestALiveCallIsHandedOverAndHungUp(t *testing.T) {
	c := startRest(t, "home")[0]
	phone := c.api.Phone.(*fakePhone)
	const calls = "/v0/box/phone/calls/"
	status, _, text := c.send("POST", calls+fakeCallID+"/transfer", "application/json", `{"to":"20 1","attended":true}`)
	want := contract.PostedPhoneTransfer{To: "201", Attended: true, RingSecs: contract.DefaultRingSecs}
	if status != http.StatusNoContent || phone.transfer != want {
		t.Errorf("%d %s: %+v", status, text, phone.transfer)
	}
	if status, _, text := c.send("DELETE", calls+fakeCallID, "", ""); status != http.StatusNoContent {
		t.Errorf("%d %s", status, text)
	}
	for _, r := range [][2]string{{"DELETE", "x"}, {"POST", "x/transfer"}} {
		status, _, text := c.send(r[0], calls+r[1], "application/json", `{"to":"1"}`)
		if status != http.StatusNotFound {
			t.Errorf("%d %s", status, text)
		}
	}
	c.api.Phone = nil
	got := c.ask("GET", "/v0/box/phone", "", http.StatusServiceUnavailable)
	if !strings.Contains(got["message"].(string), "phone.listen") {
		t.Errorf("without a telephone: %v", got)
	}
}
