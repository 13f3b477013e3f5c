package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// Access that was ended after the backup stays ended.
func TestRestoredDatabaseEndsAccessEndedSince(t *testing.T) {
	dir, at := t.TempDir(), time.Now()
	s := openStore(t, dir)
	made := map[string]Credentials{}
	for _, label := range []string{"stays", "revoked", "renewed"} {
		c, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: label})
		if err != nil {
			t.Fatal(err)
		}
		made[label] = c
	}
	code, err := s.StartPairing(t.Context(), "home", Kiosk{Name: "Lobby"}, at)
	if err != nil {
		t.Fatal(err)
	}
	cookie, _ := signedIn(t, s, at)
	link, err := s.StartSignIn(t.Context(), "", at)
	if err != nil {
		t.Fatal(err)
	}
	then := t.TempDir()
	if _, err := Backup(t.Context(), dir, filepath.Join(then, databaseName), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeKey(t.Context(), made["revoked"].KeyID); err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * time.Millisecond) // keys say to the millisecond when they were given secrets
	anew, err := s.RegenerateKey(t.Context(), made["renewed"].KeyID)
	if err != nil {
		t.Fatal(err)
	}

	restored := openStore(t, then)
	o, err := restored.EndRestoredAccess(t.Context(), s)
	if err != nil || o != (EndedAccess{Sessions: 1, Revoked: 1, Renewed: 1}) {
		t.Fatalf("%+v, %v", o, err)
	}
	opens := func(key string) bool {
		t.Helper()
		_, err := restored.OpenKey(t.Context(), key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	for what, is := range map[string][2]bool{
		"a key that nothing became of": {opens(made["stays"].APIKey), true},
		"one that was revoked":         {opens(made["revoked"].APIKey), false},
		"the old secret of one":        {opens(made["renewed"].APIKey), false},
		"its new one":                  {opens(anew.APIKey), true},
	} {
		if is[0] != is[1] {
			t.Errorf("%s opens the box: %v", what, is[0])
		}
	}
	if _, err := restored.OpenSession(t.Context(), cookie, at); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session: %v", err)
	}
	if _, _, err := restored.SignIn(t.Context(), link, "", "", at); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link: %v", err)
	}
	if _, _, err := restored.Pair(t.Context(), code, at); !errors.Is(err, ErrNotFound) {
		t.Errorf("a code: %v", err)
	}
	if again, err := restored.EndRestoredAccess(t.Context(), s); err != nil || again != (EndedAccess{}) {
		t.Errorf("once more: %+v, %v", again, err)
	}
}

// A signing key that was replaced since the backup stays replaced; if only the backup has
// a replacement, it stays too.
func TestRestoredDatabaseSignsWithTheNewestKey(t *testing.T) {
	dir, older := t.TempDir(), t.TempDir()
	s := openStore(t, dir)
	home, work, quiet := newAccount(t, s, "home"), newAccount(t, s, "work"), newAccount(t, s, "quiet")
	replace := func(account string) string {
		key, err := s.NewSigningKey(t.Context(), account)
		must(t, err)
		return key
	}
	copyTo := func(dir string) {
		_, err := Backup(t.Context(), s.dir, filepath.Join(dir, databaseName), nil)
		must(t, err)
	}
	signs := func(s *Store, account string) string {
		key, err := s.SigningKey(t.Context(), account)
		must(t, err)
		return key
	}
	copyTo(older)
	inBackup := replace(work)
	then := t.TempDir()
	copyTo(then)
	<-time.After(2 * time.Millisecond) // it is known to the millisecond when one was replaced
	since := replace(home)

	restored := openStore(t, then)
	o, err := restored.EndRestoredAccess(t.Context(), s)
	if err != nil || o.Signing != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	for account, want := range map[string]string{home: since, work: inBackup, quiet: signs(s, quiet)} {
		if got := signs(restored, account); got != want {
			t.Errorf("it signs with %.4s…, want %.4s…", got, want)
		}
	}
	if again, err := restored.EndRestoredAccess(t.Context(), s); err != nil || again != (EndedAccess{}) {
		t.Errorf("once more: %+v, %v", again, err)
	}
	// The backup over an older database, as of one that was restored before it.
	o, err = restored.EndRestoredAccess(t.Context(), openStore(t, older))
	if err != nil || o.Signing != 0 || signs(restored, home) != since || signs(restored, work) != inBackup {
		t.Errorf("over an older database: %+v, %v", o, err)
	}
}

// Without a replaced database only short-lived access ends.
func TestRestoreOnAnotherMachineRetainsKeys(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	signedIn(t, s, time.Now())
	if o, err := s.EndRestoredAccess(t.Context(), nil); err != nil || o != (EndedAccess{Sessions: 1}) {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := s.OpenKey(t.Context(), made.APIKey); err != nil {
		t.Error(err)
	}
}
