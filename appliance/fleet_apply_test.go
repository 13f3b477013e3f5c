package appliance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"parley/appliance/config"
	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/fleettest"
	"parley/internal/layout"
	"parley/plugins/manifest"
)

// emptyModule is the smallest WASI command: (module (func (export "_start"))).
var emptyModule = []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00" +
	"\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b")

// hoursPlugin returns a version of a small plugin, and has the hub offer its file.
func hoursPlugin(t testing.TB, hub *bus.Hub, version string) fleet.Plugin {
	t.Helper()
	wasm, err := manifest.Embed(emptyModule, []byte("name: hours\nversion: "+version+"\ndescription: Knows when.\n"+
		"wasm: hours.wasm\ntools:\n  - {name: hours_of, description: Hours., parameters: {type: object}}\n"+
		"settings:\n  - {name: city, type: string, description: Where.}\n"+
		"  - {name: token, type: secret, description: Secret.}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(wasm)
	p := fleet.Plugin{
		Name:     "hours",
		Version:  version,
		SHA256:   hex.EncodeToString(sum[:]),
		Bytes:    int64(len(wasm)),
		Granted:  json.RawMessage(`{}`),
		Settings: map[string]string{"city": "Trier " + version},
	}
	if err := hub.PutPlugin(t.Context(), p.SHA256, bytes.NewReader(wasm)); err != nil {
		t.Fatal(err)
	}
	return p
}

// fullRemoteWant has one of everything that a box without voices can run. Each version of it
// differs in everything.
func fullRemoteWant(t testing.TB, hub *bus.Hub, revision int64) fleet.Want {
	w := remoteWant(revision)
	w.Plugins = []fleet.Plugin{hoursPlugin(t, hub, fmt.Sprintf("1.0.%d", revision%2))}
	w.Settings = map[string]string{"tools.timeout": fmt.Sprint(20 + revision%2)}
	a := &w.Accounts[0]
	a.Lexicon = map[string]string{"Nguyen": []string{"/wɪn/", "/ŋwɪən/"}[revision%2]}
	a.Keys[0].Label = fmt.Sprint("label ", revision%2)
	a.Prompts[0].Content = json.RawMessage(fmt.Sprintf(`{"text":"You are %d."}`, revision%2))
	a.Tools = []fleet.Resource{{
		ID:      "c0000000-0000-4000-8000-000000000003",
		Name:    "lights",
		Version: int(revision % 2),
		Content: json.RawMessage(`{"parameters":"{\"type\":\"object\"}"}`),
	}}
	a.Configs[0].Content = json.RawMessage(fmt.Sprintf(`{"evi_version":"4-mini","prompt":{"id":%q,"version":4},`+
		`"tools":[{"id":"c0000000-0000-4000-8000-000000000003","version":%d}]}`, remotePrompt, revision%2))
	return w
}

// bareBox runs a box in a fleet that has no models: it does all but chat.
type bareBox struct {
	data   string
	flags  map[string]string
	hub    *bus.Hub
	states chan fleet.State
	stop   func()
}

func joinBareBox(t *testing.T) *bareBox {
	f := fleettest.Start(t)
	text, err := f.Join(t, "kiosk").Text()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kiosk.join")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bareBox{data: t.TempDir(), hub: f.Hub(t), states: make(chan fleet.State, 10_000)}
	b.flags = map[string]string{"data": b.data, "listen": "127.0.0.1:0", "packs": t.TempDir(), "fleet.join": file}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.hub.States(ctx, func(s fleet.State, _ time.Time) { b.states <- s }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return b
}

// runBareBox runs a box, again after each restart, until ctx ends.
func runBareBox(ctx context.Context, flags map[string]string, log *slog.Logger) error {
	for {
		cfg, err := config.Load(config.Sources{Flags: flags, Dir: flags["packs"], Home: flags["packs"]})
		if err != nil {
			return err
		}
		err = Run(ctx, cfg, Console{
			Log:     log,
			Service: true,
			Waiting: func(string, string) {},
			Loaded:  func() {},
			Ready:   func(Ready) {},
		})
		if !errors.Is(err, ErrRestart) || ctx.Err() != nil {
			return err
		}
	}
}

// start starts the box in this process.
func (b *bareBox) start(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runBareBox(ctx, b.flags, slog.New(slog.NewTextHandler(testLog{t}, nil))) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Cleanup(b.stop)
}

// contents returns all rows of the database and all files of the data folder, but for what
// changes by itself: the audit log, what waits for the hub, and the files of running programs.
func (b *bareBox) contents(t *testing.T) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.data, layout.Database)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`VACUUM INTO ?`, copied); err != nil {
		t.Fatal(err)
	}
	all := dumpDatabase(t, copied)
	err = fs.WalkDir(os.DirFS(b.data), ".", func(name string, d fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(name, "/")
		if err != nil || d.IsDir() || !slices.Contains([]string{layout.Plugins, layout.FleetSettings}, top) ||
			strings.HasSuffix(name, ".lock") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(b.data, name))
		all = append(all, fmt.Sprintf("file %s %x", name, sha256.Sum256(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// dumpDatabase returns all rows of the tables that hold what a hub can want.
func dumpDatabase(t *testing.T, file string) (all []string) {
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		`SELECT 'account', name FROM account`,
		`SELECT 'key', id, label, hex(api_hash), managed FROM key`,
		`SELECT 'resource', id, kind, name, newest, managed FROM resource`,
		`SELECT 'version', resource, version, content FROM resource_version`,
		`SELECT 'voice', id, name, recipe, managed FROM voice`,
		`SELECT 'lexicon', word, said, managed FROM lexicon`,
		`SELECT 'plugin', name, version, digest, granted, managed FROM plugin`,
		`SELECT 'tool', name FROM plugin_tool`,
		`SELECT 'plugin_setting', name, value FROM plugin_setting`,
		`SELECT 'setting', name, value FROM fleet_setting`,
		`SELECT 'running', running FROM fleet`,
	} {
		rows, err := db.Query(q)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(values...))
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(lines)
		all = append(all, lines...)
	}
	return all
}

// TestAWantThatIsWrongAnywhereChangesNothing has for each kind a want of which one part is wrong.
func TestAWantThatIsWrongAnywhereChangesNothing(t *testing.T) {
	b := joinBareBox(t)
	b.start(t)
	put := func(w fleet.Want, until func(fleet.State) bool) fleet.State {
		t.Helper()
		if err := b.hub.PutWant(t.Context(), "kiosk", w); err != nil {
			t.Fatal(err)
		}
		return next(t, b.states, until)
	}
	put(fullRemoteWant(t, b.hub, 1), func(s fleet.State) bool { return s.Running == 1 && s.Waits == "" })
	before := b.contents(t)
	account := func(change func(*fleet.Account)) func(*fleet.Want) {
		return func(w *fleet.Want) { change(&w.Accounts[0]) }
	}
	plugin := func(change func(*fleet.Plugin)) func(*fleet.Want) {
		return func(w *fleet.Want) { change(&w.Plugins[0]) }
	}
	config := func(content string) func(*fleet.Want) {
		return account(func(a *fleet.Account) { a.Configs[0].Content = json.RawMessage(content) })
	}
	revision := int64(1)
	const lights = `{"id":"c0000000-0000-4000-8000-000000000003"}`
	recipe := json.RawMessage(`{"parts":[{"voice":"voice-nobody","weight":1}]}`)
	wrong := map[string]struct {
		change func(*fleet.Want)
		why    string
	}{
		"prompt": {account(func(a *fleet.Account) { a.Prompts[0].Content = json.RawMessage(`{"text":7}`) }),
			`version 4 of the prompt "guide" (c0000000-0000-4000-8000-000000000002): body.text`},
		"tool": {account(func(a *fleet.Account) { a.Tools[0].Content = json.RawMessage(`{"parameters":"{"}`) }),
			`of the tool "lights" (c0000000-0000-4000-8000-000000000003): parameters`},
		"name of a tool": {account(func(a *fleet.Account) { a.Tools[0].Name = "" }), `of the tool ""`},
		"config":         {config(`{"evi_version":"4-mini","ellm_model":7}`), `of the config "desk"`},
		"prompt of a config": {config(`{"evi_version":"4-mini","prompt":{"id":"` + remotePrompt + `","version":5}}`),
			"prompt: the hub does not send the version 5"},
		"tool of a config": {config(`{"evi_version":"4-mini","tools":[{"id":"` + remotePrompt + `"}]}`),
			"tools[0]: the hub does not send"},
		"tool twice": {config(`{"evi_version":"4-mini","tools":[` + lights + `,` + lights + `]}`), "tools"},
		"voice of a config": {config(`{"evi_version":"4-mini","voice":{"name":"Caruso"}}`),
			`voice: this box does not have "Caruso"`},
		"answers of a config": {account(func(a *fleet.Account) { a.Configs[0].Answers = json.RawMessage(`[7]`) }),
			"answers"},
		"saved voice": {account(func(a *fleet.Account) {
			a.Voices = []fleet.Voice{{ID: remotePrompt, Name: "Ada", Recipe: recipe}}
		}), `voice "Ada": recipe.parts[0]: this box does not have the voice "voice-nobody"`},
		"pronunciation": {account(func(a *fleet.Account) { a.Lexicon["Nguyen"] = "/!!/" }),
			`pronunciation of "Nguyen"`},
		"key": {account(func(a *fleet.Account) { a.Keys[0].APIHash = []byte("x") }),
			"key abcdefghijkl: its hashes have 1 and 32 bytes"},
		"account": {account(func(a *fleet.Account) { a.Name = "" }), "account"},
		"forbidden setting": {func(w *fleet.Want) { w.Settings["listen"] = "0.0.0.0:80" },
			`setting "listen": a hub cannot make it`},
		"value of a setting": {func(w *fleet.Want) { w.Settings["tools.timeout"] = "soon" }, "tools.timeout"},
		"file of a plugin": {plugin(func(p *fleet.Plugin) { p.SHA256 = strings.Repeat("0", 64) }),
			`plugin "hours": its file cannot be fetched`},
		"name of a file": {plugin(func(p *fleet.Plugin) { p.SHA256 = "../../x" }), "is not a SHA-256"},
		"version of a plugin": {plugin(func(p *fleet.Plugin) { p.Version = "9.9.9" }),
			`plugin "hours": version: the hub wants 9.9.9`},
		"permissions":         {plugin(func(p *fleet.Plugin) { p.Granted = json.RawMessage(`[]`) }), "granted"},
		"setting of a plugin": {plugin(func(p *fleet.Plugin) { p.Settings["town"] = "x" }), "settings.town"},
		"secret of a plugin": {plugin(func(p *fleet.Plugin) { p.Settings["token"] = "x" }),
			"settings.token: it is a secret"},
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		one := wrong[name]
		if revision++; revision%2 != 0 {
			revision++ // so that all other parts differ from those of revision 1
		}
		w := fullRemoteWant(t, b.hub, revision)
		one.change(&w)
		s := put(w, func(s fleet.State) bool { return s.Wanted == revision && s.Why != "" })
		if s.Running != 1 || !strings.Contains(s.Why, one.why) {
			t.Errorf("%s: the box runs %d, and says %q", name, s.Running, s.Why)
		}
		if after := b.contents(t); after != before {
			t.Fatalf("%s: a want that is wrong changed\n%s\nto\n%s", name, before, after)
		}
	}
	revision += 2
	put(fullRemoteWant(t, b.hub, revision), func(s fleet.State) bool {
		return s.Running == revision && s.Why == "" && s.Waits == ""
	})
	if after := b.contents(t); after == before {
		t.Error("a want that is right changed nothing")
	}
}
