package appliance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/store"
)

// guideManifest is the manifest of testdata/guide.
const guideManifest = `name: guide
version: 1.0.0
description: Knows when and where.
wasm: guide.wasm
hooks: [on_turn, on_chat_end]
tools:
  - {name: opening_hours, description: Tells when a place opens., parameters: {type: object, properties: {place: ` +
	`{type: string}}, required: [place]}, fallback_content: Nobody knows.}
  - {name: press_key, description: Press a key., parameters: {type: object, properties: {key: {type: string}}}}
  - {name: hang, description: Hang., parameters: {type: object}, timeout: 1s, fallback_content: It hangs.}
  - {name: shout, description: Shout., parameters: {type: object}, fallback_content: It is too loud.}
  - {name: fall, description: Fall., parameters: {type: object}, fallback_content: It fell.}
permissions:
  conversation: transcript
`

// buildGuide builds testdata/guide for WASI, once.
var buildGuide = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "parley-guide-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guide.wasm")
	build := exec.Command("go", "build", "-o", out, "-ldflags", "-s -w", "./testdata/guide")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return os.ReadFile(out)
})

// guideFile returns the plugin without some of its tools.
func guideFile(t *testing.T, without ...string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(guideManifest) {
		if !slices.ContainsFunc(without, func(tool string) bool { return strings.Contains(line, "{name: "+tool+",") }) {
			lines = append(lines, line)
		}
	}
	return guideWith(t, strings.Join(lines, ""))
}

// guideWith returns the plugin with another manifest.
func guideWith(t *testing.T, described string) string {
	t.Helper()
	wasm, err := buildGuide()
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err = manifest.Embed(wasm, []byte(described), nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "guide.wasm")
	if err := os.WriteFile(file, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// registryOf opens the plugin registry of a box as another process does.
func registryOf(t *testing.T, data string) *registry.Registry {
	t.Helper()
	records, err := store.Join(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	s := registry.Open(registry.Parts{Records: records, Data: data, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// installPlugin installs a plugin while the box runs, and grants all that it requests.
func installPlugin(t *testing.T, s *registry.Registry, file string, grant ...string) {
	t.Helper()
	p, err := registry.Read(file, "")
	if err != nil {
		t.Fatal(err)
	}
	offer, err := s.Examine(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), offer, registry.Choice{Grant: grant}); err != nil {
		t.Fatal(err)
	}
}

// text returns a response of the API.
func (b *runningBox) text(t *testing.T, path string) string {
	t.Helper()
	_, text := b.ask(t, b.key, http.MethodGet, path, "")
	return text
}

// A person asks, the model calls the tool of a plugin, and the spoken answer has what the
// plugin knows. The plugin is installed during the chat. Then it answers by itself, gives
// the model a hint, fails in all ways, and at last receives the transcript.
func TestPluginTakesPartInASpokenConversation(t *testing.T) {
	t.Parallel()
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
		c.Plugins = []string{"guide"}
	})
	c := b.call(t, linear16)
	c.until("chat_metadata", 1, waitLimit)
	s := registryOf(t, b.cfg.Data)
	installPlugin(t, s, guideFile(t), "all")
	waitFor(t, "the box has the tool", func() bool {
		return strings.Contains(b.text(t, "/v0/evi/tools"), `"press_key"`)
	})

	stop := make(chan struct{})
	c.say(recordingPCM(t, question), stop)
	heard := c.until("assistant_end", 1, waitLimit)
	close(stop)
	call, answered := toolMessages(heard)
	if call.Name != "press_key" || call.ResponseRequired || call.ToolType != contract.ToolFunction ||
		answered != "the pound key opens the purple door." {
		t.Errorf("%+v was answered with %q", call, answered)
	}
	message, spoken := answer(t, heard)
	if back := transcribe(t, b.cfg, spoken); !strings.Contains(strings.ToLower(back), "purple door") {
		t.Errorf("the message is %q, and the audio says %q", message, back)
	}

	// Typed questions are quicker.
	ends := 1
	ask := func(text string) string {
		t.Helper()
		before := len(c.until("assistant_end", ends, waitLimit))
		c.send(contract.UserInput{Text: text})
		ends++
		return assistantText(c.until("assistant_end", ends, waitLimit)[before:])
	}
	// The chat does not wait for a late plugin, and the machine may be busy.
	inTime := func(text, want string) {
		t.Helper()
		got := ""
		for range 20 {
			if got = ask(text); strings.Contains(got, want) {
				return
			}
		}
		t.Errorf("to %q it says %q", text, got)
	}
	inTime("Hello there.", "Hello from the guide.")
	inTime("How is the weather?", "{Context: It is snowing.}")
	for tool, says := range map[string]string{"hang": "It hangs.", "shout": "It is too loud.", "fall": "It fell."} {
		// perhaps after "One moment."
		if got := ask("Use " + tool + " now."); !strings.HasSuffix(got, "The tool says: "+says) {
			t.Errorf("after %s it says %q", tool, got)
		}
		if got := ask("Use press_key now."); !strings.Contains(got, "purple door") { // so the plugin is not suspended
			t.Errorf("then it says %q", got)
		}
	}
	c.conn.CloseNow()

	// The plugin learns of the end of a chat if it was installed at its start.
	c = b.call(t, "")
	c.send(contract.UserInput{Text: "Good evening."})
	c.until("assistant_end", 1, waitLimit)
	c.conn.CloseNow()
	waitFor(t, "the plugin is told of the end", func() bool {
		lines, err := s.Lines(t.Context(), "guide", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if body, ok := strings.CutPrefix(line.Text, "told "); ok {
				var end contract.ChatEndCall
				if err := json.Unmarshal([]byte(body), &end); err != nil {
					t.Fatalf("%v: %s", err, body)
				}
				if end.EndReason != "USER_ENDED" || !strings.Contains(string(end.Transcript), `"Good evening."`) ||
					!strings.Contains(string(end.Transcript), "You said: Good evening.") {
					t.Errorf("it gets %s", body)
				}
				return true
			}
		}
		return false
	})
	figures := b.text(t, "/metrics")
	for _, line := range []string{`parley_plugin_calls_total{plugin="guide",result="answered",tool="press_key"} `,
		`parley_plugin_calls_total{plugin="guide",result="late",tool="hang"} `,
		`parley_plugin_state{plugin="guide",state=`} {
		if !strings.Contains(figures, line) {
			t.Errorf("no %s in the figures", line)
		}
	}
}

// toolMessages returns the call of a tool and its answer.
func toolMessages(heard []receivedMessage) (call contract.ToolCallMessage, content string) {
	for _, m := range heard {
		switch m := m.ServerMessage.(type) {
		case contract.ToolCallMessage:
			call = m
		case contract.ToolResponseMessage:
			content = m.Content
		case contract.ToolErrorMessage:
			content = m.Error
		}
	}
	return call, content
}

// waitFor waits up to two minutes for a condition.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatalf("after two minutes it is not so that %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
