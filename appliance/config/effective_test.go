package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Effective returns the values with their sources, and without passwords.
func TestEffectiveNamesTheSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	if err := os.WriteFile(file, []byte("web_search:\n  url: http://me:geheim@127.0.0.1:8888\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{
		Flags:   map[string]string{"listen": "127.0.0.1:9000"},
		Environ: []string{"PARLEY_LISTEN=127.0.0.1:9001"},
		Dir:     dir,
		Home:    dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Effective{}
	for _, e := range c.Effective() {
		all[e.Key] = e
	}
	if len(all) != len(Settings()) {
		t.Errorf("%d of %d settings", len(all), len(Settings()))
	}
	for key, want := range map[string]Effective{
		"listen":         {Value: "127.0.0.1:9000", From: "--listen"},
		"web_search.url": {Value: "http://me:xxxxx@127.0.0.1:8888", From: FileName + ":2"},
		"profile":        {Value: "default", From: "default"},
		"tls.email":      {},
	} {
		if got := all[key]; got.Value != want.Value || !strings.HasSuffix(got.From, want.From) ||
			(want.From == "") != (got.From == "") {
			t.Errorf("%s is %q, from %q", key, got.Value, got.From)
		}
	}
}
