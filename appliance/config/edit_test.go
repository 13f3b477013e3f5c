package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// edited returns the text of a file after an edit.
func edited(t *testing.T, text string, changes ...Change) string {
	t.Helper()
	s := newSources(t, text)
	path := filepath.Join(s.Dir, FileName)
	r, err := Edit(path, s, changes)
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, text)
	}
	if err := r.Write(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(after)
}

func TestEditChangesOnlyWhatItIsTold(t *testing.T) {
	for _, c := range []struct{ name, before, key, value, after string }{
		{"a value keeps its comment", "listen: 127.0.0.1:1   # why\n# end\n", "listen", "0.0.0.0:2",
			"listen: 0.0.0.0:2   # why\n# end\n"},
		{"a sample is replaced in place", "# a\n#listen: 127.0.0.1:8080\n# b\nprofile: small\n", "listen", "[::]:80",
			"# a\nlisten: \"[::]:80\"\n# b\nprofile: small\n"},
		{"a sample with a space too", "# listen: 127.0.0.1:8080\n", "listen", "h:80", "listen: h:80\n"},
		{"prose is no sample", "# listen: where the box listens\n", "listen", "h:80",
			"# listen: where the box listens\nlisten: h:80\n"},
		{"a sample in its group", "log:\n  #level: info\nkiosk:\n  # x\n  #enabled: false\n", "kiosk.enabled", "true",
			"log:\n  #level: info\nkiosk:\n  # x\n  enabled: true\n"},
		{"a group of one line", "kiosk: {start: key, enabled: false} # mine\n", "kiosk.enabled", "true",
			"kiosk:\n  # mine\n  start: key\n  enabled: true\n"},
		{"a group without the key", "kiosk:\n    start: key\n\n\nlog:\n  level: warn\n", "kiosk.enabled", "true",
			"kiosk:\n    start: key\n    enabled: true\n\n\nlog:\n  level: warn\n"},
		{"a new group", "listen: h:1", "kiosk.enabled", "true", "listen: h:1\nkiosk:\n  enabled: true\n"},
		{"a list", "origins:\n# one\n- https://a.example # two\n- https://b.example\nlisten: h:1\n", "origins",
			"https://c.example,https://d.example",
			"origins: [https://c.example, https://d.example]\n# one\n# two\nlisten: h:1\n"},
		{"old names become comments", "tls: # t\n  cert: a.pem # c\n  key: b.pem\n  names: [n.example]\nlisten: h:1\n",
			"tls", "own", "tls: own # t\n# cert: a.pem # c\n# key: b.pem\ntls.names: [n.example]\nlisten: h:1\n"},
		{"names beside a mode", "tls: own\nlisten: h:1\n", "tls.names", "box.example",
			"tls: own\ntls.names: [box.example]\nlisten: h:1\n"},
		{"a file in braces", "{listen: 'h:1', kiosk: {start: key}}\n", "kiosk.enabled", "true",
			"listen: 'h:1'\nkiosk:\n  start: key\n  enabled: true\n"},
		{"the other line ends", "listen: h:1\r\n# x\r\n", "listen", "h:2", "listen: h:2\r\n# x\r\n"},
		{"a document with marks", "---\nlisten: h:1\n...\n", "profile", "small",
			"---\nlisten: h:1\nprofile: small\n...\n"},
		{"an empty file", "", "listen", "h:1", ""},
		{"the key that counts", "kiosk.enabled: true\nkiosk:\n  enabled: false\n", "kiosk.enabled", "true",
			"kiosk.enabled: true\nkiosk:\n  enabled: true\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edited(t, c.before, Change{c.key, c.value})
			if c.before == "" { // begins as the sample
				c.after = strings.Replace(Sample("", ""), "#listen: 127.0.0.1:8080", "listen: h:1", 1)
			}
			if got != c.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.after)
			}
		})
	}
}

func TestEditRefusesWhatWouldNotLoad(t *testing.T) {
	for _, c := range []struct{ text, key, value, want string }{
		{"", "listen", "here", `"here" is not an address`},
		{"", "tls", "acme", "needs names"},
		{"", "phone.trunks", "x", "not a setting with one value"},
		{"", "tls.cert", "x", "not a setting with one value"},
		{"listen: h:1\nwrong: 2\n", "listen", "h:2", "unknown key wrong"},
	} {
		s := newSources(t, c.text)
		path := filepath.Join(s.Dir, FileName)
		_, err := Edit(path, s, []Change{{c.key, c.value}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %q", c.key, c.value, err, c.want)
		}
		if now, err := os.ReadFile(path); string(now) != c.text || c.text == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s=%s: the file has changed: %q %v", c.key, c.value, now, err)
		}
	}
}

func TestEditTellsWhatOverridesAChange(t *testing.T) {
	s := newSources(t, "listen: h:1\n")
	s.Environ = []string{"PARLEY_PROFILE=test"}
	r, err := Edit(filepath.Join(s.Dir, FileName), s, []Change{{"listen", "h:2"}, {"profile", "small"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Overridden) != 1 || r.Overridden[0].Key != "profile" || r.Overridden[0].From != "PARLEY_PROFILE" ||
		r.Config.Listen != "h:2" {
		t.Errorf("%+v, listen %s", r.Overridden, r.Config.Listen)
	}
}

func TestAnEditKeepsModeAndLinkAndRefusesToOverwriteAnotherEdit(t *testing.T) {
	s := newSources(t, "")
	real, path := filepath.Join(t.TempDir(), "real.yaml"), filepath.Join(s.Dir, FileName)
	write(t, real, "listen: h:1\n")
	if err := errors.Join(os.Chmod(real, 0o640), os.Symlink(real, path)); err != nil {
		t.Fatal(err)
	}
	first, err := Edit(path, s, []Change{{"listen", "h:2"}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Edit(path, s, []Change{{"profile", "small"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Write(); err != nil {
		t.Fatal(err)
	}
	if err := second.Write(); !errors.Is(err, ErrChanged) {
		t.Errorf("the second edit: %v", err)
	}
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v %v", link, err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file: %v %v", info, err)
	}
}

// values has values of settings of each kind, which load in any combination.
func values() map[string][]string {
	return map[string][]string{
		"listen":        {"127.0.0.1:1", "0.0.0.0:443", "[::]:80", ":8080"},
		"profile":       {"default", "small", "full"},
		"origins":       {"*", "https://a.example", "https://a.example,https://b.example:8"},
		"tls":           {"off", "own", "auto", "/a b/c.pem,/a b/k: #1.pem"},
		"tls.names":     {"box.example", "192.0.2.7,box.example", "fd00::1"},
		"kiosk.enabled": {"true", "false"},
		"kiosk.greeting": {"Hello # there", "it's: me", "\"q\" \\ 'x'", "- no", "yes", "0x10", "ö, {a}", "null",
			"~"},
		"kiosk.start":            {"speech", "key"},
		"engines.voice":          {"voice-joe", "jenny"},
		"chat.max_chats":         {"1", "12"},
		"retention.keep":         {"all for 30 days", "text", "nothing"},
		"limits.recordings":      {"20GB", "25%", "0"},
		"log.level":              {"debug", "warn"},
		"speech.loudness_lufs":   {"-20"},
		"webhooks.allow_private": {"true", "false"},
	}
}

// TestRandomEditsOfRandomFilesLoadToTheWantedValues: whatever the form of a file, it loads to
// what it had with the changes, and has all of its comments.
func TestRandomEditsOfRandomFilesLoadToTheWantedValues(t *testing.T) {
	all := values()
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	s := newSources(t, "")
	path := filepath.Join(s.Dir, FileName)
	for seed := range uint64(10) { // 1500 of them pass too
		r := rand.New(rand.NewPCG(seed, 7))
		pick := func(key string) string { return all[key][r.IntN(len(all[key]))] }
		text, want := randomFile(r, keys, pick)
		write(t, path, text)
		if _, err := Load(s); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		for range 3 {
			var changes []Change
			for _, i := range r.Perm(len(keys))[:1+r.IntN(4)] {
				changes = append(changes, Change{keys[i], pick(keys[i])})
				want[keys[i]] = changes[len(changes)-1].Value
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			revision, err := Edit(path, s, changes)
			if err == nil {
				err = os.WriteFile(path, revision.after, 0o644) // Write also waits for the disk
			}
			if err != nil {
				t.Fatalf("seed %d: %v: %v\n%s", seed, changes, err, before)
			}
			checkEdited(t, fmt.Sprintf("seed %d: %v of\n%s", seed, changes, before), s, want, text)
		}
	}
}

func checkEdited(t *testing.T, what string, s Sources, want map[string]string, first string) {
	t.Helper()
	for _, e := range load(t, s).Effective() {
		value, changed := want[e.Key]
		set, _ := findSetting(e.Key)
		fromFile := strings.Contains(e.From, FileName)
		shown := e.Value
		if set.days != nil && !strings.Contains(value, " for ") {
			shown, _, _ = strings.Cut(shown, " for ")
		}
		if changed != fromFile || changed && normalValue(set, value) != normalValue(set, shown) {
			t.Fatalf("%s\n%s is %q from %s, want %q", what, e.Key, e.Value, e.From, value)
		}
	}
	now, err := os.ReadFile(s.Dir + "/" + FileName)
	if err != nil {
		t.Fatal(err)
	}
	for i := range strings.Count(first, "# note ") {
		if note := fmt.Sprintf("# note %d.", i); !strings.Contains(string(now), note) {
			t.Fatalf("%s\n%s is lost:\n%s", what, note, now)
		}
	}
}

// randomFile returns a file with some of the keys, in one of the forms that YAML has for each,
// with numbered comments everywhere, and the values that it sets.
func randomFile(r *rand.Rand, keys []string, pick func(string) string) (text string, want map[string]string) {
	want = map[string]string{}
	notes := 0
	note := func(before string) string {
		if r.IntN(3) > 0 {
			return ""
		}
		notes++
		return fmt.Sprintf("%s# note %d.", before, notes-1)
	}
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString(Sample("", "")[:strings.Index(Sample("", ""), "\nengines:")])
	}
	groups := map[string][]string{}
	var order []string
	for _, i := range r.Perm(len(keys))[:r.IntN(len(keys))] {
		group, name, nested := strings.Cut(keys[i], ".")
		if !nested {
			group = keys[i]
		}
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], name)
		want[keys[i]] = pick(keys[i])
	}
	for _, group := range order {
		writeGroup(&b, r, group, groups[group], want, note)
	}
	return b.String(), want
}

func writeGroup(b *strings.Builder, r *rand.Rand, group string, names []string, want map[string]string,
	note func(string) string) {
	if n := note(""); n != "" {
		b.WriteString(n + "\n")
	}
	key := func(name string) string { return strings.TrimSuffix(group+"."+name, ".") }
	own := slices.Contains(names, "")
	form := r.IntN(4)
	if own || form == 0 || group == "tls" {
		for _, name := range names {
			b.WriteString(key(name) + ":" + randomValue(r, key(name), want[key(name)], "  ", note) + "\n")
		}
		return
	}
	if form == 1 {
		var members []string
		for _, name := range names {
			s, _ := findSetting(key(name))
			members = append(members, name+": "+flowValue(s, want[key(name)]))
		}
		b.WriteString(group + ": {" + strings.Join(members, ", ") + "}" + note(" ") + "\n")
		return
	}
	indent := spaces(1 + r.IntN(4))
	b.WriteString(group + ":" + note(" ") + "\n")
	for _, name := range names {
		b.WriteString(indent + name + ":" + randomValue(r, key(name), want[key(name)], indent+"  ", note) + "\n")
		if r.IntN(4) == 0 {
			b.WriteString("\n" + note(indent) + "\n")
		}
	}
}

func flowValue(s Setting, value string) string {
	if s.isList {
		return yamlValue(s, value)
	}
	return quoted(value)
}

// randomValue writes a value in one of the forms of YAML, after the colon.
func randomValue(r *rand.Rand, key, value, indent string, note func(string) string) string {
	s, _ := findSetting(key)
	switch form := r.IntN(4); {
	case s.isList && form < 2:
		text := ""
		for item := range splitList(value) {
			text += note(" ") + "\n" + indent + "- " + quoted(item)
		}
		return text + note(" ")
	case s.isList:
		return " " + yamlValue(s, value) + note("   ")
	case form == 0:
		return " '" + strings.ReplaceAll(value, "'", "''") + "'" + note(" ")
	case form == 1 && !strings.HasPrefix(value, "#"):
		return " |" + note(" ") + "\n" + indent + value
	case form == 2:
		return note(" ") + "\n" + indent + quoted(value)
	}
	return "  " + yamlScalar(value) + note(" ")
}
