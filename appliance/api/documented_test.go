package api

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every path that clients and operators use is on a page of docs, complete, so
// that a search finds it.
func TestEveryPathIsInTheDocs(t *testing.T) {
	var docs strings.Builder
	pages := os.DirFS("../../docs")
	err := fs.WalkDir(pages, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") {
			return err
		}
		text, err := fs.ReadFile(pages, name)
		docs.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := docs.String()
	for kind := range strings.FieldsSeq("configs prompts tools") { // rest.md says it of all three at once
		text += strings.ReplaceAll(docs.String(), "<kind>", kind)
	}
	place := regexp.MustCompile(`\\\{[^}]*\}`)
	for _, rt := range New(Parts{}).routes() {
		if strings.HasSuffix(rt.path, ".js") || strings.HasSuffix(rt.path, ".css") {
			continue // the pages fetch them
		}
		path := strings.TrimSuffix(rt.path, "{$}")
		written := place.ReplaceAllString(regexp.QuoteMeta(path), `\{[a-z_]+\}`)
		if !regexp.MustCompile("(?m)" + written + `($|[^A-Za-z0-9_/{-])`).MatchString(text) {
			t.Errorf("%s %s (%s) is on no page of docs", rt.method, rt.path, rt.about.Summary)
		}
	}
}

// Without the header, curl sends JSON as a form, and the answer is 415.
func TestCurlCommandsInTheDocsSendJSON(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	sends := regexp.MustCompile(`(?:-d|--data\S*|--json) '?[{\[]`)
	tried := 0
	check := func(name string, text []byte) {
		for _, block := range blocks.FindAllSubmatch(text, -1) {
			for command := range strings.SplitSeq("\n"+strings.ReplaceAll(string(block[1]), "\\\n", " "), "curl ") {
				if !sends.MatchString(command) {
					continue
				}
				if tried++; !strings.Contains(command, "Content-Type: application/json") &&
					!strings.Contains(command, "--json") {
					t.Errorf("%s: curl %s", name, command)
				}
			}
		}
	}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && !strings.HasPrefix(name, "docs"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".md"):
			return nil
		}
		text, err := os.ReadFile("../../" + name)
		check(name, text)
		return err
	})
	if err != nil || tried < 5 {
		t.Fatalf("%d commands, %v", tried, err)
	}
}
