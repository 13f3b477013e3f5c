package appliance

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/store"
)

// jsClient is the folder into which tools/js-client/install put the published
// JavaScript client.
func jsClient(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache", "parley")
	}
	dir := filepath.Join(cache, "js-client")
	if _, err := os.Stat(filepath.Join(dir, "installed")); err != nil {
		t.Fatalf("the JavaScript client is not in %s: run tools/js-client/install, as make test does", dir)
	}
	return dir
}

// The published client works against the box, over TLS with the certificate
// that the box made itself. What it does and expects is in the script.
func TestThePublishedJavaScriptClientWorksAgainstTheBox(t *testing.T) {
	client := jsClient(t)
	b := startBox(t, func(c *Config) { c.TLS.Mode = TLSOwn })
	records, err := store.Open(t.Context(), b.cfg.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	made, err := records.CreateKey(t.Context(), "javascript", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "client.cjs"))
	cmd.Env = append(os.Environ(), "BOX_URL="+b.url, "API_KEY="+made.APIKey, "SECRET_KEY="+made.SecretKey,
		"CLIENT="+client, "NODE_EXTRA_CA_CERTS="+b.cfg.AuthorityFile())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install Node.js, as make test does", err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		t.Log(last)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil || last != "done" {
		t.Errorf("%v: %s", err, complaint.String())
	}
}
