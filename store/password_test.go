package store

import (
	"errors"
	"testing"
	"time"

	"parley/internal/password"
)

func TestTheConsolesPasswordSignsInAndEndsOtherSessionsWhenItChanges(t *testing.T) {
	s := openStore(t, t.TempDir())
	at := time.Now()
	if _, _, err := s.ConsolePassword(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a new box: %v", err)
	}
	_, mine := signedIn(t, s, at)
	other, _ := signedIn(t, s, at)
	link, err := s.StartSignIn(t.Context(), "", at)
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := s.SetConsolePassword(t.Context(), "a good password", mine.ID, at); ended != 1 || err != nil {
		t.Errorf("%d sessions ended, %v", ended, err)
	}
	if _, err := s.OpenSession(t.Context(), other, at); !errors.Is(err, ErrNotFound) {
		t.Errorf("the other session: %v", err)
	}
	if _, _, err := s.SignIn(t.Context(), link, "", "", at); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unused link: %v", err)
	}
	hash, set, err := s.ConsolePassword(t.Context())
	if ok, _ := password.Matches(hash, "a good password"); !ok || set != at.UnixMilli() || err != nil {
		t.Errorf("%q %d %v", hash, set, err)
	}
	cookie, made, err := s.SignInWithPassword(t.Context(), hash, "Firefox", "10.0.0.7", at)
	if err != nil || made.Account != "default" {
		t.Fatalf("%+v %v", made, err)
	}
	if g, err := s.OpenSession(t.Context(), cookie, at); err != nil || g.Role != OperatorKey || g.Session != made.ID {
		t.Errorf("%+v %v", g, err)
	}
	if _, err := s.SetConsolePassword(t.Context(), "another password", "", at); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SignInWithPassword(t.Context(), hash, "", "", at); !errors.Is(err, ErrNotFound) {
		t.Errorf("with the old password: %v", err)
	}
}

// Each way in which a box gets an operator closes the first visit for good.
func TestTheFirstVisitIsOpenUntilABoxHasAnOperator(t *testing.T) {
	at := time.Now()
	open := func(t *testing.T, s *Store) bool {
		t.Helper()
		state, err := s.SetUpState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return !state.HasOperator
	}
	for name, do := range map[string]func(*testing.T, *Store) error{
		"a link": func(t *testing.T, s *Store) error { signedIn(t, s, at); return nil },
		"a password": func(t *testing.T, s *Store) error {
			_, err := s.SetConsolePassword(t.Context(), "a good password", "", at)
			return err
		},
		"the first visit itself": func(t *testing.T, s *Store) error {
			_, _, err := s.FirstVisit(t.Context(), "a good password", "", "", at)
			return err
		},
		"the command": func(t *testing.T, s *Store) error { return s.FinishSetUp(t.Context(), at) },
		"a used key": func(t *testing.T, s *Store) error {
			made, err := s.CreateKey(t.Context(), NewKey{Account: "a", Role: OperatorKey})
			if err != nil {
				return err
			}
			if !open(t, s) {
				t.Error("a key that nobody used closes it")
			}
			_, err = s.OpenKey(t.Context(), made.APIKey)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			if !open(t, s) {
				t.Fatal("it is closed on a new box")
			}
			if err := do(t, s); err != nil {
				t.Fatal(err)
			}
			if open(t, s) {
				t.Error("it is open")
			}
			if _, err := s.EndSessions(t.Context()); err != nil || open(t, s) {
				t.Errorf("it is open again when all are signed out (%v)", err)
			}
			if _, _, err := s.FirstVisit(t.Context(), "another password", "", "", at); !errors.Is(err, ErrNotFound) {
				t.Errorf("a first visit: %v", err)
			}
		})
	}
}
