package store

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCodePairsOneScreenOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	now := time.Now()
	code, err := s.StartPairing(t.Context(), "museum", Kiosk{Name: "Lobby", ConfigID: "c1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Pair(t.Context(), "AAAA-AAAA", now); !errors.Is(err, ErrNotFound) {
		t.Errorf("another code: %v", err)
	}
	typed := strings.ToLower(strings.ReplaceAll(code, "-", " "))
	made, k, err := s.Pair(t.Context(), typed, now)
	if err != nil || k != (Kiosk{"Lobby", "c1"}) {
		t.Fatalf("%+v %v", k, err)
	}
	g, err := s.OpenKey(t.Context(), made.APIKey)
	if err != nil || g.Kiosk == nil || *g.Kiosk != "c1" || g.Role != ClientKey {
		t.Errorf("the key opens %+v %v", g, err)
	}
	if _, _, err := s.Pair(t.Context(), code, now); !errors.Is(err, ErrNotFound) {
		t.Errorf("the code pairs a second screen: %v", err)
	}
	all, err := s.ListKeys(t.Context(), g.AccountID)
	if err != nil || len(all) != 1 || all[0].Kiosk == nil || *all[0].Kiosk != "c1" || all[0].Label != "Lobby" {
		t.Errorf("the keys are %+v %v", all, err)
	}
	if err := s.RevokeKey(t.Context(), made.KeyID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenKey(t.Context(), made.APIKey); !errors.Is(err, ErrNotFound) {
		t.Errorf("a screen that was revoked: %v", err)
	}
}

func TestCodeExpires(t *testing.T) {
	s := openStore(t, t.TempDir())
	now := time.Now()
	code, err := s.StartPairing(t.Context(), "museum", Kiosk{Name: "Lobby"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Pair(t.Context(), code, now.Add(PairingLife)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a code that is over: %v", err)
	}
	if k, _, err := s.Pair(t.Context(), code, now.Add(PairingLife-time.Second)); err != nil || k.APIKey == "" {
		t.Errorf("a code just in time: %v", err)
	}
}
