package store

import (
	"testing"
	"time"
)

// Authentication works while all readers are busy.
func TestKeysAreOpenedWhileAllReadersAreBusy(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	token, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, noon)
	must(t, err)
	grant, err := s.OpenKey(t.Context(), made.APIKey)
	must(t, err)
	link, err := s.StartSignIn(t.Context(), "home", noon)
	must(t, err)
	cookie, _, err := s.SignIn(t.Context(), link, "", "", noon)
	must(t, err)
	_, err = s.Secret(t.Context(), "links")
	must(t, err)
	for range s.read.db.Stats().MaxOpenConnections {
		conn, err := s.read.db.Conn(t.Context())
		must(t, err)
		defer conn.Close()
	}
	for what, check := range map[string]func() error{
		"a key":     func() error { _, err := s.OpenKey(t.Context(), made.APIKey); return err },
		"a token":   func() error { _, err := s.OpenToken(t.Context(), token, noon); return err },
		"a session": func() error { _, err := s.OpenSession(t.Context(), cookie, noon); return err },
		"a grant":   func() error { return s.Holds(t.Context(), grant) },
		"a secret": func() error {
			_, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, noon)
			return err
		},
		"a link": func() error { _, err := s.Secret(t.Context(), "links"); return err },
		"a wrong sign-in": func() error {
			_, _, err := s.SignIn(t.Context(), "wrong", "", "", noon)
			wantError(t, err, ErrNotFound)
			return nil
		},
		"a wrong code": func() error {
			_, _, err := s.Pair(t.Context(), "ABCD-2345", noon)
			wantError(t, err, ErrNotFound)
			return nil
		},
	} {
		answered := make(chan error, 1)
		go func() { answered <- check() }()
		select {
		case err := <-answered:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s is not opened while all readers are busy", what)
		}
	}
}
