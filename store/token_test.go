package store

import (
	"testing"
	"time"
)

// noon is the time at which these tests create tokens.
var noon = time.UnixMilli(1_700_000_000_000)

func newToken(t *testing.T, s *Store, made Credentials) string {
	t.Helper()
	token, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, noon)
	must(t, err)
	return token
}

func TestTokenLastsThirtyMinutesAcrossARestart(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	token := newToken(t, s, made)
	must(t, s.Close())

	s = openStore(t, dir)
	for _, c := range []struct {
		after time.Duration
		good  bool
	}{
		{0, true},
		{30*time.Minute - time.Millisecond, true},
		{30 * time.Minute, false},
		{48 * time.Hour, false},
	} {
		_, err := s.OpenToken(t.Context(), token, noon.Add(c.after))
		if c.good {
			must(t, err)
		} else {
			wantError(t, err, ErrNotFound)
		}
	}
	for _, wrong := range []string{"", "x", made.APIKey, made.SecretKey, token[1:], token + " "} {
		_, err := s.OpenToken(t.Context(), wrong, noon)
		wantError(t, err, ErrNotFound)
	}
	_, err = s.OpenKey(t.Context(), token)
	wantError(t, err, ErrNotFound)
}

func TestExpiredTokensAreDeleted(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	for i := range 5 {
		_, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, noon.Add(time.Duration(i)*20*time.Minute))
		must(t, err)
	}
	count, err := value[int](t.Context(), s.read, `SELECT count(*) FROM token`)
	must(t, err)
	if count != 2 {
		t.Errorf("%d tokens are kept, want the 2 that are good", count)
	}
}

// The end of a token does not end what it opened; only the end of its key does.
func TestGrantOutlivesItsTokenButNotItsKey(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	grant, err := s.OpenToken(t.Context(), newToken(t, s, made), noon)
	must(t, err)
	_, err = s.CreateToken(t.Context(), made.APIKey, made.SecretKey, noon.Add(time.Hour)) // deletes the old one
	must(t, err)
	must(t, s.Holds(t.Context(), grant))
	must(t, s.RevokeKey(t.Context(), made.KeyID))
	wantError(t, s.Holds(t.Context(), grant), ErrNotFound)
	wantError(t, s.Holds(t.Context(), Grant{}), ErrNotFound)
}
