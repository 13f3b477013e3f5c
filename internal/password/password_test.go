package password

import (
	"strings"
	"testing"
)

func TestOnlyThePasswordMatchesItsHash(t *testing.T) {
	hash := Hash("Größe 42 im Haus")
	if strings.Contains(hash, "Haus") || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%s", hash)
	}
	if Hash("Größe 42 im Haus") == hash {
		t.Error("two hashes of a password are equal: there is no salt")
	}
	for password, want := range map[string]bool{
		"Größe 42 im Haus":            true,
		"Gro\u0308\u00dfe 42 im Haus": true, // the same letters, typed on another system
		"größe 42 im Haus":            false,
		"Größe 42 im Haus ":           false,
		"":                            false,
		strings.Repeat("x", MaxBytes): false,
	} {
		if got, err := Matches(hash, password); got != want || err != nil {
			t.Errorf("%q: %v %v", password, got, err)
		}
	}
}

func TestADamagedHashIsAnErrorAndNotAMatch(t *testing.T) {
	hash := Hash("a good password")
	for _, bad := range []string{"", "x", strings.Replace(hash, "argon2id", "md5", 1),
		strings.Replace(hash, "m=19456", "m=4000000000", 1), strings.Replace(hash, "t=2", "t=0", 1),
		hash[:len(hash)-40], strings.Replace(hash, "p=1", "p=0", 1), strings.Replace(hash, "v=19", "v=16", 1)} {
		if ok, err := Matches(bad, "a good password"); ok || err == nil {
			t.Errorf("%q: %v %v", bad, ok, err)
		}
	}
}

func TestAPasswordThatIsTooWeakIsRefusedWithTheReason(t *testing.T) {
	for password, want := range map[string]string{
		"":                             "0 characters: use at least 10",
		"ninechars":                    "9 characters: use at least 10",
		"äöüäöüäöü":                    "9 characters",
		"aaaaaaaaaaaaa":                "13 times",
		"with\nline breaks":            "control character",
		"bad \xff utf-8 text":          "UTF-8",
		strings.Repeat("ab", MaxBytes): "at most 512",
		"correct horse":                "",
		"äöüäöüäöüä":                   "",
	} {
		err := Check(password)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", password, err, want)
		}
	}
}

func BenchmarkMatches(b *testing.B) {
	hash := Hash("a good password")
	for b.Loop() {
		if ok, err := Matches(hash, "a good password"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
