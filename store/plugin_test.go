package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// describedAs returns a manifest with tools and settings; a setting may have its type
// after its name.
func describedAs(tools string, settings ...string) string {
	var m struct {
		Tools    []map[string]string `json:"tools"`
		Settings []map[string]string `json:"settings,omitempty"`
	}
	for name := range strings.FieldsSeq(tools) {
		m.Tools = append(m.Tools, map[string]string{"name": name})
	}
	for _, s := range settings {
		name, kind, _ := strings.Cut(s, " ")
		m.Settings = append(m.Settings, map[string]string{"name": name, "type": cmp.Or(kind, "string")})
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// hours is a plugin for tests.
func hours() PluginFiles {
	return PluginFiles{
		Name:     "hours",
		Version:  "1.0.0",
		Digest:   "aa",
		Manifest: describedAs("opening_hours", "city", "key secret"),
		Granted:  `{}`,
	}
}

func TestPluginIsInstalledUpgradedAndRemoved(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	if err := s.InstallPlugin(t.Context(), hours()); !errors.Is(err, ErrConflict) {
		t.Errorf("installed twice: %v", err)
	}
	must(t, s.SetPlugin(t.Context(), "hours", "aa",
		[]PluginSetting{{Name: "city", Value: "Ulm"}, {Name: "key", Sealed: []byte{1}}}, nil))
	next := hours()
	next.Version, next.Digest, next.Signer = "1.1.0", "bb", "me"
	next.Manifest = describedAs("opening_hours holidays", "city secret", "key") // both settings have changed their kind
	if err := s.UpgradePlugin(t.Context(), next, "cc"); !errors.Is(err, ErrConflict) {
		t.Errorf("upgraded from files that it has not: %v", err)
	}
	must(t, s.UpgradePlugin(t.Context(), next, "aa"))
	p, err := s.Plugin(t.Context(), "hours")
	must(t, err)
	if p.Version != "1.1.0" || p.Digest != "bb" || p.Signer != "me" || p.Upgrades != 1 {
		t.Errorf("it is %+v", p)
	}
	if settings, err := s.PluginSettings(t.Context(), "hours"); err != nil || len(settings) != 0 {
		t.Errorf("settings of another kind were retained: %v, %v", settings, err)
	}
	must(t, s.SetPlugin(t.Context(), "hours", "bb",
		[]PluginSetting{{Name: "key", Value: "plain"}, {Name: "city", Sealed: []byte{1}}}, nil))
	next.Digest, next.Manifest = "cc", describedAs("opening_hours", "city secret") // one stays as it is, one goes
	must(t, s.UpgradePlugin(t.Context(), next, "bb"))
	if settings, err := s.PluginSettings(t.Context(), "hours"); err != nil || len(settings) != 1 ||
		settings[0].Name != "city" {
		t.Errorf("of two settings stay %v, %v", settings, err)
	}
	next.Digest, next.Manifest = "dd", describedAs("opening_hours")
	must(t, s.UpgradePlugin(t.Context(), next, "cc"))
	if settings, err := s.PluginSettings(t.Context(), "hours"); err != nil || len(settings) != 0 {
		t.Errorf("without settings it has %v, %v", settings, err)
	}
	must(t, s.RemovePlugin(t.Context(), "hours"))
	if err := s.RemovePlugin(t.Context(), "hours"); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	must(t, s.InstallPlugin(t.Context(), hours())) // its tools are free again
}

func TestToolBelongsToOnePlugin(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	other := hours()
	other.Name, other.Manifest = "other", describedAs("floor opening_hours")
	err := s.InstallPlugin(t.Context(), other)
	if taken, ok := errors.AsType[ErrToolTaken](err); !ok || taken != (ErrToolTaken{"opening_hours", "hours"}) {
		t.Errorf("got %v", err)
	}
	if all, err := s.Plugins(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("half of it stayed: %v, %v", all, err)
	}
}

// Every change is visible at once, in the box and in other processes.
func TestChangesToPluginsAreNotified(t *testing.T) {
	dir := t.TempDir()
	box := openStore(t, dir)
	must(t, box.InstallPlugin(t.Context(), hours()))
	<-box.PluginsChanged()
	joined, err := Join(t.Context(), dir)
	must(t, err)
	defer joined.Close()
	for name, change := range map[string]func() error{
		"set":   func() error { return joined.SetPlugin(t.Context(), "hours", "aa", nil, []string{"city"}) },
		"grant": func() error { return joined.GrantPlugin(t.Context(), "hours", "aa", `{"http":[]}`) },
		"break": func() error { return joined.MarkPluginBroken(t.Context(), "hours", "aa", 5, "no") },
		"mend":  func() error { return joined.MarkPluginWorking(t.Context(), "hours", "aa") },
	} {
		before, err := box.PluginRevision(t.Context())
		must(t, err)
		must(t, change())
		if after, err := box.PluginRevision(t.Context()); err != nil || after <= before {
			t.Errorf("%s: revision %d, then %d, %v", name, before, after, err)
		}
		select {
		case <-box.PluginsChanged():
		case <-time.After(time.Minute):
			t.Fatalf("%s: the box was not notified", name)
		}
	}
	for name, change := range map[string]error{
		"set":   joined.SetPlugin(t.Context(), "hours", "zz", nil, nil),
		"grant": joined.GrantPlugin(t.Context(), "hours", "zz", `{}`),
	} {
		if !errors.Is(change, ErrConflict) {
			t.Errorf("%s for files that are gone: %v", name, change)
		}
	}
}

func TestPluginStaysBrokenUntilRepairedOrUpgraded(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	must(t, s.MarkPluginBroken(t.Context(), "hours", "aa", 7, "trap"))
	first, err := s.Plugin(t.Context(), "hours")
	must(t, err)
	must(t, s.MarkPluginBroken(t.Context(), "hours", "aa", 9, "time"))
	again, err := s.Plugin(t.Context(), "hours")
	must(t, err)
	if first.BrokenMS == 0 || again.BrokenMS != first.BrokenMS || again.RetryMS != 9 || again.BrokenError != "time" {
		t.Errorf("%+v, then %+v", first, again)
	}
	must(t, s.MarkPluginWorking(t.Context(), "hours", "other files"))
	if p, _ := s.Plugin(t.Context(), "hours"); p.BrokenMS == 0 {
		t.Error("mended by files that it no longer has")
	}
	must(t, s.GrantPlugin(t.Context(), "hours", "aa", `{}`))
	if p, _ := s.Plugin(t.Context(), "hours"); p.BrokenMS != 0 || p.BrokenError != "" {
		t.Errorf("still broken: %+v", p)
	}
}

func TestPluginValuesOfAccountsAreSeparate(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	one, two := newAccount(t, s, "one"), newAccount(t, s, "two")
	must(t, s.SetPluginValue(t.Context(), "hours", one, "a%", []byte("1"), 1000))
	must(t, s.SetPluginValue(t.Context(), "hours", one, "ab", nil, 1000))
	must(t, s.SetPluginValue(t.Context(), "hours", two, "a%", []byte("2"), 1000))
	for account, want := range map[string]string{one: "1", two: "2"} {
		if got, ok, err := s.PluginValue(t.Context(), "hours", account, "a%"); err != nil || !ok ||
			string(got) != want {
			t.Errorf("%q, %v, %v; want %q", got, ok, err, want)
		}
	}
	if keys, err := s.PluginKeys(t.Context(), "hours", one, "a%", 9); err != nil || strings.Join(keys, " ") != "a%" {
		t.Errorf("keys %q, %v", keys, err)
	}
	if keys, err := s.PluginKeys(t.Context(), "hours", one, "", 1); err != nil || len(keys) != 1 {
		t.Errorf("keys %q, %v", keys, err)
	}
	must(t, s.DeletePluginValue(t.Context(), "hours", one, "a%"))
	must(t, s.DeletePluginValue(t.Context(), "hours", one, "a%"))
	if _, ok, err := s.PluginValue(t.Context(), "hours", one, "a%"); ok || err != nil {
		t.Errorf("it is still there, %v", err)
	}
	if err := s.SetPluginValue(t.Context(), "none", one, "a", nil, 1000); !errors.Is(err, ErrNotFound) {
		t.Errorf("of no plugin: %v", err)
	}
	must(t, s.RemovePlugin(t.Context(), "hours"))
	must(t, s.InstallPlugin(t.Context(), hours()))
	if n, err := s.PluginBytes(t.Context(), "hours"); err != nil || n != 0 {
		t.Errorf("a removed plugin left %d bytes, %v", n, err)
	}
}

// The size is right after any changes, and never exceeds the limit.
func TestPluginValuesAreBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	a := newAccount(t, s, "one")
	const most = 200
	set := func(key, text string) error {
		return s.SetPluginValue(t.Context(), "hours", a, key, []byte(text), most)
	}
	must(t, set("k", strings.Repeat("x", most-valueOverhead-1)))
	for _, text := range []string{strings.Repeat("x", most), strings.Repeat("ü", most/2)} {
		if _, full := errors.AsType[ErrPluginFull](set("k", text)); !full {
			t.Errorf("%d bytes were taken", len(text))
		}
	}
	if _, full := errors.AsType[ErrPluginFull](set("l", "")); !full {
		t.Error("an empty entry was taken")
	}
	must(t, set("k", "ü"))
	must(t, set("schlüssel", "1"))
	if n, err := s.PluginBytes(t.Context(), "hours"); err != nil ||
		n != int64(len("k")+len("ü")+len("schlüssel")+len("1")+2*valueOverhead) {
		t.Errorf("%d bytes, %v", n, err)
	}
	// A limit that was lowered lets what is there shrink.
	must(t, s.SetPluginValue(t.Context(), "hours", a, "k", []byte(""), 1))
	must(t, s.DeletePluginValue(t.Context(), "hours", a, "k"))
	must(t, s.DeletePluginValue(t.Context(), "hours", a, "schlüssel"))
	if n, err := s.PluginBytes(t.Context(), "hours"); err != nil || n != 0 {
		t.Errorf("%d bytes are left, %v", n, err)
	}
}

func TestPluginQueriesUseIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	for i := range 3 {
		f := hours()
		f.Name, f.Manifest = fmt.Sprint("p", i), "{}"
		must(t, s.InstallPlugin(t.Context(), f))
	}
	plan, err := query(t.Context(), s.read, func(row scanner) (detail string, err error) {
		var id, parent, unused int
		return detail, row.Scan(&id, &parent, &unused, &detail)
	}, `EXPLAIN QUERY PLAN SELECT v.value FROM plugin p CROSS JOIN account a CROSS JOIN plugin_value v ON v.plugin `+
		`= p.num AND v.account = a.num
		 WHERE p.name = 'p1' AND a.id = 'x' AND v.key = 'k'`)
	must(t, err)
	if all := strings.Join(plan, "; "); strings.Contains(all, "SCAN") {
		t.Error(all)
	}
}
