package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestWrongKeysAreLimitedAndValidOnesAreNot(t *testing.T) {
	b := startBox(t)
	made := b.key("home")
	wrong := []func() answer{
		func() answer { return b.ask("GET", "/v0/evi/chat?api_key=wrong", "") },
		func() answer { return b.ask("GET", "/v0/evi/chat?access_token=wrong", "") },
		func() answer {
			return b.ask("POST", "/oauth2-cc/token", "grant_type=client_credentials", "Authorization",
				basic(made.APIKey, "wrong"))
		},
	}
	for i := range maxWrong {
		if a := wrong[i%len(wrong)](); a.StatusCode != 401 {
			t.Fatalf("wrong key %d: %d", i, a.StatusCode)
		}
		b.wait(time.Second)
	}
	for _, try := range wrong {
		a := try()
		if a.StatusCode != 429 || a.Header.Get("Retry-After") != "50" || a.body["code"] != "too_many_requests" {
			t.Errorf("%d, Retry-After %q: %s", a.StatusCode, a.Header.Get("Retry-After"), a.text)
		}
	}
	if a := b.ask("GET", "/v0/evi/chat?api_key="+made.APIKey, ""); a.StatusCode != 200 {
		t.Errorf("the right key: %d", a.StatusCode)
	}
	if a := b.ask("GET", "/v0/evi/chat?access_token="+b.token(made), ""); a.StatusCode != 200 {
		t.Errorf("a right token: %d", a.StatusCode)
	}
	if a := b.ask("GET", "/v0/evi/chat", ""); a.StatusCode != 401 {
		t.Errorf("no key is no wrong key: %d", a.StatusCode)
	}
	b.wait(50 * time.Second)
	if a := wrong[0](); a.StatusCode != 401 {
		t.Errorf("after Retry-After: %d", a.StatusCode)
	}
}

func TestAnAddressIsTheNetworkOfOneCustomer(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1234":                  "192.0.2.7/32",
		"[::ffff:192.0.2.7]:9":            "192.0.2.7/32",
		"[2001:db8:1:2:3:4:5:6]:80":       "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1]:81":       "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":               "fe80::/64",
		"@":                               "invalid Prefix",
		"":                                "invalid Prefix",
		"192.0.2.7":                       "invalid Prefix",
		"[2001:db8:1:2:3:4:5:6%x]:123456": "invalid Prefix",
	} {
		if got := address(&http.Request{RemoteAddr: remote}).String(); got != want {
			t.Errorf("%q is %s, want %s", remote, got, want)
		}
	}
}

func TestTheMemoryOfWrongKeysIsBounded(t *testing.T) {
	all := newWrongKeys()
	at := time.Unix(1_700_000_000, 0)
	from := func(i int) *http.Request {
		return &http.Request{RemoteAddr: fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff)}
	}
	for range maxWrong {
		all.count(address(from(0)), at)
	}
	for i := range 10 * maxAddresses {
		all.count(address(from(i+1)), at)
		if i%1000 == 0 { // an address that keeps sending is remembered, however many others come
			if wait, _ := all.count(address(from(0)), at); wait != time.Minute {
				t.Fatalf("after %d others: wait is %v", i, wait)
			}
		}
	}
	if n := all.byAddress.Len(); n > maxAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
}
