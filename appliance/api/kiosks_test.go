package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/store"
)

// screens are the keys of two screens, one with a config and one without.
type screens struct{ keys }

func (s *screens) OpenKey(ctx context.Context, key string) (store.Grant, error) {
	config := map[string]string{"lobby": "c1", "hall": ""}
	if bound, ok := config[key]; ok {
		return store.Grant{AccountID: "museum", Role: store.ClientKey, Kiosk: &bound}, nil
	}
	return s.keys.OpenKey(ctx, key)
}

// The key of a screen opens chats with its config, whatever the query says, and
// nothing else.
func TestTheKeyOfAScreenOpensItsChatsOnly(t *testing.T) {
	a, rows := echoAPI(t)
	a.Keys = &screens{}
	opened := 0
	for _, rt := range rows {
		if rt.access != byToken && rt.access != byKey && rt.access != byOperator {
			continue
		}
		w := try(a, rt, "", 0, "X-Service-Api-Key", "lobby")
		if rt.about.Kiosk {
			opened++
		}
		if want := map[bool]int{true: 200, false: 403}[rt.about.Kiosk]; w.Code != want {
			t.Errorf("%s %s: %d, want %d: %s", rt.method, rt.path, w.Code, want, w.Body)
		}
	}
	if opened != 5 {
		t.Errorf("it opens %d paths, want the socket under both its paths and three of a call", opened)
	}
	for key, want := range map[string]string{"lobby": "config_id=c1&fernSdkVersion=0.11.4&verbose_transcription=true",
		"hall": "fernSdkVersion=0.11.4&verbose_transcription=true"} {
		r := httptest.NewRequest("GET", "/v0/evi/chat?config_id=other&resumed_chat_group_id=g&"+
			"verbose_transcription=true&fernSdkVersion=0.11.4&session_settings[system_prompt]=x&api_key="+key, nil)
		if _, err := a.admit(a.routes()[0], r); err != nil || r.URL.RawQuery != want {
			t.Errorf("%s asks for %q, want %q (%v)", key, r.URL.RawQuery, want, err)
		}
	}
}

// Every line asks the authorization.
func TestAScreenMayNotSendEveryMessage(t *testing.T) {
	bound, prompt := "c1", "You are a poet."
	m := contract.SessionSettings{SystemPrompt: &prompt}
	if err := (&authorization{grant: store.Grant{Kiosk: &bound}}).Permits(m); err == nil {
		t.Error("a screen may change the prompt")
	}
	if err := (&authorization{}).Permits(m); err != nil {
		t.Errorf("a client may not: %v", err)
	}
}

func TestAWrongCodePairsNothing(t *testing.T) {
	a, _ := box(&strings.Builder{})
	for n := range 12 {
		r := httptest.NewRequest("POST", "/v0/box/kiosks", strings.NewReader(`{"code":"WRNG-2345"}`))
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		want := http.StatusUnauthorized
		if n >= maxWrong {
			want = http.StatusTooManyRequests
		}
		if w.Code != want {
			t.Errorf("try %d: %d, want %d: %s", n, w.Code, want, w.Body)
		}
	}
}

func TestThePageOfAScreenIsCachedByItsTag(t *testing.T) {
	a, _ := box(&strings.Builder{})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/kiosk", nil))
	if w.Code != 200 || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") ||
		!strings.Contains(w.Body.String(), "kiosk.js") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	r := httptest.NewRequest("GET", "/kiosk", nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	if a.ServeHTTP(again, r); again.Code != http.StatusNotModified {
		t.Errorf("asked again: %d", again.Code)
	}
}
