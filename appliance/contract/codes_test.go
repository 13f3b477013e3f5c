package contract

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every code is used somewhere, except those that docs/errors.md marks as
// reserved.
func TestEveryCodeIsUsed(t *testing.T) {
	never := map[string]bool{"CreditsExhausted": true, "SubscriptionBlock": true, "ResumedWithNewConfig": true}
	table, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			d.Name() == "codes.go" {
			return err
		}
		text, err := os.ReadFile(path)
		sources.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^\t(\w+)\s+Code = "`).FindAllStringSubmatch(string(table), -1)
	if len(names) != len(meanings) {
		t.Fatalf("%d codes are found, and %d have a meaning", len(names), len(meanings))
	}
	sent := map[string]bool{}
	for _, used := range []string{`\bcontract\.(\w+)`, `\bCode(?:: | = |\()(\w+)`, `\bcode (?:= |:= )(\w+)`} {
		for _, m := range regexp.MustCompile(used).FindAllStringSubmatch(sources.String(), -1) {
			sent[m[1]] = true
		}
	}
	for _, n := range names {
		if sent[n[1]] == never[n[1]] {
			t.Errorf("%s is sent: %v", n[1], sent[n[1]])
		}
	}
}
