package api

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every path that clients and operators use stands on a page of docs, as a whole, for
// people who search there.
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
			t.Errorf("%s %s (%s) is on no page of docs", rt.method, rt.path, rt.says.Summary)
		}
	}
}
