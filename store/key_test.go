package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeyOpensItsAccountOnly(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: "hall"})
	must(t, err)
	work, err := s.CreateKey(t.Context(), NewKey{Account: "work"})
	must(t, err)
	for _, c := range []struct {
		name string
		made Credentials
	}{{"home", home}, {"work", work}} {
		account, err := s.Account(t.Context(), c.name)
		must(t, err)
		got, err := s.OpenKey(t.Context(), c.made.APIKey)
		must(t, err)
		if got.AccountID != account.ID {
			t.Errorf("the key of %s opens %s, want %s", c.name, got.AccountID, account.ID)
		}
		got, err = s.OpenToken(t.Context(), newToken(t, s, c.made), noon)
		must(t, err)
		if got.AccountID != account.ID {
			t.Errorf("a token of %s opens %s, want %s", c.name, got.AccountID, account.ID)
		}
		signing, err := s.SigningKey(t.Context(), account.ID)
		must(t, err)
		if signing != c.made.WebhookSigningKey {
			t.Errorf("the signing key of %s is not the one returned", c.name)
		}
	}
	for _, wrong := range []string{"", "x", home.SecretKey, home.APIKey[1:], strings.ToLower(home.APIKey),
		home.APIKey + " "} {
		_, err := s.OpenKey(t.Context(), wrong)
		wantError(t, err, ErrNotFound)
	}
	for _, wrong := range []string{"", "x", home.APIKey, home.SecretKey[1:], work.SecretKey, home.SecretKey + " "} {
		_, err = s.CreateToken(t.Context(), home.APIKey, wrong, noon)
		wantError(t, err, ErrNotFound)
	}
	if len(home.APIKey) != 48 || home.APIKey == work.APIKey || home.WebhookSigningKey == work.WebhookSigningKey {
		t.Errorf("keys are %+v and %+v", home, work)
	}
}

func TestKeysOfAnAccountShareItsSigningKey(t *testing.T) {
	s := openStore(t, t.TempDir())
	a, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: "a"})
	must(t, err)
	b, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: "b"})
	must(t, err)
	if a.WebhookSigningKey != b.WebhookSigningKey {
		t.Error("two keys of an account have two signing keys")
	}
	again, err := s.RegenerateKey(t.Context(), a.KeyID)
	must(t, err)
	if again.WebhookSigningKey != a.WebhookSigningKey {
		t.Error("regenerating a key changed the signing key")
	}
	account, err := s.Account(t.Context(), "home")
	must(t, err)
	fresh, err := s.NewSigningKey(t.Context(), account.ID)
	must(t, err)
	stored, err := s.SigningKey(t.Context(), account.ID)
	must(t, err)
	if fresh == a.WebhookSigningKey || stored != fresh {
		t.Error("the signing key was not replaced")
	}
	_, err = s.NewSigningKey(t.Context(), "nobody")
	wantError(t, err, ErrNotFound)
}

func TestRevokedAndRegeneratedKeysFailAtOnceWithTheirTokens(t *testing.T) {
	s := openStore(t, t.TempDir())
	old, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: "hall"})
	must(t, err)
	other, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: "desk"})
	must(t, err)
	untouched, token := newToken(t, s, other), newToken(t, s, old)
	grant, err := s.OpenKey(t.Context(), old.APIKey)
	must(t, err)
	byToken, err := s.OpenToken(t.Context(), token, noon)
	must(t, err)
	must(t, s.Holds(t.Context(), grant))
	must(t, s.Holds(t.Context(), byToken))

	fresh, err := s.RegenerateKey(t.Context(), old.KeyID)
	must(t, err)
	_, err = s.OpenKey(t.Context(), old.APIKey)
	wantError(t, err, ErrNotFound)
	_, err = s.OpenToken(t.Context(), token, noon)
	wantError(t, err, ErrNotFound)
	wantError(t, s.Holds(t.Context(), grant), ErrNotFound)
	wantError(t, s.Holds(t.Context(), byToken), ErrNotFound)
	_, err = s.CreateToken(t.Context(), fresh.APIKey, old.SecretKey, noon)
	wantError(t, err, ErrNotFound)

	token = newToken(t, s, fresh)
	grant, err = s.OpenKey(t.Context(), fresh.APIKey)
	must(t, err)
	must(t, s.RevokeKey(t.Context(), old.KeyID))
	_, err = s.OpenKey(t.Context(), fresh.APIKey)
	wantError(t, err, ErrNotFound)
	_, err = s.OpenToken(t.Context(), token, noon)
	wantError(t, err, ErrNotFound)
	wantError(t, s.Holds(t.Context(), grant), ErrNotFound)
	_, err = s.CreateToken(t.Context(), fresh.APIKey, fresh.SecretKey, noon)
	wantError(t, err, ErrNotFound)
	wantError(t, s.RevokeKey(t.Context(), old.KeyID), ErrNotFound)
	_, err = s.RegenerateKey(t.Context(), old.KeyID)
	wantError(t, err, ErrNotFound, old.KeyID)
	wantError(t, s.RevokeKey(t.Context(), "nothing"), ErrNotFound)

	_, err = s.OpenToken(t.Context(), untouched, noon)
	must(t, err)
}

func TestListedKeysOmitTheSecret(t *testing.T) {
	s := openStore(t, t.TempDir())
	hall, err := s.CreateKey(t.Context(), NewKey{Account: "home", Label: "hall"})
	must(t, err)
	desk, err := s.CreateKey(t.Context(), NewKey{Account: "work", Label: "desk"})
	must(t, err)
	must(t, s.RevokeKey(t.Context(), desk.KeyID))
	all, err := s.ListKeys(t.Context(), "")
	must(t, err)
	if len(all) != 2 {
		t.Fatalf("%d keys are listed, want 2", len(all))
	}
	k := all[0]
	if k.ID != hall.KeyID || k.Account != "home" || k.Label != "hall" || k.CreatedMS == 0 || k.RevokedMS != 0 ||
		!strings.HasSuffix(hall.APIKey, k.Hint) || len(k.Hint) != 4 {
		t.Errorf("listed: %+v", k)
	}
	if all[1].RevokedMS == 0 {
		t.Error("a revoked key looks good")
	}
	listed, err := s.ListKeys(t.Context(), all[1].AccountID)
	must(t, err)
	if len(listed) != 1 || listed[0].Label != "desk" {
		t.Errorf("the keys of work are %+v", listed)
	}
}

func TestKeysAreNotInTheFiles(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	token := newToken(t, s, made)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		must(t, err)
		if bytes.Contains(data, []byte(made.APIKey)) || bytes.Contains(data, []byte(made.SecretKey)) ||
			bytes.Contains(data, []byte(token)) {
			t.Errorf("%s holds a key or a token itself", name)
		}
	}
}

// Every letter is equally likely: the test would detect a generator that favours one
// letter by an eighth.
func TestRandomTextIsEven(t *testing.T) {
	const n = 62 * 2000
	counts := map[rune]int{}
	for _, r := range randomText(n) {
		counts[r]++
	}
	if len(counts) != 62 {
		t.Fatalf("%d different letters, want 62", len(counts))
	}
	for r, c := range counts {
		if c < 1750 || c > 2250 { // 5.6 standard deviations
			t.Errorf("%q came %d times of %d, want about 2000", r, c, n)
		}
	}
}

func TestFirstKeyHasTheOperatorRole(t *testing.T) {
	s := openStore(t, t.TempDir())
	roles := []KeyRole{}
	for _, n := range []NewKey{{Account: "museum"}, {Account: "museum"}, {Account: "default"},
		{Account: "museum", Role: OperatorKey}} {
		made, err := s.CreateKey(t.Context(), n)
		must(t, err)
		grant, err := s.OpenKey(t.Context(), made.APIKey)
		must(t, err)
		byToken, err := s.OpenToken(t.Context(), newToken(t, s, made), noon)
		must(t, err)
		if grant.Role != made.Role || byToken.Role != made.Role {
			t.Errorf("made as %s, it opens as %s and its token as %s", made.Role, grant.Role, byToken.Role)
		}
		again, err := s.RegenerateKey(t.Context(), made.KeyID)
		must(t, err)
		if again.Role != made.Role {
			t.Errorf("made as %s, regenerated as %s", made.Role, again.Role)
		}
		roles = append(roles, made.Role)
	}
	if want := []KeyRole{OperatorKey, ClientKey, ClientKey, OperatorKey}; !slices.Equal(roles, want) {
		t.Errorf("the roles are %v, want %v", roles, want)
	}
	_, err := s.CreateKey(t.Context(), NewKey{Account: "home", Role: "king"})
	wantError(t, err, ErrNotAllowed, "role")
}

// An expired key is like a revoked one, and is soon deleted.
func TestExpiredKeyIsRefused(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home", ExpiresMS: time.Now().Add(time.Hour).UnixMilli()})
	must(t, err)
	token, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, time.Now())
	must(t, err)
	grant, err := s.OpenKey(t.Context(), made.APIKey)
	must(t, err)
	must(t, s.Holds(t.Context(), grant))
	must(t, s.Tidy(t.Context(), 0)) // not yet
	must(t, s.change(t.Context(), "letting time pass", func(ctx context.Context, c conn) error {
		_, err := c.ExecContext(ctx, `UPDATE key SET expires_ms = ?`, time.Now().UnixMilli())
		return err
	}))
	_, err = s.OpenKey(t.Context(), made.APIKey)
	wantError(t, err, ErrNotFound)
	_, err = s.OpenToken(t.Context(), token, time.Now())
	wantError(t, err, ErrNotFound)
	_, err = s.CreateToken(t.Context(), made.APIKey, made.SecretKey, time.Now())
	wantError(t, err, ErrNotFound)
	_, err = s.RegenerateKey(t.Context(), made.KeyID)
	wantError(t, err, ErrNotFound)
	wantError(t, s.Holds(t.Context(), grant), ErrNotFound)
	wantError(t, s.RevokeKey(t.Context(), made.KeyID), ErrNotFound)
	if keys, err := s.ListKeys(t.Context(), ""); err != nil || len(keys) != 0 {
		t.Errorf("listed are %v, %v", keys, err)
	}
	must(t, s.Tidy(t.Context(), 0))
	if n, err := value[int](t.Context(), s.read,
		`SELECT (SELECT count(*) FROM key) + (SELECT count(*) FROM token)`); err != nil || n != 0 {
		t.Errorf("%d rows are left (%v)", n, err)
	}
}

// The time of a key's last use is stored up to a few minutes late; using a token counts
// as using its key.
func TestLastUseOfAKeyIsStored(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	used := func() int64 {
		t.Helper()
		all, err := s.ListKeys(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return all[0].UsedMS
	}
	if used() != 0 {
		t.Error("it was used before it was")
	}
	begun := time.Now().UnixMilli()
	if _, err := s.OpenKey(t.Context(), made.APIKey); err != nil || used() < begun {
		t.Errorf("used at %d, %v", used(), err)
	}
	first, writes := used(), func() uint64 { w, _ := s.Written(); return w }
	before := writes()
	for range 10 {
		if _, err := s.OpenKey(t.Context(), made.APIKey); err != nil {
			t.Fatal(err)
		}
	}
	if used() != first || writes() != before {
		t.Error("every use is written")
	}
	at := time.Now()
	token, err := s.CreateToken(t.Context(), made.APIKey, made.SecretKey, at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenToken(t.Context(), token, at.Add(usedResolution)); err != nil ||
		used() < at.Add(usedResolution).UnixMilli() {
		t.Errorf("by its token used at %d, %v", used(), err)
	}
	if _, err := s.RegenerateKey(t.Context(), made.KeyID); err != nil || used() != 0 {
		t.Errorf("regenerated, used at %d, %v", used(), err)
	}
}
