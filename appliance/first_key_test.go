package appliance

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

// write writes a file and the folders that lead to it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func newRecords(t *testing.T) (*store.Store, string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	return records, data
}

func TestOnATerminalTheFirstKeyIsShownAndNotWritten(t *testing.T) {
	records, data := newRecords(t)
	key, err := makeFirstKey(t.Context(), data, true, records)
	if err != nil || !key.made || key.file != "" || len(key.APIKey) < 40 {
		t.Fatalf("%+v, %v", key, err)
	}
	if leftFirstKey(data) != "" {
		t.Error("it was written all the same")
	}
	said := toldOf(t, data, key)
	for _, secret := range []string{key.APIKey, key.SecretKey, key.WebhookSigningKey} {
		if !strings.Contains(said, secret) {
			t.Errorf("%q does not show %s", said, secret)
		}
	}
	if again, err := makeFirstKey(t.Context(), data, true, records); err != nil || again.made {
		t.Errorf("a second one: %+v, %v", again, err)
	}
}

func TestElsewhereTheFirstKeyGoesToAFileOfItsOwner(t *testing.T) {
	records, data := newRecords(t)
	key, err := makeFirstKey(t.Context(), data, false, records)
	if err != nil || key.file != filepath.Join(data, layout.FirstKey) {
		t.Fatalf("%+v, %v", key, err)
	}
	info, err := os.Stat(key.file)
	if err != nil || info.Mode().Perm() != 0o600 || leftFirstKey(data) != key.file {
		t.Errorf("%v, %v", info, err)
	}
	said := toldOf(t, data, key)
	for _, secret := range []string{key.APIKey, key.SecretKey, key.WebhookSigningKey} {
		if strings.Contains(said, secret) {
			t.Errorf("%q shows a secret", said)
		}
	}
	if !strings.Contains(said, "cat "+key.file) || !strings.Contains(said, "rm "+key.file) {
		t.Errorf("%q does not say how to read and delete it", said)
	}
	out, err := exec.Command("sh", "-c", "set -a; . "+key.file+"; printenv PARLEY_API_KEY").Output()
	if err != nil || strings.TrimSpace(string(out)) != key.APIKey {
		t.Errorf("a shell reads %q, %v", out, err)
	}
}

func TestAFileThatIsThereIsNotOverwrittenAndNoKeyIsMade(t *testing.T) {
	records, data := newRecords(t)
	file := filepath.Join(data, layout.FirstKey)
	write(t, file, "of another box")
	if key, err := makeFirstKey(t.Context(), data, false, records); err == nil ||
		!strings.Contains(err.Error(), file) || key.made {
		t.Errorf("%+v, %v", key, err)
	}
	if text, _ := os.ReadFile(file); string(text) != "of another box" {
		t.Errorf("it holds %q", text)
	}
	if keys, err := records.ListKeys(t.Context(), ""); err != nil || len(keys) != 0 {
		t.Errorf("a key without its secrets: %v, %v", keys, err)
	}
	if err := writeFirstKey(file, store.Credentials{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written at the last moment: %v", err)
	}
}

// toldOf is what the box tells of its first key.
func toldOf(t *testing.T, data string, key firstKey) string {
	t.Helper()
	var out bytes.Buffer
	banner{config.Config{Data: data, Listen: "127.0.0.1:1", TLS: config.TLS{Mode: config.TLSOff}},
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, &certs.Identity{}, &out}.ready(key, "")
	return out.String()
}

func TestAFolderThatOthersCannotEnterIsNamed(t *testing.T) {
	top := t.TempDir()
	closed := filepath.Join(top, "closed")
	file := filepath.Join(closed, "data", "ca.crt")
	write(t, file, "x")
	open := closedFolder(file)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := closedFolder(file); got != closed && got != open || got == "" {
		t.Errorf("named is %q, want %s", got, closed)
	}
}
