package appliance

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/box"
	"parley/appliance/certs"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/expression"
	"parley/firmware/backup"
	"parley/internal/golden"
	"parley/internal/version"
	"parley/plugins/registry"
	"parley/store"
)

// Backups, scripts and operators find these files in the data folder of a used box, while
// it runs and afterwards. The files of ACME belong to its library.
func TestGoldenDataFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	unpack(t, filepath.Join("..", "store", "testdata", "schema5.db.gz"), filepath.Join(data, "parley.db"))
	b := startBox(t, func(c *config.Config) { c.Data = data })
	records, err := store.Join(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	key, err := records.CreateKey(t.Context(), store.NewKey{Account: "museum"})
	if err != nil {
		t.Fatal(err)
	}
	b.key = key.APIKey
	usePlugin(t, data)
	c := b.call(t, linear16)
	c.send(contract.AssistantInput{Text: "Hello."})
	if err := c.conn.Write(t.Context(), websocket.MessageBinary, make([]byte, 6400)); err != nil { // the user's side
		t.Fatal(err)
	}
	c.until("assistant_end", 1, waitLimit)
	// Some files come later, on a slow machine by seconds. A file that has not come
	// after a minute counts as lost.
	if status, text := b.ask(t, b.key, http.MethodPost, "/v0/batch/jobs",
		`{"text":["Hello."],"models":{"language":{}}}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	late := []string{"recordings/*-user.opus", "recordings/*-assistant.opus", "prompts/*.prompt",
		"batch/*/artifacts.zip"}
	for n := 0; n < 600 && len(late) > 0; n++ {
		late = slices.DeleteFunc(late, func(name string) bool { return slices.Contains(filesIn(t, data), name) })
		<-time.After(100 * time.Millisecond)
	}
	_, err = backup.Make(t.Context(), backup.Box{Data: data, Version: version.String(),
		Database: func(ctx context.Context, file string, progress func(done, total int64)) (int64, error) {
			return store.Backup(ctx, data, file, progress)
		}}, filepath.Join(t.TempDir(), "backup"), nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := filesIn(t, data)
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	// The box had a key, so it made no first one.
	empty := t.TempDir()
	keyless, err := store.Open(t.Context(), empty, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, err = box.MakeFirstKey(t.Context(), empty, false, keyless)
	if err := errors.Join(err, keyless.Close()); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, filesIn(t, empty)...)
	cfg := b.cfg
	cfg.TLS = config.TLS{Mode: config.TLSOwn}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	id, err := certs.Open(t.Context(), certOptions(cfg), at, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	id.Close()
	golden.Names(t, "data_folder", append(lines, filesIn(t, data)...))
}

// usePlugin installs a plugin with a test and a secret while the box runs, and calls it.
func usePlugin(t *testing.T, data string) {
	t.Helper()
	file := guideWith(t, guideManifest+"settings:\n  - {name: pin, type: secret, description: A number.}\n")
	s, pin := registryOf(t, data), "1234"
	p, err := registry.Read(file, "")
	if err != nil {
		t.Fatal(err)
	}
	offer, err := s.Examine(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	choice := registry.Choice{Grant: []string{"all"}, Settings: map[string]*string{"pin": &pin}}
	if err := s.Install(t.Context(), offer, choice); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Try(t.Context(), registry.Origin{}, "guide", "fall", []byte("{}")); err == nil {
		t.Fatal("it did not fail, and so has no log")
	}
}

// variableParts matches the parts of names that differ each time or on each machine.
var variableParts = regexp.MustCompile(
	`[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(before-v)[0-9]+|(wazero-)[^/]+`)

// filesIn returns the files and folders below data.
func filesIn(t *testing.T, data string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == data {
			return err
		}
		name := variableParts.ReplaceAllString(path[len(data)+1:], "$2$3*")
		if d.IsDir() {
			name += "/"
		}
		lines = append(lines, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// unpack decompresses a gzip file.
func unpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A client receives these messages with these fields in a chat in which it types, answers a
// tool, interrupts an answer and sends invalid data.
func TestGoldenConversation(t *testing.T) {
	b := startFakeBox(t, func(p *chat.Parts) {
		p.Model, p.Defaults.ToolLimit = bookingModel{}, time.Minute
		m, err := expression.New()
		if err != nil {
			t.Fatal(err)
		}
		p.Expression = meter{m}
	})
	tool := b.post(t, "/v0/evi/tools", `{"name":"book_taxi","parameters":"{\"type\":\"object\"}"}`)
	id := b.post(t, "/v0/evi/configs", `{"name":"desk","evi_version":"4-mini","tools":[{"id":"`+tool+`"}]}`)
	url := b.url + "/v0/evi/chat?api_key=" + b.key + "&config_id=" + id + linear16 +
		"&session_settings[custom_session_id]=mine"
	conn, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(16 << 20)
	sent := map[string]map[string]bool{} // fields by type of message
	until := func(kind string) map[string]any {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		for {
			var m map[string]any
			if _, text, err := conn.Read(ctx); err != nil || json.Unmarshal(text, &m) != nil {
				t.Fatalf("before %s: %v, %s", kind, err, text)
			}
			of := m["type"].(string)
			if sent[of] == nil {
				sent[of] = map[string]bool{}
			}
			addFields(sent[of], "", m)
			if of == kind {
				return m
			}
		}
	}
	send := func(text string) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	until("chat_metadata")
	send("{")
	until("error")
	send(`{"type":"user_input","text":"Order a taxi."}`)
	answer := func(content string) {
		t.Helper()
		call := until("tool_call")
		send(`{"type":"tool_response","tool_call_id":"` + call["tool_call_id"].(string) + `","content":"` + content +
			`"}`)
	}
	answer(strings.Repeat("in a while, ", 50)) // half a minute, long enough to interrupt it on any machine
	until("audio_output")
	stop := make(chan struct{})
	(&caller{t: t, conn: conn}).say(slices.Repeat([]float32{0.5}, 2*16000), stop)
	until("user_interruption")
	until("user_message")
	answer("in five minutes")
	until("assistant_end")
	close(stop)
	var lines []string
	for kind, fields := range sent {
		lines = append(lines, kind+": "+strings.Join(slices.Sorted(maps.Keys(fields)), " "))
	}
	golden.Names(t, "conversation", lines)
}

// addFields adds the names of the fields of m and of nested objects, except scores.
func addFields(to map[string]bool, before string, m map[string]any) {
	for name, v := range m {
		to[before+name] = true
		if within, ok := v.(map[string]any); ok && name != "scores" {
			addFields(to, before+name+".", within)
		}
	}
}
