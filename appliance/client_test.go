package appliance

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/internal/packtest"
	"parley/store"
)

// The published clients work against the box, over TLS with the certificate
// that the box made itself. What they do and expect is in the scripts. The language
// model always says the same: how long a real one talks is not what they ask. It does
// not repeat a question, which would be an echo where somebody asks it again.

func TestPublishedJavaScriptClientWorks(t *testing.T) {
	t.Parallel() // with the other client: both wait for speech most of the time
	client := clientFolder(t, "js-client")
	runOverTLS(t, "NODE_EXTRA_CA_CERTS", "node", filepath.Join("testdata", "client.cjs"), client)
}

func TestPublishedPythonClientWorks(t *testing.T) {
	t.Parallel()
	client := clientFolder(t, "py-client")
	python := filepath.Join(client, "bin", "python")
	runOverTLS(t, "SSL_CERT_FILE", python, filepath.Join("testdata", "client.py"), client)
}

func TestPublishedJavaScriptClientFollowsAndSteersChats(t *testing.T) {
	client := clientFolder(t, "js-client")
	b := startFakeBox(t)
	runScript(t, "node", filepath.Join("testdata", "control.cjs"), "BOX_URL="+b.url, "API_KEY="+b.key,
		"SECRET_KEY="+b.secret, "CLIENT="+client, "QUESTION=")
}

func TestPublishedPythonClientFollowsAndSteersChats(t *testing.T) {
	client := clientFolder(t, "py-client")
	b := startFakeBox(t)
	runScript(t, filepath.Join(client, "bin", "python"), filepath.Join("testdata", "control.py"), "BOX_URL="+b.url,
		"API_KEY="+b.key)
}

// clientFolder returns the folder into which tools/NAME/install put a client.
func clientFolder(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache", "parley")
	}
	dir := filepath.Join(cache, name)
	if _, err := os.Stat(filepath.Join(dir, "installed")); err != nil {
		t.Fatalf("the client is not in %s: run tools/%s/install, as make test does", dir, name)
	}
	return dir
}

// runOverTLS runs a script with a client against a box with TLS. The variable trust names
// the file with the box's authority. The script prints a line for each check that passes,
// and at last "done".
func runOverTLS(t *testing.T, trust, command, script, client string) {
	t.Helper()
	model := config.LanguageModel{OpenAI: constantModel(t, "That is a good question."), Model: "parrot"}
	b := startBox(t, func(c *config.Config) { c.TLS.Mode, c.Engines.LanguageModel = config.TLSOwn, model })
	made := createKey(t, b)
	runScript(t, command, script, "BOX_URL="+b.url, "API_KEY="+made.APIKey, "SECRET_KEY="+made.SecretKey,
		"CLIENT="+client, "QUESTION="+packtest.Recording(t, question), trust+"="+b.cfg.AuthorityFile())
}

// runScript runs a script that prints a line for each check that passes, and at last
// "done".
func runScript(t *testing.T, command, script string, env ...string) {
	t.Helper()
	runScriptWatching(t, nil, command, script, env...)
}

// runScriptWatching runs a script, and calls saw with each line that it prints unless saw
// is nil.
func runScriptWatching(t *testing.T, saw func(line string), command, script string, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, script)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install what it needs, as make test does", err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		t.Log(last)
		if saw != nil {
			saw(last)
		}
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil || last != "done" {
		t.Errorf("%v: %s", err, complaint.String())
	}
}

// createKey creates a key, with its secret, for a new account.
func createKey(t *testing.T, b *runningBox) store.Credentials {
	t.Helper()
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	made, err := records.CreateKey(t.Context(), store.NewKey{Account: "client"})
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	return made
}
