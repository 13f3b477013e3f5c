package manifest

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const whole = `
name: opening-hours             # a-z 0-9 -, at most 64
version: 1.2.0
description: Knows when and where.
license: Apache-2.0
wasm: opening-hours.wasm
reuse: none                     # none | chat | any: who may meet a used instance again
tools:
  - name: opening_hours         # becomes a tool of the account
    description: When a place is open.
    parameters: {type: object, properties: {place: {type: string}}, required: [place]}
    fallback_content: I could not look that up.
    timeout: 2s                 # at most 30s; default 5s
settings:
  - {name: city, type: string, required: true}
  - {name: api_key, type: secret}
permissions:                    # all absent by default: nothing is allowed
  http:    [{host: api.example.org, methods: [GET]}]
  files:   [{path: /data/menu, as: /menu, mode: read}]
  env:     []
  storage: 1MiB                 # private key-value space
  conversation: none            # none | transcript | expression
  memory:  64MiB
`

func TestAWholeManifestIsParsed(t *testing.T) {
	m, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := Manifest{
		Name:        "opening-hours",
		Version:     "1.2.0",
		Description: "Knows when and where.",
		License:     "Apache-2.0",
		Wasm:        "opening-hours.wasm",
		Reuse:       ReuseNone,
		Tools: []Tool{{
			Name:            "opening_hours",
			Description:     "When a place is open.",
			FallbackContent: "I could not look that up.",
			Timeout:         2 * time.Second,
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`),
		}},
		Settings: []Setting{{Name: "city", Type: String, Required: true}, {Name: "api_key", Type: Secret}},
		Permissions: Permissions{
			HTTP:    []HTTP{{"api.example.org", []string{"GET"}}},
			Files:   []File{{"/data/menu", "/menu", Read}},
			Storage: 1 << 20,
			Memory:  64 << 20,
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Manifest
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("as JSON and back: %+v, %v", again, err)
	}
}

func TestPermissionsAreDescribedInWords(t *testing.T) {
	m, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(m.Permissions.Words(), "; ")
	want := "may send requests to api.example.org (GET); may read files in /data/menu (as /menu); may store up to " +
		"1MiB of data; may not read the conversation"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	got = strings.Join(Permissions{}.Words(), "; ")
	if want := "may not use the network; may not access files; may not read the conversation"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Each case changes one line of the whole manifest. The error names the field, its line if
// it has one, and what is allowed.
func TestErrorsNameFieldLineAndWhatIsAllowed(t *testing.T) {
	for _, c := range []struct{ old, new, field, why string }{
		{"license:", "licence:", "licence", "unknown field"},
		{"timeout: 2s", "time_out: 2s", "tools[0].time_out", "unknown field"},
		{"methods: [GET]", "methodes: [GET]", "permissions.http[0].methodes", "unknown field"},
		{"storage: 1MiB", "disk: 1MiB", "permissions.disk", "unknown field"},
		{"name: opening-hours  ", "name: Opening Hours  ", "name", "a-z"},
		{"name: opening-hours  ", "nom: x  ", "nom", "unknown field"},
		{"name: opening-hours  ", "name: " + strings.Repeat("a", 65), "name", "64"},
		{"version: 1.2.0", "version: new", "version", "1.2.0"},
		{"wasm: opening-hours.wasm", "wasm: ../x.wasm", "wasm", "in the folder"},
		{"wasm: opening-hours.wasm", "wasm: /etc/passwd", "wasm", "in the folder"},
		{"reuse: none", "reuse: all", "reuse", "none, chat and any"},
		{"timeout: 2s", "timeout: 31s", "tools[0].timeout", "30s"},
		{"timeout: 2s", "timeout: -1s", "tools[0].timeout", "30s"},
		{"timeout: 2s", "timeout: soon", "tools[0].timeout", "30s"},
		{"- name: opening_hours", "- name: _start", "tools[0].name", "reserved name"},
		{"- name: opening_hours", "- name: on_turn", "tools[0].name", "reserved name"},
		{"- name: opening_hours", "- name: opening hours", "tools[0].name", "letters"},
		{"{type: object, properties: {place: {type: string}}, required: [place]}", "{type: string}",
			"tools[0].parameters", "object"},
		{"{type: object, properties: {place: {type: string}}, required: [place]}",
			"{type: object, properties: {place: {type: strong}}}", "tools[0].parameters", "not a JSON schema"},
		{"{type: object, properties: {place: {type: string}}, required: [place]}",
			"{type: object, $ref: 'file:///etc/passwd'}", "tools[0].parameters", "not a JSON schema"},
		{"{type: object, properties: {place: {type: string}}, required: [place]}",
			"{type: object, $ref: 'http://127.0.0.1:1/'}", "tools[0].parameters", "not a JSON schema"},
		{"name: city, type: string", "name: city, type: text", "settings[0].type", "secret"},
		{"required: true", "required: maybe", "settings[0].required", "write true or false"},
		{"name: api_key, type: secret", "name: CITY, type: secret", "settings[1].name", "twice"},
		{"name: api_key, type: secret", "name: api_key, type: secret, default: x", "settings[1].default", "secret"},
		{"name: api_key, type: secret", "name: n, type: integer, default: 1.5", "settings[1].default", "whole number"},
		{"host: api.example.org", "host: https://api.example.org", "permissions.http[0].host", "not a host"},
		{"host: api.example.org", "host: API.example.org", "permissions.http[0].host", "lower case"},
		{"host: api.example.org", "host: '*'", "permissions.http[0].host", "not a host"},
		{"host: api.example.org", "host: '*.org'", "permissions.http[0].host", "two parts"},
		{"host: api.example.org", "host: api.*.org", "permissions.http[0].host", "not a host"},
		{"host: api.example.org", "host: 127.1", "permissions.http[0].host", "invalid address"},
		{"host: api.example.org", "host: 0.0.0.0", "permissions.http[0].host", "one machine"},
		{"host: api.example.org", "host: '::ffff:127.0.0.1'", "permissions.http[0].host", "write 127.0.0.1"},
		{"host: api.example.org", "host: api.example.org:0", "permissions.http[0].host", "port"},
		{"host: api.example.org, ", "", "permissions.http[0].host", "missing"},
		{"methods: [GET]", "methods: [get]", "permissions.http[0].methods[0]", "GET"},
		{"methods: [GET]", "methods: [CONNECT]", "permissions.http[0].methods[0]", "GET"},
		{"path: /data/menu", "path: /data/../etc", "permissions.files[0].path", "without .."},
		{"path: /data/menu", "path: menu", "permissions.files[0].path", "absolute path"},
		{"mode: read", "mode: rw", "permissions.files[0].mode", "read and write"},
		{"env:     []", "env: [A B]", "permissions.env[0]", "invalid variable name"},
		{"env:     []", "env: [HOME, HOME]", "permissions.env[1]", "twice"},
		{"storage: 1MiB", "storage: 1TiB", "permissions.storage", "64MiB"},
		{"storage: 1MiB", "storage: -1", "permissions.storage", "64MiB"},
		{"memory:  64MiB", "memory: 8GiB", "permissions.memory", "1GiB"},
		{"conversation: none", "conversation: all", "permissions.conversation", "transcript"},
		{"name: opening-hours  ", "name: &a opening-hours  ", "name", "anchor"},
		{"license: Apache-2.0", "license: [a]", "license", "write a string"},
		{"tools:", "tools: x\ntoolz:", "toolz", "unknown"},
		{"version: 1.2.0", "version: 1.2.0\nversion: 1.2.1", "", ""},
	} {
		if strings.Count(whole, c.old) == 0 {
			t.Fatalf("%q is not in the manifest", c.old)
		}
		_, err := Parse([]byte(strings.Replace(whole, c.old, c.new, 1)))
		var invalid ErrInvalid
		switch {
		case !errors.As(err, &invalid):
			t.Errorf("%s: error %v, want an ErrInvalid", c.new, err)
		case c.field != "" && invalid.Field != c.field || !strings.Contains(err.Error(), c.why) || invalid.Line == 0:
			t.Errorf("%s: %v (line %d), want %s with %q", c.new, err, invalid.Line, c.field, c.why)
		}
	}
	for _, text := range []string{"", "# nothing", "- a", "a: b: c", "name: x\n---\nname: y", "\xff",
		strings.Repeat("[", 10000), "x: " + strings.Repeat("a", MaxBytes)} {
		if _, err := Parse([]byte(text)); !errors.As(err, new(ErrInvalid)) {
			t.Errorf("%.20q: error %v, want an ErrInvalid", text, err)
		}
	}
}

func TestTheManifestIsASectionOfTheModule(t *testing.T) {
	empty := []byte("\x00asm\x01\x00\x00\x00")
	module, err := Embed(empty, []byte(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, ok, err := Of(module)
	if err != nil || !ok || m.Name != "opening-hours" {
		t.Errorf("%v %v %v", m.Name, ok, err)
	}
	for _, none := range [][]byte{empty, module} {
		if files, err := Tests(none); err != nil || len(files) != 0 {
			t.Errorf("a module without cases: %v, %v", files, err)
		}
	}
	if _, ok, err := Of(empty); ok || err != nil {
		t.Errorf("a module without a manifest: %v %v", ok, err)
	}
	if _, _, err := Of(append(module, module[8:]...)); err == nil {
		t.Error("two sections were accepted")
	}
	for i := range module {
		if _, ok, err := Of(module[:i]); i != len(empty) && err == nil {
			t.Fatalf("cut at %d: %v, no error", i, ok)
		}
	}
	if _, err := Embed(module, []byte(whole), nil); err == nil {
		t.Error("a second section was added")
	}
	if _, err := Embed(empty, []byte("name: x"), nil); err == nil {
		t.Error("half a manifest was added")
	}
}

func TestAModuleCarriesItsCases(t *testing.T) {
	empty := []byte("\x00asm\x01\x00\x00\x00")
	files := map[string]string{"a.json": "[{}]", "b.json": "not JSON"}
	module, err := Embed(empty, []byte(whole), files)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Tests(module); err != nil || !reflect.DeepEqual(got, files) {
		t.Errorf("%v, %v", got, err)
	}
	if m, ok, err := Of(module); err != nil || !ok || m.Name != "opening-hours" {
		t.Errorf("%v %v %v", m.Name, ok, err)
	}
	if _, err := Tests(appendSection(empty, TestsSection, []byte(`["a"]`))); err == nil {
		t.Error("a list of cases was accepted")
	}
	files["c.json"] = strings.Repeat(" ", maxTestBytes)
	if _, err := Embed(empty, []byte(whole), files); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("too much was carried along: %v", err)
	}
}

func TestCoversComparesPermissions(t *testing.T) {
	old := Permissions{
		HTTP:         []HTTP{{"*.example.org", []string{"GET"}}, {"a.example.com", []string{"GET", "POST"}}},
		Files:        []File{{"/data", "/data", Read}},
		Env:          []string{"HOME"},
		Storage:      10,
		Conversation: Transcript,
		Memory:       1 << 20,
	}
	http := func(host string, methods ...string) Permissions { return Permissions{HTTP: []HTTP{{host, methods}}} }
	folder := func(path string, mode Mode) Permissions { return Permissions{Files: []File{{path, "/m", mode}}} }
	for _, c := range []struct {
		name string
		new  Permissions
		want bool
	}{
		{"the same", old, true},
		{"less", Permissions{Storage: 5}, true},
		{"below the star", http("x.y.example.org", "GET"), true},
		{"the star itself", http("example.org", "GET"), false},
		{"not quite below", http("badexample.org", "GET"), false},
		{"another port", http("a.example.com:8443", "GET"), false},
		{"both methods", http("a.example.com", "GET", "POST"), true},
		{"a method more", http("a.example.com", "GET", "PUT"), false},
		{"a star for a name", http("*.example.com", "GET"), false},
		{"a folder beneath", folder("/data/menu", Read), true},
		{"to write", folder("/data/menu", Write), false},
		{"a folder beside", folder("/data2", Read), false},
		{"more storage", Permissions{Storage: 11}, false},
		{"feelings", Permissions{Conversation: Expression}, false},
		{"memory", Permissions{Memory: 2 << 20}, false},
		{"variables", Permissions{Env: []string{"HOME", "USER"}}, false},
	} {
		if got := old.Covers(c.new); got != c.want {
			t.Errorf("%s: covered %v, want %v", c.name, got, c.want)
		}
	}
	if (Permissions{}).Covers(Permissions{Memory: DefaultMemory + 1}) ||
		!(Permissions{}).Covers(Permissions{Memory: 1}) {
		t.Error("permissions without memory do not cover the default")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("name: {a: [b, *c, <<: &d]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			if !errors.As(err, new(ErrInvalid)) {
				t.Errorf("%T: %v", err, err)
			}
			return
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again Manifest
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		m.Permissions.Words()
	})
}

func FuzzOf(f *testing.F) {
	module, err := Embed([]byte("\x00asm\x01\x00\x00\x00"), []byte(whole), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(module)
	f.Fuzz(func(t *testing.T, module []byte) {
		_, ok, err := Of(module)
		if ok && err != nil {
			t.Error("both")
		}
	})
}
