package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table of settings in the documentation is made of the one in the code.
// After a change: PARLEY_WRITE_DOCS=1 go test -run Document ./appliance/config
func TestTheDocumentedTableIsTheOneInTheCode(t *testing.T) {
	const begin, end = "<!-- made of appliance/config/table.go -->\n", "<!-- end -->\n"
	file := filepath.Join("..", "..", "docs", "configuration.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no part between %q and %q", file, begin, end)
	}
	want := before + begin + "\n" + Document() + "\n" + end + after
	if string(text) == want {
		return
	}
	if os.Getenv("PARLEY_WRITE_DOCS") == "" {
		t.Fatal("docs/configuration.md is not that of the code; write it with: PARLEY_WRITE_DOCS=1 go test -run " +
			"Document ./appliance/config")
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEverySettingIsDescribed(t *testing.T) {
	for _, s := range Settings() {
		if s.Group == "" || s.Takes == "" || s.Allowed() == "" || !strings.HasSuffix(s.Help, ".") || s.set == nil {
			t.Errorf("%s: something is missing in %+v", s.Key, s)
		}
		if strings.ContainsAny(s.Help, "`\\") || s.More != "" && !strings.HasSuffix(s.More, ".") {
			t.Errorf("%s: its help is for terminals, and sentences end with a full stop: %q %q", s.Key, s.Help, s.More)
		}
	}
}
