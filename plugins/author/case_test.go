package author

import (
	"errors"
	"os"
	"strings"
	"testing"

	"parley/plugins/manifest"
)

func manifestOf(t *testing.T) manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte(`
name: shop
version: 1.0.0
description: Test
tools: [{name: stock, description: Test}]
settings: [{name: city, type: string}]
permissions: {files: [{path: /srv/menu, as: /menu, mode: read}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestErrorsOfCasesNameTheFileAndTheField(t *testing.T) {
	for text, want := range map[string]string{
		`{"parameters": {}, "content": "x"}`:             "",
		`[{"content": "x"}, {"error": "y"}]`:             "",
		`{"parameters": {}, "contents": "x"}`:            `tests/a.json: unknown field "contents"`,
		"[\n{\"content\": \"x\",}]":                      "tests/a.json: line 2",
		`{"parameters": {}}`:                             "tests/a.json: case 1: no expectation",
		`{"name": "n", "content": "x", "error": "y"}`:    "n: two expectations",
		`{"content": "x", "settings": {"town": "Linz"}}`: `plugin.yaml has no setting "town"`,
		`{"content": "x", "files": {"/other": "menu"}}`:  `plugin.yaml has no folder "/other"`,
		`{"content": "x", "http": [{"status": 200}]}`:    "http[0]: url is missing",
		`{"content": "x", "calls": [{"content": "x"}]}`:  "the case has calls as well as parameters or a result",
		`{"content": "x", "time": "yesterday"}`:          "tests/a.json:",
	} {
		_, err := parseCases(manifestOf(t), map[string]string{"a.json": text})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAFailedCaseShowsTheDifference(t *testing.T) {
	failed := errors.New("no such place")
	for _, c := range []struct {
		step    step
		content string
		err     error
		want    string
	}{
		{step{Content: "open"}, "open", nil, ""},
		{step{Content: "open"}, "open\n", nil, ""}, // programs end their output with a line break
		{step{Content: "open"}, "opens", nil, "they differ from character 5 on"},
		{step{Content: "open"}, "", failed, "the call failed: no such place"},
		{step{Contains: []string{"op", "en"}}, "open", nil, ""},
		{step{Contains: []string{"op", "shut"}}, "open", nil, `should have  "shut"`},
		{step{Error: "such"}, "", failed, ""},
		{step{Error: "other"}, "", failed, `should have  "other"`},
		{step{Error: "such"}, "open", nil, `expected an error  "such"`},
		{step{Content: map[string]any{"a": 1.0, "b": 2.0}}, `{"b": 2, "a": 1}`, nil, ""},
		{step{Content: map[string]any{"a": 1.0}}, `{"a": 2}`, nil, `expected        {"a":1}`},
		{step{Content: []any{1.0}}, `one`, nil, "expected JSON"},
	} {
		got := c.step.differs(c.content, c.err)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v of %q, %v: %q, want %q", c.step, c.content, c.err, got, c.want)
		}
	}
}

// requestsAreCompared checks, with the weather example built in dir, that recorded and
// actual requests must match.
func requestsAreCompared(t *testing.T, dir string) {
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, wasm := p.Manifest, p.Wasm()
	err = checkFile(t, m, wasm, `[{"name": "n", "settings": {"place": "Linz"}, "parameters": {}, "http": [{"url": `+
		`"https://api.open-meteo.com/else"}], "content": "x"}]`)
	for _, want := range []string{"requested, but not recorded in the case: GET " +
		"https://geocoding-api.open-meteo.com/", "recorded in the case, but not requested: GET " +
		"https://api.open-meteo.com/else"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// Cases that need the author's folders are not run before an upgrade on a box.
	m.Permissions.Files = []manifest.File{{Path: t.TempDir(), As: "/x", Mode: manifest.Read}}
	if err := checkFile(t, m, wasm, `{"files": {"/x": "x"}, "content": "never"}`); err != nil {
		t.Error(err)
	}
}

func checkFile(t *testing.T, m manifest.Manifest, wasm, text string) error {
	t.Helper()
	module, err := os.ReadFile(wasm)
	if err != nil {
		t.Fatal(err)
	}
	return Check(t.Context(), m, module, map[string]string{"a.json": text})
}
