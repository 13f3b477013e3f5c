package api

import (
	"errors"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestsAreLimitedByAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRequestRates(Limits{RequestsPerSecond: 10, RequestBurst: 20})
		ask := func(account string) int {
			err := s.allowAccount(account)
			if err == nil {
				return 200
			}
			k, told := kindOf(err)
			if w := told.(interface{ Wait() time.Duration }).Wait(); w <= 0 || w > 100*time.Millisecond {
				t.Errorf("it is told to wait for %v", w)
			}
			return k.status
		}
		for i := range 20 { // all at once
			if got := ask("one"); got != 200 {
				t.Fatalf("request %d: %d", i, got)
			}
		}
		for range 100 { // rejected requests do not count
			if got := ask("one"); got != 429 {
				t.Fatalf("one more: %d", got)
			}
		}
		if got := ask("two"); got != 200 {
			t.Errorf("another account: %d", got)
		}
		time.Sleep(time.Second)
		taken := 0
		for ask("one") == 200 {
			taken++
		}
		if taken != 10 {
			t.Errorf("after a second %d more are taken", taken)
		}
	})
}

func TestRequestsWithoutAKeyAreLimitedByAddress(t *testing.T) {
	b, rows := echoAPI(t)
	b.rates = newRequestRates(Limits{RequestsPerSecond: 5, RequestBurst: 10})
	from := func(address string, rt route, header ...string) int {
		r := httptest.NewRequest(rt.method, pathOf(rt), nil)
		r.RemoteAddr = address
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code == 429 {
			if n, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || n < 1 {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
		}
		return w.Code
	}
	docs := rows[slices.IndexFunc(rows, func(rt route) bool { return rt.path == "/docs" })]
	for range 10 {
		if got := from("192.0.2.1:1", docs); got != 200 {
			t.Fatal(got)
		}
	}
	if got := from("192.0.2.1:2", docs); got != 429 {
		t.Errorf("one more of the same address: %d", got)
	}
	if got := from("192.0.2.2:1", docs); got != 200 {
		t.Errorf("another address: %d", got)
	}
	for range 30 {
		if got := from("127.0.0.1:1", docs); got != 200 {
			t.Fatalf("on the machine itself: %d", got)
		}
	}
	// An account has its own rate, at any address; a socket is refused before
	// the upgrade.
	for _, rt := range rows {
		if rt.isSocket() {
			last := 0
			for range 11 {
				last = from("192.0.2.1:3", rt, "X-Service-Api-Key", "client")
			}
			if last != 429 {
				t.Errorf("the eleventh socket: %d", last)
			}
		}
	}
}

func TestNoLimitMeansNoWait(t *testing.T) {
	s := newRequestRates(Limits{})
	for range 10_000 {
		if err := errors.Join(s.allowAccount("one"),
			s.allowAddress(httptest.NewRequest("GET", "/", nil), true)); err != nil {
			t.Fatal(err)
		}
	}
}
