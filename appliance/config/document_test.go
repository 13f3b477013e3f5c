package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// moreCell matches the text that only the documentation has, after the help of a setting.
var moreCell = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|.*?(<br>.*?) \\| ")

// The table of settings in the documentation is generated from the code, except the text
// after <br>. To renew it: PARLEY_WRITE_DOCS=1 go test -run Document ./appliance/config
func TestDocumentHasTheTableOfSettings(t *testing.T) {
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
	more := map[string]string{}
	for _, row := range moreCell.FindAllStringSubmatch(string(text), -1) {
		more[row[1]] = row[2]
	}
	want := before + begin + "\n" + document(more) + "\n" + end + after
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
		if s.Group == "" || s.Placeholder == "" || s.Allowed() == "" || !strings.HasSuffix(s.Help, ".") ||
			s.set == nil || !s.FileOnly() && s.Flag == "" {
			t.Errorf("%s: something is missing in %+v", s.Key, s)
		}
		if strings.ContainsAny(s.Help, "`\\") {
			t.Errorf("%s: its help is for terminals: %q", s.Key, s.Help)
		}
	}
}

// document returns the table of all settings in Markdown; more has the additional texts.
func document(more map[string]string) string {
	var b strings.Builder
	group := ""
	for _, s := range Settings() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n### %s\n\n| in parley.yaml | variable | flag | what it is | allowed | default |\n"+
				"|---|---|---|---|---|---|\n", group)
		}
		byDefault := cell(s.DefaultText())
		if s.DefaultInWords == "" {
			byDefault = "`" + byDefault + "`"
		}
		given := fmt.Sprintf("`%s` | `--%s`", s.Env(), s.Flag)
		if s.FileOnly() {
			given = "only in the file | "
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Key, given, cell(s.Help)+more[s.Key], cell(s.allowed),
			byDefault)
	}
	for _, s := range Settings() {
		if s.FileOnly() {
			fmt.Fprintf(&b, "\n### The maps of %s\n\n| key | what it is |\n|---|---|\n", s.Key)
		}
		for _, k := range s.keys {
			fmt.Fprintf(&b, "| `%s` | %s |\n", k.name, cell(k.help))
		}
	}
	b.WriteString("\n### Settings that a hub may make\n\nThe hub of a fleet may make these. They count less than " +
		"those of the box's own file, variables and flags: `" + strings.Join(RemoteSettings(), "`, `") + "`.\n")
	b.WriteString(
		"\n### Old names\n\nThey are still read, in all four places. Where one place has an old name and the " +
			"setting itself, they must not differ.\n\n| was | variable, flag | is a part of |\n|---|---|---|\n")
	for _, s := range OldSettings() {
		names := "those of `" + s.PartOf + "`"
		if s.Flag != "" {
			names = "`" + s.Env() + "`, `--" + s.Flag + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", s.Key, names, s.PartOf)
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// cell escapes the characters that would end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
