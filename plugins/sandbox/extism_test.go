package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// extismResult is what Extism's own host recorded for one function.
type extismResult struct {
	Content, Error string
	Code           int
	Log            []string
}

// echo answers a request with the request itself.
type echo struct{}

func (echo) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	return &http.Response{
		StatusCode: 203,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(fmt.Sprintf("%d bytes for %s", len(b), r.URL.Path))),
		Request:    r,
	}, err
}

// A module built with Extism's plugin development kit gets the same answers as from
// Extism's own host. testdata/extism says how both were made.
func TestExtismPluginsGetTheAnswersOfExtismsHost(t *testing.T) {
	wasm, err := os.ReadFile("testdata/extism/assemblyscript.wasm")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/extism/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]extismResult
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 10 {
		t.Fatalf("%d answers, %v", len(all), err)
	}
	m := load(t, host(t, Options{}), hostileManifest+"permissions: {http: [{host: example.test, methods: [POST]}]}\n",
		wasm)
	for word, want := range all {
		var log []string
		r, err := m.Call(t.Context(), Call{
			Tool:       "run",
			Parameters: json.RawMessage(`{"do":"` + word + `"}`),
			Account:    "a",
			Settings:   map[string]string{"city": "Ulm"},
			Granted:    m.Manifest().Permissions,
			Transport:  echo{},
			Log:        func(l Line) { log = append(log, l.Level+" "+l.Text) },
		})
		if r.Content != want.Content || !slices.Equal(log, want.Log) ||
			(err != nil) != (want.Error != "" || want.Code != 0) {
			t.Errorf("%s: %q, %v, %q; want %+v", word, r.Content, err, log, want)
		}
		if want.Error != "" && err != nil && err.Error() != want.Error {
			t.Errorf("%s: %v; want %s", word, err, want.Error)
		}
	}
}
