package appliance

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"parley/appliance/config"
	"parley/firmware/backup"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/store"
)

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// boxWithSecrets is a box that answers over HTTP, without its models, and whose settings
// and database have secrets.
type boxWithSecrets struct {
	*appliance
	t       *testing.T
	url     string
	client  *http.Client
	log     *lockedBuffer
	key     string
	secrets map[string]string // by name; none of them may be shown
}

func startBoxWithSecrets(t *testing.T) *boxWithSecrets {
	t.Helper()
	dir := t.TempDir()
	b := &boxWithSecrets{t: t, log: &lockedBuffer{}, secrets: map[string]string{
		"password of a trunk": "Trunk-Geheim-4711",
		"token of a provider": "Provider-Geheim-4712",
		"key of a model":      "Model-Geheim-4713",
		"password in a URL":   "Search-Geheim-4714",
	}}
	settings := filepath.Join(dir, "parley.yaml")
	if err := os.WriteFile(settings, fmt.Appendf(nil, `
data: %s/data
listen: 127.0.0.1:0
log:
  level: debug
tls: own
phone:
  listen: udp://127.0.0.1:0
  twilio_auth_token: %s
  trunks:
    - name: desk
      address: 127.0.0.1:9
      user: box
      password: %s
web_search:
  url: http://box:%s@127.0.0.1:9/
`, dir, b.secrets["token of a provider"], b.secrets["password of a trunk"], b.secrets["password in a URL"]),
		0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPENAI_API_KEY", b.secrets["key of a model"])
	cfg, err := config.Load(config.Sources{File: settings, Environ: os.Environ(), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	console := Console{Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	b.appliance = &appliance{cfg: cfg, console: console, log: console.Log}
	b.start()
	return b
}

// start opens the parts that answer over HTTP.
func (b *boxWithSecrets) start() {
	t := b.t
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); b.close() })
	err := b.openStore(ctx)
	if err == nil {
		err = b.listen(ctx)
	}
	if err == nil {
		b.openMetrics()
		b.startWebhooks()
		err = b.openBatch(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.openAdmission(ctx)
	b.openPlugins(ctx)
	if err := b.openLines(); err != nil {
		t.Fatal(err)
	}
	b.openVoices(ctx)
	b.startHTTP(ctx)
	_, port, _ := net.SplitHostPort(b.listener.Addr().String())
	b.url = "https://localhost:" + port
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b.identity.Authority())
	b.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	t.Cleanup(b.client.CloseIdleConnections)
}

// ask sends a request and returns the status and the text of the answer.
func (b *boxWithSecrets) ask(method, path, body string, header ...string) (int, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", b.key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// use makes everything with a secret that a box has.
func (b *boxWithSecrets) use() {
	b.key = b.firstKey(b.t.Context()).APIKey
	made, err := b.records.CreateKey(b.t.Context(), store.NewKey{Account: "museum", Label: "Lobby"})
	if err != nil {
		b.t.Fatal(err)
	}
	b.secrets["API key"], b.secrets["secret key"] = made.APIKey, made.SecretKey
	b.secrets["first API key"], b.secrets["signing key"] = b.key, made.WebhookSigningKey
	const secret = "Plugin-Geheim-4715"
	b.secrets["setting of a plugin"] = secret
	wasm, err := os.ReadFile(quietPlugin(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	if status, text := b.ask("POST", "/v0/box/plugins?grant=all", string(wasm), "Content-Type",
		"application/octet-stream"); status != 201 {
		b.t.Fatalf("the plugin was not installed: %d %s", status, text)
	}
	if status, text := b.ask("PATCH", "/v0/box/plugins/quiet",
		`{"settings":[{"name":"key","value":"`+secret+`"}]}`); status != 200 {
		b.t.Fatalf("the plugin was not set: %d %s", status, text)
	}
	b.secrets["wrong link"] = "Wrong-Geheim-4716"
	status, _ := b.ask("POST", "/v0/box/sessions", `{"link":"Wrong-Geheim-4716"}`, "X-Service-Api-Key", "")
	if status != 401 {
		b.t.Errorf("a wrong link was answered with %d", status)
	}
	b.secrets["wrong key"] = "Wrong-Geheim-4717"
	for _, path := range []string{"/v0/box/keys", "/v0/evi/configs?api_key=Wrong-Geheim-4717"} {
		if status, _ := b.ask("GET", path, "", "X-Service-Api-Key", "Wrong-Geheim-4717"); status != 401 {
			b.t.Errorf("a wrong key was answered with %d", status)
		}
	}
}

// A file below the data folder belongs to the box alone, whatever the umask is; so does a
// backup. Nothing shows a secret: neither an answer, nor the log at its most talkative
// level, nor the audit log.
func TestSecretsStayInTheBox(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	b := startBoxWithSecrets(t)
	b.use()
	saved := filepath.Join(t.TempDir(), "backup.tar.zst")
	box := backup.Box{Data: b.cfg.Data, Version: "test", Database: func(ctx context.Context, file string,
		copied func(done, total int64)) (int64, error) {
		return store.Backup(ctx, b.cfg.Data, file, copied)
	}}
	if _, err := backup.Make(t.Context(), box, saved, func(progress.Event) {}); err != nil {
		t.Fatal(err)
	}
	mustBePrivate(t, b.cfg.Data, saved)

	shown := map[string]string{}
	for _, path := range []string{"/v0/box/settings", "/metrics", "/v0/box/acts", "/v0/box/acts?format=csv",
		"/v0/box/keys", "/v0/box/plugins", "/v0/box/plugins/quiet", "/v0/box/plugins/quiet/logs", "/v0/box/health",
		"/v0/box/phone", "/v0/box/webhooks", "/v0/box/operator", "/readyz", "/healthz", "/openapi.json"} {
		status, text := b.ask("GET", path, "")
		if status != 200 && path != "/readyz" {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
		shown[path] = text
	}
	_, shown["the diagnosis"] = b.ask("POST", "/v0/box/diagnosis", "")
	_, shown["an error"] = b.ask("GET", "/v0/box/keys?api_key="+b.key, "", "X-Service-Api-Key", "")
	for _, e := range b.cfg.Effective() {
		shown["parley config"] += e.Key + " " + e.Value + "\n"
	}
	shown["the log"] = b.log.String()
	for name, text := range shown {
		for _, what := range slices.Sorted(maps.Keys(b.secrets)) {
			if strings.Contains(text, b.secrets[what]) {
				t.Errorf("%s shows the %s", name, what)
			}
		}
	}
	if !strings.Contains(shown["/v0/box/settings"], "name: desk") ||
		!strings.Contains(shown["the log"], "level=DEBUG") {
		t.Error("the settings or the log have nothing to show")
	}
	mustNotHold(t, b)
}

// mustBePrivate reports the files and folders that others may read or write. The
// certificate of the box's authority is public, and is reached through the data folder,
// which others may enter but not list.
func mustBePrivate(t *testing.T, data string, files ...string) {
	t.Helper()
	check := func(path string, info fs.FileInfo) {
		allowed := fs.FileMode(0)
		switch path {
		case data:
			allowed = 0o011
		case filepath.Join(data, "ca.crt"):
			allowed = 0o044
		}
		if open := info.Mode().Perm() & 0o077 &^ allowed; open != 0 {
			t.Errorf("%s has the mode %v: others may use it", path, info.Mode())
		}
	}
	seen := 0
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			check(path, info)
			seen++
		}
		return err
	})
	if err != nil || seen < 10 {
		t.Fatalf("%d files, %v", seen, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		check(file, info)
	}
}

// mustNotHold reports the files that hold a key or a plugin's secret in plain text. Of
// these the box needs only a hash, or has encrypted it.
func mustNotHold(t *testing.T, b *boxWithSecrets) {
	t.Helper()
	hidden := []string{"API key", "secret key", "first API key", "setting of a plugin"}
	err := filepath.WalkDir(b.cfg.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == layout.FirstKey {
			return err
		}
		text, err := os.ReadFile(path)
		for _, what := range hidden {
			if bytes.Contains(text, []byte(b.secrets[what])) {
				t.Errorf("%s holds the %s", path, what)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
