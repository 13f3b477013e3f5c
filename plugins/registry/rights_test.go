package registry

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/signing"
	"parley/plugins/manifest"
)

const asking = `permissions:
  http: [{host: api.example.org, methods: [GET, POST]}, {host: other.example.org}]
  files: [{path: /srv/menu, as: /menu, mode: write}]
  env: [LANG]
  storage: 1MiB
  conversation: expression
  memory: 128MiB`

func asks(t *testing.T, text string) manifest.Permissions {
	t.Helper()
	m, err := manifest.Parse([]byte(described("1", text)))
	must(t, err)
	return m.Permissions
}

func TestGrantGrantsWhatTheWordsName(t *testing.T) {
	all := asks(t, asking)
	for words, want := range map[string]string{
		"none": ``,
		"all": "http:api.example.org http:other.example.org files:/menu env:LANG storage " +
			"conversation memory",
		"http":                         "http:api.example.org http:other.example.org",
		"http:api.example.org storage": "http:api.example.org storage",
		"http:10.0.0.5:8080=POST":      "http:10.0.0.5:8080",
		"env:LANG memory":              "env:LANG memory",
		"all http:api.example.org=GET": "http:other.example.org files:/menu env:LANG storage conversation memory " +
			"http:api.example.org",
		"memory=64MiB":                  "", // the default
		"storage storage=1KiB":          "storage",
		"files:/menu=/home/me/menu env": "files:/menu env:LANG",
	} {
		may, err := grant(all, manifest.Permissions{}, strings.Fields(words))
		if got := names(PermissionsOf(may)); err != nil ||
			strings.Join(sorted(got), " ") != strings.Join(sorted(strings.Fields(want)), " ") {
			t.Errorf("%s: %v, %v; want %s", words, got, err, want)
		}
	}
	may, err := grant(all, manifest.Permissions{},
		[]string{"files:/menu=/home/me/menu", "storage=1KiB", "conversation=transcript", "http:api.example.org=GET"})
	must(t, err)
	text, err := json.Marshal(may)
	must(t, err)
	if want := `{"http":[{"host":"api.example.org","methods":["GET"]}],"files":[{"path":"/home/me/menu","as":"/menu",` +
		`"mode":"write"}],"storage":1024,"conversation":"transcript"}`; string(text) != want {
		t.Errorf("granted is %s\nwant %s", text, want)
	}
	for words, why := range map[string]string{
		"files:/other": "does not request", "network": "does not request", "storage=2MiB": "requests less",
		"env=PATH": "name one of", "env:LANG=x": "no value",
		"http:http://x": "not a host", "http:*": "not a host", "files:/menu=../x": "an absolute path",
		"storage=lots": "write it like", "http:api.example.org=STEAL": "are allowed", "": "does not request",
	} {
		if _, err := grant(all, manifest.Permissions{}, []string{words}); err == nil ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", words, err, why)
		}
	}
}

func sorted(words []string) []string {
	words = append([]string{}, words...)
	for i := range words {
		for j := i; j > 0 && words[j] < words[j-1]; j-- {
			words[j], words[j-1] = words[j-1], words[j]
		}
	}
	return words
}

// An upgrade gets no permission that nobody granted, whatever its name.
func TestAnUpgradeGetsNoNewPermission(t *testing.T) {
	before := asks(t, asking)
	may, err := grant(before, manifest.Permissions{},
		[]string{"http:api.example.org=GET", "files:/menu=/home/me/menu", "http:10.0.0.5", "storage"})
	must(t, err)
	after := asks(t, `permissions:
  http: [{host: api.example.org, methods: [GET, DELETE]}, {host: evil.example.org}]
  files: [{path: /etc, as: /menu, mode: read}, {path: /root, as: /root}]
  storage: 512KiB
  conversation: transcript`)
	text, err := json.Marshal(carriedOver(before, after, may))
	must(t, err)
	if want := `{"http":[{"host":"api.example.org","methods":["GET"]},{"host":"10.0.0.5","methods":["GET"]}],` +
		`"files":[{"path":"/home/me/menu","as":"/menu","mode":"read"}],"storage":524288}`; string(text) != want {
		t.Errorf("after the upgrade it may %s\nwant %s", text, want)
	}
	if got := names(newRequests(before, after)); strings.Join(got,
		" ") != "http:api.example.org http:evil.example.org files:/menu files:/root" {
		t.Errorf("the new requests are %v", got)
	}
	if got := newRequests(before, after)[0].Words; got != "may send requests to api.example.org (GET, DELETE)" {
		t.Errorf("the new request is described as %q", got)
	}
	left, err := revoke(may, []string{"http"})
	if got := names(PermissionsOf(left)); err != nil || strings.Join(got, " ") != "files:/menu storage" {
		t.Errorf("after http was revoked: %v, %v", got, err)
	}
	if _, err := revoke(left, []string{"http"}); err == nil {
		t.Error("a permission that was not granted was revoked")
	}
}

func keys(t *testing.T) (private ed25519.PrivateKey, k signing.Key) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	return private, signing.KeyOf(private)
}

func sign(t *testing.T, from string, private ed25519.PrivateKey) {
	t.Helper()
	p, err := ReadUnsigned(from)
	must(t, err)
	must(t, os.WriteFile(from+SignatureSuffix, Sign(p, private), 0o600))
}

func TestSignaturesAreChecked(t *testing.T) {
	mine, trusted := keys(t)
	theirs, _ := keys(t)
	want := func(p *Parts) { p.Trust = Trust{Keys: []signing.Key{trusted}, Required: true} }
	data := t.TempDir()
	strict := box(t, data, want)
	lax := beside(t, data)
	file := fileOf(t, described("1.0.0"), empty)
	examine := func(s *Registry) error {
		p, err := Read(file, "")
		if err == nil {
			_, err = s.Examine(t.Context(), p)
		}
		return err
	}
	if err := examine(strict); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("unsigned: %v", err)
	}
	sign(t, file, theirs)
	if err := examine(strict); err == nil || !strings.Contains(err.Error(), "does not trust") {
		t.Errorf("signed by an untrusted key: %v", err)
	}
	sign(t, file, mine)
	must(t, examine(strict))
	install(t, strict, file)
	if i, err := strict.Show(t.Context(), "tool"); err != nil || !i.Trusted || i.Signer != string(trusted) {
		t.Errorf("it is %+v, %v", i, err)
	}

	// Any change after the signing is detected.
	must(t, os.WriteFile(file, packed(t, described("1.0.1"), empty), 0o600))
	if err := examine(lax); err == nil || !strings.Contains(err.Error(), "does not match these files") {
		t.Errorf("changed after signing: %v", err)
	}

	// A package of another signer does not upgrade.
	for _, change := range []func(){func() {
		sign(t, file, theirs)
	}, func() {
		must(t, os.Remove(file+SignatureSuffix))
	}} {
		change()
		if err := upgrade(t, lax, file, Choice{}); err == nil || !strings.Contains(err.Error(), "another author") {
			t.Errorf("upgrade by another signer: %v", err)
		}
	}
	must(t, upgrade(t, lax, file, Choice{OtherSigner: true}))
	if i, err := strict.Show(t.Context(), "tool"); err != nil || i.State != Stopped {
		t.Errorf("unsigned on a box that requires signatures: %s, %v", i.State, err)
	}
	if all := mustTools(t, strict); len(all) != 0 {
		t.Errorf("its tools are still listed: %v", all)
	}
	if _, err := do(strict, "", ""); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("called, it answers %v", err)
	}
}

func TestSecretsAreStoredEncrypted(t *testing.T) {
	data := t.TempDir()
	s := box(t, data)
	install(t, s, fileOf(t, described("1.0.0", "settings: [{name: key, type: secret, required: true}, {name: city}]"),
		tool(t, "one")))
	if i, err := s.Show(t.Context(), "tool"); err != nil || i.State != Incomplete || !strings.Contains(i.Why, "key") {
		t.Errorf("without its secret: %s: %s, %v", i.State, i.Why, err)
	}
	const secret = "correct-horse-battery"
	city, value := "Ulm", secret
	must(t, s.Set(t.Context(), "tool", map[string]*string{"key": &value, "city": &city}))
	if got, err := do(s, "setting", "KEY"); err != nil || got != secret {
		t.Errorf("the plugin got %q, %v", got, err)
	}
	if _, err := do(s, "leak", ""); err == nil || strings.Contains(err.Error(), secret) ||
		!strings.Contains(err.Error(), "[secret key]") {
		t.Errorf("its error is %v", err)
	}
	i, err := s.Show(t.Context(), "tool")
	must(t, err)
	if text, err := json.Marshal(i.Settings); err != nil || strings.Contains(string(text), secret) || i.State != Ready {
		t.Errorf("shown as %s, %s, %v", text, i.State, err)
	}
	info, err := os.Stat(filepath.Join(data, "plugins.key"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v", info.Mode())
	}
	must(t, filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	}))
	lines, err := s.Lines(t.Context(), "tool", 10)
	must(t, err)
	if len(lines) < 2 || !strings.Contains(lines[0].Text, "my key is [secret key]") {
		t.Errorf("the log is %+v", lines)
	}

	// Without the key, or with another one, the secret is lost, and the error says so.
	must(t, os.Chmod(filepath.Join(data, "plugins.key"), 0o644))
	if i, err := s.Show(t.Context(), "tool"); err != nil || i.State != Stopped ||
		!strings.Contains(i.Why, "chmod 600") {
		t.Errorf("with a world-readable key: %s: %s, %v", i.State, i.Why, err)
	}
	must(t, os.Remove(filepath.Join(data, "plugins.key")))
	if i, err := s.Show(t.Context(), "tool"); err != nil || i.State != Stopped ||
		!strings.Contains(i.Why, "Set it again: parley plugin set tool key=") {
		t.Errorf("without the key: %s: %s, %v", i.State, i.Why, err)
	}
	must(t, s.Set(t.Context(), "tool", map[string]*string{"key": &value}))
	if got, err := do(s, "setting", "KEY"); err != nil || got != secret {
		t.Errorf("set again, the plugin got %q, %v", got, err)
	}
	other := "no"
	if err := s.Set(t.Context(), "tool", map[string]*string{"town": &other}); err == nil ||
		!strings.Contains(err.Error(), "settings.town: tool has no such setting: its settings are key, city") {
		t.Errorf("an unknown setting: %v", err)
	}
}

// A sealed secret cannot be moved to another plugin.
func TestASealedSecretIsValidForItsSettingOnly(t *testing.T) {
	v := vault{filepath.Join(t.TempDir(), "k"), func(string) error { return nil }}
	sealed, err := v.seal("a", "key", "secret")
	must(t, err)
	if got, err := v.open("a", "key", sealed); err != nil || got != "secret" {
		t.Errorf("%q, %v", got, err)
	}
	for _, place := range [][2]string{{"b", "key"}, {"a", "other"}} {
		if _, err := v.open(place[0], place[1], sealed); err == nil {
			t.Errorf("opened as %v", place)
		}
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := v.open("a", "key", sealed); err == nil {
		t.Error("a changed secret was opened")
	}
	if _, err := v.open("a", "key", nil); err == nil || errors.Is(err, errNoKey) {
		t.Errorf("nothing was opened: %v", err)
	}
}
