package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"parley/appliance/config"
	"parley/internal/layout"
)

// serveTest returns the command line of a box with the models of the test profile, and
// its address.
func serveTest(t *testing.T, data string, more ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Environ: os.Environ(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"serve", "--data", data, "--listen", address, "--profile", "test", "--packs", cfg.Packs},
		more...)
	return program(t, nil, args...), "http://" + address
}

// patience bounds all waits: on a busy machine a box takes a minute to load its models.
const patience = 5 * time.Minute

// answers waits until the box answers GET url with 200.
func answers(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if res, err := http.Get(url); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatalf("%s does not answer with 200", url)
}

func TestASignalEndsABoxThatIsLoadingAtOnce(t *testing.T) {
	// which service managers send
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 0} {
		cmd, url := serveTest(t, filepath.Join(t.TempDir(), "data"))
		ready := make(chan struct{})
		go func() {
			defer close(ready)
			answers(t, url+"/healthz")
		}()
		code, errs, took := signalWhenReady(t, cmd, ready, signal)
		lines := strings.Split(strings.TrimSpace(errs), "\n")
		if last := lines[len(lines)-1]; code != want || took > atOnce ||
			!strings.Contains(last, "loading its models") || strings.Contains(errs, "goroutine") {
			t.Errorf("%v: code %d after %v:\n%s", signal, code, took, errs)
		}
	}
}

// Output that is not on a terminal ends up in logs, so it has no secrets.
func TestSecretsOfTheFirstStartGoToATerminalOrAFile(t *testing.T) {
	secret := regexp.MustCompile(`API key  [0-9A-Za-z_-]{40}`)
	t.Run("a pipe", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		cmd, url := serveTest(t, data)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		stop := started(t, cmd, url)
		file := filepath.Join(data, layout.FirstKey)
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(file); err == nil {
				break
			}
		}
		stop()
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if _, value, ok := strings.Cut(line, "="); ok &&
				(len(value) < 20 || strings.Contains(out.String()+errs.String(), value)) {
				t.Errorf("%q is not a secret, or was printed", line)
			}
		}
		if strings.Contains(out.String()+errs.String(), "#signin=") {
			t.Errorf("a link that signs in to the console was printed:\n%s%s", &out, &errs)
		}
		if !strings.Contains(errs.String(), file) || !strings.Contains(out.String(), "cat "+file) {
			t.Errorf("the path is not told:\n%s%s", &out, &errs)
		}
	})
	t.Run("a terminal", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		cmd, url := serveTest(t, data)
		master, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = terminal, &errs
		shown, told := make(chan string, 1), make(chan struct{})
		go func() {
			var text []byte
			for piece := make([]byte, 4096); ; {
				n, err := master.Read(piece)
				before := secret.Match(text)
				if text = append(text, piece[:n]...); !before && secret.Match(text) {
					close(told)
				}
				if err != nil { // the terminal is closed
					shown <- string(text)
					return
				}
			}
		}()
		stop := started(t, cmd, url)
		select {
		case <-told: // the banner follows /readyz
		case <-time.After(patience):
		}
		stop()
		if err := terminal.Close(); err != nil {
			t.Fatal(err)
		}
		if text := <-shown; !secret.MatchString(text) || !strings.Contains(text, url+"/#signin=") {
			t.Errorf("the terminal shows no key, or no link to the console:\n%s\n%s", text, &errs)
		}
		if _, err := os.Stat(filepath.Join(data, layout.FirstKey)); err == nil {
			t.Error("the key was written to a file as well")
		}
	})
}

// started starts a box, waits until it is ready, and returns a function that stops it.
func started(t *testing.T, cmd *exec.Cmd, url string) (stop func()) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers(t, url+"/readyz")
	return func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the box ended with %v", err)
		}
	}
}

func TestABoxWithoutModelsNamesOneCommand(t *testing.T) {
	empty := t.TempDir()
	code, _, errs := parley(t, "", "serve", "--packs", empty, "--listen", "127.0.0.1:0")
	if code != exitFailed || strings.Count(errs, "run: parley packs pull") != 1 ||
		!strings.Contains(errs, "--packs "+empty) {
		t.Errorf("code %d, %s", code, errs)
	}
}

func TestAnUnknownLanguageModelIsMisuse(t *testing.T) {
	code, _, errs := parley(t, "", "serve", "--language-model", "nope", "--listen", "127.0.0.1:0")
	if code != exitMisuse || !strings.Contains(errs, "llm-qwen") || strings.Contains(errs, "voice-") {
		t.Errorf("code %d, %s", code, errs)
	}
}
