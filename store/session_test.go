package store

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// signedIn returns the cookie of a new session.
func signedIn(t *testing.T, s *Store, at time.Time) (cookie string, made Session) {
	t.Helper()
	link, err := s.StartSignIn(t.Context(), "", at)
	if err != nil {
		t.Fatal(err)
	}
	cookie, made, err = s.SignIn(t.Context(), link, "Firefox/140", "10.0.0.7", at)
	if err != nil {
		t.Fatal(err)
	}
	return cookie, made
}

func TestLinkSignsInOnceWithinTenMinutes(t *testing.T) {
	s := openStore(t, t.TempDir())
	at := time.Now()
	link, err := s.StartSignIn(t.Context(), "", at)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SignIn(t.Context(), link, "", "", at.Add(SignInLife)); !errors.Is(err, ErrNotFound) {
		t.Errorf("late: %v", err)
	}
	if _, _, err := s.SignIn(t.Context(), link+"x", "", "", at); !errors.Is(err, ErrNotFound) {
		t.Errorf("another one: %v", err)
	}
	cookie, made, err := s.SignIn(t.Context(), link, "Firefox", "10.0.0.7", at.Add(SignInLife-time.Millisecond))
	if err != nil || made.Account != "default" || cookie == link {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, _, err := s.SignIn(t.Context(), link, "", "", at); !errors.Is(err, ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	if _, err := s.OpenSession(t.Context(), link, at); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link is no session: %v", err)
	}
}

// A full disk does not end access by sessions, keys or tokens. The log reports once a
// minute that the time of use cannot be written.
func TestAccessContinuesWhenItsUseCannotBeStored(t *testing.T) {
	var log bytes.Buffer
	s := openStore(t, t.TempDir())
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	begun := time.Now()
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	token, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, begun)
	must(t, err)
	cookie, session := signedIn(t, s, begun)
	_, err = s.w.conn.ExecContext(t.Context(), `PRAGMA query_only = on`) // every write fails from here on
	must(t, err)
	if _, err := s.OpenKey(t.Context(), made.APIKey); err != nil {
		t.Errorf("by the key: %v", err)
	}
	later := begun.Add(2 * usedResolution)
	for range 3 {
		g, err := s.OpenSession(t.Context(), cookie, later)
		if err != nil || g.Session != session.ID || g.Role != OperatorKey {
			t.Errorf("by the session: %+v, %v", g, err)
		}
	}
	if _, err := s.OpenToken(t.Context(), token, later); err != nil {
		t.Errorf("by the token: %v", err)
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 2 ||
		!strings.Contains(text, "noting that a key is used") ||
		!strings.Contains(text, "noting that a session is used") {
		t.Errorf("the log has not one warning of each: %s", text)
	}
}

func TestSessionEndsWhenUnusedOrAfterAMonth(t *testing.T) {
	s := openStore(t, t.TempDir())
	begun := time.Now()
	cookie, made := signedIn(t, s, begun)
	opens := func(after time.Duration) bool {
		t.Helper()
		g, err := s.OpenSession(t.Context(), cookie, begun.Add(after))
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil && g.Role == OperatorKey && g.Session == made.ID && g.Kiosk == nil
	}
	if !opens(SessionIdle-time.Millisecond) || opens(2*SessionIdle) {
		t.Error("it is not used for 12 hours, and does not end then")
	}
	for used := time.Duration(0); used < SessionLife; used += SessionIdle - time.Hour {
		if !opens(used) {
			t.Fatalf("it is used, and ends after %v", used)
		}
	}
	if opens(SessionLife) {
		t.Error("it does not end after a month")
	}
	all, err := s.Sessions(t.Context(), begun.Add(time.Minute))
	if err != nil || len(all) != 1 || all[0].Browser != "Firefox/140" || all[0].Address != "10.0.0.7" ||
		all[0].Account != "default" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestEndedSessionIsRefusedAndItsConnectionsNotified(t *testing.T) {
	s := openStore(t, t.TempDir())
	at := time.Now()
	one, made := signedIn(t, s, at)
	other, _ := signedIn(t, s, at)
	g, err := s.OpenSession(t.Context(), one, at)
	if err != nil {
		t.Fatal(err)
	}
	lost, release := s.WatchKey(g)
	defer release()
	if err := s.Holds(t.Context(), g); err != nil || lost.Err() != nil {
		t.Fatal(err)
	}
	if err := s.EndSession(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lost.Done():
	case <-time.After(time.Minute):
		t.Error("a chat of the session is not notified")
	}
	if _, err := s.OpenSession(t.Context(), one, at); !errors.Is(err, ErrNotFound) {
		t.Errorf("it opens: %v", err)
	}
	if err := s.Holds(t.Context(), g); !errors.Is(err, ErrNotFound) {
		t.Errorf("it holds: %v", err)
	}
	if err := s.EndSession(t.Context(), made.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	link, err := s.StartSignIn(t.Context(), "", at)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.EndSessions(t.Context()); n != 1 || err != nil {
		t.Errorf("%d ended, %v", n, err)
	}
	if _, err := s.OpenSession(t.Context(), other, at); !errors.Is(err, ErrNotFound) {
		t.Errorf("the other one opens: %v", err)
	}
	if _, _, err := s.SignIn(t.Context(), link, "", "", at); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link from before signs in: %v", err)
	}
}

func TestSessionActsForItsSelectedAccount(t *testing.T) {
	s := openStore(t, t.TempDir())
	at := time.Now()
	for _, account := range []string{"museum", "shop"} {
		if _, err := s.CreateKey(t.Context(), NewKey{Account: account}); err != nil { // the first is an operator's
			t.Fatal(err)
		}
	}
	cookie, made := signedIn(t, s, at)
	if made.Account != "museum" {
		t.Errorf("it acts for %q, and the first operator's key is the museum's", made.Account)
	}
	if err := s.SwitchAccount(t.Context(), made.ID, "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an account that is not there: %v", err)
	}
	if err := s.SwitchAccount(t.Context(), made.ID, "shop"); err != nil {
		t.Fatal(err)
	}
	shop, err := s.Account(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if g, err := s.OpenSession(t.Context(), cookie, at); err != nil || g.AccountID != shop.ID {
		t.Errorf("%+v, %v", g, err)
	}
}
