package batch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"parley/appliance/batch/source"
	"parley/appliance/contract"
	"parley/internal/addresses"
)

func TestURLsAreFetchedAndFailByThemselves(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone.txt" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, "one two")
	}))
	defer server.Close()
	b := newBox(t, func(s *Settings) { s.KeepSources = true })
	allowed, err := addresses.ParseAllowed([]string{"0.0.0.0/0", "::/0"})
	b.must(err)
	b.start(words)
	request := fmt.Sprintf(`{"urls":["%s/a.txt","%[1]s/gone.txt"]}`, server.URL)
	private := b.submit(request)
	if s := b.wait(private).State; s.Status != contract.JobCompleted || *s.NumErrors != 2 {
		t.Errorf("from a private address: %+v", s)
	}
	b.stop()
	b.Fetcher = source.Fetcher{Allowed: allowed}
	b.start(words)
	id := b.submit(request)
	if s := b.wait(id).State; *s.NumPredictions != 2 || *s.NumErrors != 1 {
		t.Errorf("ended as %+v", s)
	}
	got := b.predictions(id)
	if got[0].Source.Type != contract.SourceURL || got[0].Source.URL != server.URL+"/a.txt" || got[0].Error != "" ||
		got[0].Results.Predictions[0].File != "a.txt" {
		t.Errorf("the first is %+v", got[0])
	}
	if e := got[1]; !strings.Contains(e.Error, "404") || len(e.Results.Predictions) != 0 ||
		e.Results.Errors[0] != (contract.BatchError{Message: e.Error, File: "gone.txt"}) {
		t.Errorf("the second is %+v", e)
	}
	if text, err := os.ReadFile(b.folder(id).source(0)); string(text) != "one two" {
		t.Errorf("the download that is kept is %q, %v", text, err)
	}
}
