package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/plugins/manifest"
	"parley/store"
)

// trial writes a version of a plugin. It answers {"do": "config"} with its setting city.
func trial(t *testing.T, version, more string) string {
	t.Helper()
	wasm, err := os.ReadFile("../../plugins/sandbox/testdata/extism/assemblyscript.wasm")
	if err != nil {
		t.Fatal(err)
	}
	yaml := "name: trial\nversion: " + version + `
description: Tries what a plugin can do.
license: MIT
wasm: trial.wasm
settings: [{name: city, type: string, default: Bonn}, {name: api_key, type: secret}]
tools:
  - name: run
    description: Does what it is told.
    parameters: {type: object, properties: {do: {type: string}}, required: [do]}
permissions: {http: [{host: example.test, methods: [POST]}], storage: 64KiB` + more + "}\n"
	if wasm, err = manifest.Embed(wasm, []byte(yaml), nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trial.wasm")
	if err := os.WriteFile(file, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// emptyBox returns the data folder of a new box.
func emptyBox(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// step is a command of parley plugin, its exit code, and a part of its output and of its
// error output.
type step struct {
	in        string
	args      string
	code      int
	out, errs string
}

// take runs steps in order on one data folder. FIRST and NEXT are two versions of the
// plugin.
func take(t *testing.T, data string, steps []step) {
	t.Helper()
	first, next := trial(t, "1.0.0", ""), trial(t, "1.1.0", ", conversation: transcript")
	for _, s := range steps {
		var args []string
		for _, word := range strings.Fields("plugin " + s.args) {
			args = append(args, strings.NewReplacer("FIRST", first, "NEXT", next).Replace(word))
		}
		code, out, errs := parleyIn(t.Context(), s.in, []string{"PARLEY_DATA=" + data}, args...)
		if code != s.code || !strings.Contains(out, s.out) || !strings.Contains(errs, s.errs) ||
			code != 0 && out != "" {
			t.Errorf("plugin %s: exits with %d\n%s%s\nwant %d, %q and %q", s.args, code, out, errs, s.code, s.out,
				s.errs)
		}
	}
}

// The life of a plugin on a box that does not run.
func TestPluginCommands(t *testing.T) {
	take(t, emptyBox(t), []step{
		{"", "list", 0, "NAME", ""},
		{"", "list trial", exitFailed, "", "trial"},
		{"", "install /not/there", exitFailed, "", "/not/there"},
		{"", "install FIRST", exitMisuse, "", "--yes to allow all of it"},
		{"y\n", "install FIRST", exitMisuse, "", "there is no terminal to ask on"},
		{"", "install FIRST --yes --grant storage", exitMisuse, "", "exclude each other"},
		{"", "install FIRST --grant nonsense", exitMisuse, "", "nonsense"},
		{"", "install FIRST --yes --set nothing=1", exitMisuse, "", "nothing"},
		{"", "install FIRST --yes --set city", exitMisuse, "", "KEY=VALUE"},
		{"", "install FIRST --yes --require-signature", exitFailed, "", "sign"},
		{"", "set trial city=Ulm", exitFailed, "", "no plugin \"trial\" is installed"},
		{"", "list --json", 0, "[]", ""},
		{"", "install FIRST --grant storage --set city=Ulm", 0, "trial 1.0.0 is installed", "example.test"},
		{"", "install FIRST --yes", exitFailed, "", "is already installed"},
		{"", "list", 0, "trial  1.0.0    ready  run    storage", ""},
		{"", "list trial", 0, `city = "Ulm"`, ""},
		{"", "list trial", 0, "not granted", ""},
		{"", `call trial {"do":"config"}`, 0, "Ulm", "MiB of memory"},
		{`{"do":"twice"}`, "call trial -", 0, "the second", ""},
		{"", `call trial {"do":"error"}`, exitFailed, "", "no such place"},
		{"", `call trial {"do":"http"}`, exitFailed, "", "not granted"},
		{"", `call trial {"do":"log"}`, 0, "logged", "info: a line of the log"},
		{"", "call trial nonsense", exitMisuse, "", "not a JSON object"},
		{"", `call trial {"do":7}`, exitMisuse, "", "the schema of run: at '/do': got number, want string"},
		{"", `call trial {"place":"Zoo"}`, exitMisuse, "", "missing property 'do'"},
		{`{"do":null}`, "call trial -", exitMisuse, "", "at '/do'"},
		{"", "call trial --tool nonsense", exitMisuse, "", "it has: run"},
		{"", `call trial {"do":"config"} --account nobody`, exitFailed, "", "parley keys list"},
		{"", "list trial --logs", 0, "a line of the log", ""},
		{"", "list trial --logs -n 1 --json", 0, `"text"`, ""},
		{"", "list trial --logs -n -1", exitMisuse, "", "--lines"},
		{"", "list nobody --logs", exitFailed, "", "nobody"},
		{"", "set trial --grant http:example.test", 0, "was granted http:example.test", ""},
		{"", "set trial --grant nonsense", exitMisuse, "", "nonsense"},
		{"", "set trial --revoke http:example.test", 0, "lost http:example.test", ""},
		{"", "set nobody --revoke all", exitFailed, "", "nobody"},
		{"", "set trial", exitMisuse, "", "KEY=VALUE"},
		{"", "set trial city=Ulm --grant all", exitMisuse, "", "or --grant"},
		{"", "set trial city=Trier", 0, "has new settings", ""},
		{"top-secret\n", "set trial api_key", 0, "has new settings", ""},
		{"", "list trial", 0, "api_key = (a secret, set)", ""},
		{"", "set trial --unset city", 0, "has new settings", ""},
		{"", `call trial {"do":"config"} --json`, 0, `"content":"Bonn"`, ""},
		{"", "install NEXT", exitMisuse, "", "New permissions that it asks for"},
		{"", "install NEXT --grant none", 0, "was upgraded from 1.0.0", ""},
		{"", "list trial --json", 0, `"1.1.0"`, ""},
		{"", "set trial --remove", exitMisuse, "", "--yes"},
		{"", "set trial --yes --grant storage", exitMisuse, "", "--yes goes with --remove"},
		{"", "set trial --remove --yes", 0, "trial 1.1.0 is removed", ""},
		{"", `call trial {}`, exitFailed, "", "trial"},
	})
}

// At a terminal the command asks, shows what it asks about, and does not echo a secret.
func TestPluginAsksAtATerminal(t *testing.T) {
	data := emptyBox(t)
	file := trial(t, "1.0.0", "")
	for _, c := range []struct {
		args, asks, press, shows string
		failed                   bool
	}{
		{"install " + file, "Install it and allow this? [y/N]", "\n", "nothing was changed", true},
		{"install " + file, "Install it and allow this? [y/N]", "y\n", "is installed", false},
		{"set trial api_key", "api_key: ", "top-secret\n", "has new settings", false},
		{"set trial --remove", "Remove trial 1.0.0", "no\n", "was not removed", true},
		{"set trial --remove", "Remove trial 1.0.0", "yes\n", "is removed", false},
	} {
		cmd := program(t, []string{"PARLEY_DATA=" + data}, strings.Fields("plugin "+c.args)...)
		s := onScreen(t, 100, cmd)
		if !s.shows(c.asks) {
			t.Fatalf("%s: %s", c.args, s.text())
		}
		s.press(c.press)
		if err := cmd.Wait(); (err != nil) != c.failed || !s.shows(c.shows) ||
			strings.Contains(s.text(), "top-secret") {
			t.Errorf("%s: %v\n%s", c.args, err, s.text())
		}
	}
}

// Changes of commands take effect in a running box.
func TestPluginCommandsBesideABox(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	cmd, url := serveTest(t, data)
	defer started(t, cmd, url)()
	take(t, data, []step{
		{"", "install FIRST --yes", 0, "is installed", ""},
		{"", `call trial {"do":"config"}`, 0, "Bonn", ""},
		{"", "set trial --revoke all", 0, "has no permissions", ""},
		{"", "install NEXT --grant none", 0, "was upgraded", ""},
	})
	code, out, errs := parleyIn(t.Context(), "", []string{"PARLEY_DATA=" + data}, "plugin", "list", "--json")
	var all []contract.ReturnPlugin
	if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil || len(all) != 1 || all[0].Version != "1.1.0" {
		t.Errorf("%d, %s%s, %v", code, out, errs, err)
	}
}
