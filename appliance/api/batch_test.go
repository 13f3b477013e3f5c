package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// fakeBatch is a Batch whose only job belongs to one account.
type fakeBatch struct {
	account string
	results string
	archive string // a file

	mu        sync.Mutex
	filter    store.BatchFilter
	uploads   int // open ones
	files     []string
	posted    contract.PostedBatchJob
	full      error // of Add
	discarded chan struct{}
}

func (f *fakeBatch) NewUpload(string) BatchUpload {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files = nil
	f.uploads++
	return &fakeUpload{f, false}
}

type fakeUpload struct {
	*fakeBatch
	submitted bool
}

func (u *fakeUpload) Add(_ context.Context, name, contentType string, content io.Reader) error {
	text, err := io.ReadAll(content)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.files = append(u.files, fmt.Sprintf("%s (%s): %.20s", name, contentType, text))
	return errors.Join(err, u.full)
}

func (u *fakeUpload) Submit(_ context.Context, p contract.PostedBatchJob) (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.posted, u.submitted = p, true
	return "made", nil
}

func (u *fakeUpload) Discard() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.uploads--; !u.submitted && u.discarded != nil {
		u.discarded <- struct{}{}
	}
}

func (f *fakeBatch) Jobs(_ context.Context, b store.BatchFilter) ([]contract.BatchJob, error) {
	f.filter = b
	return nil, nil
}

func (f *fakeBatch) find(account, id string) error {
	if account != f.account || id != "job" {
		return fmt.Errorf("looking up a job: %w", store.ErrNotFound)
	}
	return nil
}

func (f *fakeBatch) Job(_ context.Context, account, id string) (contract.BatchJob, error) {
	posted, _ := contract.ParsePostedBatchJob([]byte(`{"text":["Hello."]}`))
	return contract.BatchJob{
		Type:    contract.JobType,
		JobID:   id,
		Request: contract.BatchRequest{PostedBatchJob: posted, Files: []contract.BatchFile{}},
		State:   contract.StateInference{Status: contract.JobQueued, CreatedTimestampMS: 1},
	}, f.find(account, id)
}

func (f *fakeBatch) Predictions(_ context.Context, account, id string) (BatchResults, error) {
	return fakeResults{strings.NewReader(f.results)}, f.find(account, id)
}

type fakeResults struct{ *strings.Reader }

func (fakeResults) Close() error { return nil }

func (f *fakeBatch) Artifacts(_ context.Context, account, id string) (*os.File, error) {
	if err := f.find(account, id); err != nil {
		return nil, err
	}
	return os.Open(f.archive)
}

func (f *fakeBatch) Delete(_ context.Context, account, id string) error { return f.find(account, id) }

func startBatch(t *testing.T) (client, *fakeBatch) {
	t.Helper()
	c := startRest(t, "home")[0]
	f := &fakeBatch{account: c.account, results: "[]\n"}
	c.api.Batch = f
	return c, f
}

// The parts of a form may come in any order, and are named as the published clients name
// them: JavaScript sends json as a text first, Python as a file last.
func TestAJobIsStartedFromAForm(t *testing.T) {
	c, f := startBatch(t)
	const asked = `{"models":{"prosody":{}},"transcription":null}`
	const octets = "application/octet-stream"
	for name, try := range map[string]struct {
		parts []part
		files []string
		asks  int // models
	}{
		"json first": {
			[]part{{"json", "", asked}, {"file", "a.wav", "sound"}, {"file", "a.wav", "other"}},
			[]string{"a.wav (" + octets + "): sound", "a.wav (" + octets + "): other"}, 1,
		},
		"json last, as a file": {
			[]part{{"file", "a.wav", "sound"}, {"json", "upload", asked}},
			[]string{"a.wav (" + octets + "): sound"}, 1,
		},
		"no json": {[]part{{"file[]", "b.mp4", ""}}, []string{"b.mp4 (" + octets + "): "}, 6},
		"indexes": {
			[]part{{"file[0]", "0", "zero"}, {"file[1]", `C:\clips\1.txt`, "one"}, {"more", "", "ignored"}},
			[]string{"0 (" + octets + "): zero", "1.txt (" + octets + "): one"}, 6,
		},
		"a file without a name": {[]part{{"file", "", "unnamed"}, {"file", "", ""}}, []string{"file_0 (): unnamed"}, 6},
		"only json":             {[]part{{"json", "", `{"text":["Hello."]}`}}, nil, 6},
	} {
		kind, body := multiparts(t, try.parts...)
		status, _, text := c.send("POST", "/v0/batch/jobs", kind, body)
		if status != 200 || text != "{\"job_id\":\"made\"}\n" || !slices.Equal(f.files, try.files) ||
			len(f.posted.Models.Names()) != try.asks || (f.posted.Transcription == nil) != (try.asks == 1) ||
			f.uploads != 0 {
			t.Errorf("%s: %d %s, files %q, request %+v", name, status, text, f.files, f.posted)
		}
	}
}

func TestAJobIsStartedFromJSON(t *testing.T) {
	c, f := startBatch(t)
	status, _, text := c.send("POST", "/v0/batch/jobs", "application/json", `{"urls":["https://example.com/a.wav"]}`)
	if status != 200 || len(f.posted.URLs) != 1 {
		t.Errorf("%d %s", status, text)
	}
}

func TestErrorsNameWhyAJobIsNotStarted(t *testing.T) {
	c, f := startBatch(t)
	file := part{"file", "a.wav", "sound"}
	form := func(parts ...part) [2]string {
		kind, body := multiparts(t, parts...)
		return [2]string{kind, body}
	}
	cut := form(file)
	cut[1] = cut[1][:len(cut[1])-20]
	for _, try := range []struct {
		sent   [2]string
		status int
		says   string
	}{
		{[2]string{"application/json", `{"urls":["ftp://a"]}`}, 400, "urls"},
		{[2]string{"application/json", `{"models":{"face":{"prob_threshold":2}}}`}, 400, "prob_threshold"},
		{[2]string{"text/plain", `hello`}, 415, "multipart/form-data"},
		{[2]string{"application/json", `{"text":["` + strings.Repeat("x", 5<<20) + `"]}`}, 413, "4194304"},
		{[2]string{"multipart/form-data", `hello`}, 400, "body"},
		{cut, 400, "cut off"},
		{form(part{"json", "", `{"models":[]}`}, file), 422, "models"},
		{form(file, part{"json", "", `{`}), 422, "JSON"},
		{form(part{"json", "", `{}`}, part{"json", "", `{}`}, file), 400, "comes twice"},
		{form(part{"audio", "a.wav", "sound"}), 400, "audio: "},
		{form(part{"json", "", strings.Repeat(" ", 5<<20)}, file), 400, "json: it has more than"},
	} {
		status, _, text := c.send("POST", "/v0/batch/jobs", try.sent[0], try.sent[1])
		if status != try.status || !strings.Contains(text, try.says) || f.uploads != 0 {
			t.Errorf("%.80q: %d, %d uploads, %.300s", try.sent, status, f.uploads, text)
		}
	}
	f.full = &os.PathError{Op: "write", Path: "/secret", Err: syscall.ENOSPC}
	kind, body := multiparts(t, file)
	if status, _, text := c.send("POST", "/v0/batch/jobs", kind, body); status != 503 ||
		!strings.Contains(text, "disk of the box is full") || strings.Contains(text, "secret") {
		t.Errorf("%d %s", status, text)
	}
	c.api.Batch = nil
	if status, _, text := c.send("GET", "/v0/batch/jobs", "", ""); status != 503 {
		t.Errorf("%d %s", status, text)
	}
}

// Many published clients send their whole body before they read an answer.
func TestAClientThatSendsItsWholeBodyReadsWhyItIsRefused(t *testing.T) {
	c, _ := startBatch(t)
	kind, body := multiparts(t, part{"json", "", "{"}, part{"file", "a.wav", strings.Repeat("x", 20<<20)})
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.http.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is written at the end
	_, err = fmt.Fprintf(conn, "POST /v0/batch/jobs HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: %s\r\n"+
		"Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s", c.key, kind, len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 422 {
		t.Error(answer, err)
	}
}

// A client may post many jobs at once.
func TestAFormWaitsForOthersOfItsAccount(t *testing.T) {
	c, _ := startBatch(t)
	for range batchUploadsPerAccount {
		leave, err := c.api.batchUploads.TryAcquire(c.account)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond, leave)
	}
	kind, body := multiparts(t, part{"file", "a.wav", "sound"})
	if status, _, text := c.send("POST", "/v0/batch/jobs", kind, body); status != 200 {
		t.Error(status, text)
	}
}

func TestAClientThatLeavesDuringItsUploadLeavesNothing(t *testing.T) {
	c, f := startBatch(t)
	f.discarded = make(chan struct{}, 1)
	kind, body := multiparts(t, part{"file", "a.wav", strings.Repeat("x", 1<<20)})
	coming, upload := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", c.http.URL+"/v0/batch/jobs", coming)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", c.key)
	r.Header.Set("Content-Type", kind)
	go func() {
		_, _ = io.Copy(upload, bytes.NewReader([]byte(body)[:len(body)/2]))
		upload.CloseWithError(errors.New("the client leaves"))
	}()
	if answer, err := http.DefaultClient.Do(r); err == nil {
		t.Error(answer.Status)
		_ = answer.Body.Close()
	}
	select {
	case <-f.discarded:
	case <-time.After(10 * time.Second):
		t.Error("the upload was not discarded")
	}
}

func TestListsOfJobsAreFiltered(t *testing.T) {
	c, f := startBatch(t)
	now := time.UnixMilli(5000)
	c.api.now = func() time.Time { return now }
	for query, want := range map[string]store.BatchFilter{
		"": {Limit: 50, Descending: true},
		"limit=7&status=QUEUED&status=FAILED&when=created_after&timestamp_ms=9&sort_by=started&direction=asc": {
			Limit:   7,
			States:  []store.BatchState{store.BatchQueued, store.BatchFailed},
			AfterMS: 9,
			Order:   store.ByStart,
		},
		"status=COMPLETED,IN_PROGRESS&timestamp_ms=9&sort_by=ended": {
			Limit:      50,
			States:     []store.BatchState{store.BatchCompleted, store.BatchInProgress},
			BeforeMS:   9,
			Order:      store.ByEnd,
			Descending: true,
		},
		"timestamp_ms=0":                     {Limit: 50, BeforeMS: 1, Descending: true}, // none
		"when=created_before&status=&limit=": {Limit: 50, BeforeMS: 5000, Descending: true},
	} {
		want.AccountID = c.account
		status, _, text := c.send("GET", "/v0/batch/jobs?"+query, "", "")
		if status != 200 || text != "[]\n" || fmt.Sprint(f.filter) != fmt.Sprint(want) {
			t.Errorf("%q: %d %s, %+v; want %+v", query, status, text, f.filter, want)
		}
	}
	for query, says := range map[string]string{
		"limit=0":          "limit: \"0\" is not allowed; expected a whole number from 1 to 500",
		"status=DONE":      "status: \"DONE\" is not allowed; allowed: QUEUED IN_PROGRESS COMPLETED FAILED",
		"when=later":       "when: \"later\" is not allowed; allowed: created_before created_after",
		"timestamp_ms=now": "timestamp_ms: \"now\" is not allowed",
		"sort_by=name":     "sort_by: \"name\" is not allowed; allowed: created started ended",
		"direction=up":     "direction: \"up\" is not allowed; allowed: asc desc",
	} {
		status, _, text := c.send("GET", "/v0/batch/jobs?"+query, "", "")
		if status != 400 || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), says) {
			t.Errorf("%q: %d %s", query, status, text)
		}
	}
}

func TestAJobIsSeenByItsAccountOnly(t *testing.T) {
	c, f := startBatch(t)
	f.archive = filepath.Join(t.TempDir(), "artifacts.zip")
	if err := os.WriteFile(f.archive, []byte("PK archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, route := range []string{"GET ", "GET /predictions", "GET /artifacts", "DELETE "} {
		method, rest, _ := strings.Cut(route, " ")
		if status, _, text := c.send(method, "/v0/batch/jobs/job"+rest, "", ""); status != 200 {
			t.Errorf("%s: %d %s", route, status, text)
		}
		if status, _, text := c.send(method, "/v0/batch/jobs/other"+rest, "", ""); status != 404 ||
			!strings.Contains(text, `no job \"other\"`) {
			t.Errorf("%s: %d %s", route, status, text)
		}
		f.account = "another"
		if status, _, text := c.send(method, "/v0/batch/jobs/job"+rest, "", ""); status != 404 {
			t.Errorf("%s of another account: %d %s", route, status, text)
		}
		f.account = c.account
	}
	const artifacts = "/v0/batch/jobs/job/artifacts"
	r, text := c.fetch("GET", c.http.URL+artifacts, "Range", "bytes=3-5", "X-Service-Api-Key", c.key)
	if r.StatusCode != 206 || string(text) != "arc" || r.Header.Get("Content-Type") != "application/zip" ||
		!strings.Contains(r.Header.Get("Content-Disposition"), "job.zip") {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, text)
	}
	r, _ = c.fetch("HEAD", c.http.URL+artifacts, "X-Service-Api-Key", c.key)
	if r.StatusCode != 200 || r.ContentLength != int64(len("PK archive")) {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}
