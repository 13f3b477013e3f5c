package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"parley/appliance/api/describe"
)

var update = flag.Bool("update", false, "write the descriptions anew")

// The descriptions in the repository match the routes, the readers and the
// comments.
func TestTheDescriptionsAreFresh(t *testing.T) {
	a, _ := box(io.Discard)
	for name, want := range makeDescriptions(t, a) {
		file := filepath.Join("described", name)
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the source says now: go generate ./appliance/api (%v)", file, err)
		}
	}
}

// makeDescriptions generates the descriptions of a, by file name.
func makeDescriptions(t *testing.T, a *API) map[string][]byte {
	t.Helper()
	box := a.description()
	comments, err := describe.ReadComments(os.DirFS(filepath.Join("..", "contract")), os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	openAPI, err := box.OpenAPI(comments)
	if err != nil {
		t.Fatal(err)
	}
	asyncAPI, err := box.AsyncAPI(comments)
	if err != nil {
		t.Fatal(err)
	}
	page, policy, err := describe.Page(openAPI, asyncAPI)
	if err != nil {
		t.Fatal(err)
	}
	indented := func(v any) []byte {
		text, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return append(text, '\n')
	}
	return map[string][]byte{
		"openapi.json": indented(openAPI), "asyncapi.json": indented(asyncAPI),
		"docs.html": page, "docs.policy": []byte(policy + "\n"),
	}
}

func TestOnlyGeneratedFilesAreEmbedded(t *testing.T) {
	entries, err := generated.ReadDir("described")
	if err != nil || len(entries) != 4 {
		t.Errorf("%v, %v", entries, err)
	}
}
