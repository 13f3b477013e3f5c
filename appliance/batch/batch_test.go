package batch

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/store"
)

// waitLimit is how long the tests wait for something on a busy machine.
const waitLimit = time.Minute

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		fmt.Fprintln(os.Stderr, runUntilKilled(dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// analyse is an Analyser that is a function.
type analyse func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error)

func (a analyse) Analyse(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
	return a(ctx, s, r)
}

// words predicts a feeling for each word of a text or file.
func words(_ context.Context, s analysis.Source, _ analysis.Request) (analysis.Report, error) {
	text := s.Text
	if s.Path != "" {
		data, err := os.ReadFile(s.Path)
		if err != nil {
			return analysis.Report{}, err
		}
		text = string(data)
	}
	if strings.HasPrefix(text, "broken") {
		return analysis.Report{}, &analysis.Error{Why: "it is broken"}
	}
	g := contract.Grouped[contract.LanguagePrediction]{ID: contract.UnknownGroup}
	for _, w := range strings.Fields(text) {
		g.Predictions = append(g.Predictions, contract.LanguagePrediction{
			Text: w,
			Emotions: contract.ScoresOf(
				contract.NamedScore{Name: "Joy", Score: 0.5}, contract.NamedScore{Name: "Sadness", Score: 0.25}),
		})
	}
	return analysis.Report{Models: contract.ModelsPredictions{
		Language: &contract.ModelPredictions[contract.LanguagePrediction]{
			GroupedPredictions: []contract.Grouped[contract.LanguagePrediction]{g},
		},
	}}, nil
}

// testBox is a store with an account, and a service that does not run yet.
type testBox struct {
	t       *testing.T
	dir     string
	records *store.Store
	account string
	*Service
	stop func() // stops running jobs; nil before start
}

func newBox(t *testing.T, settings ...func(*Settings)) *testBox {
	t.Helper()
	b := &testBox{t: t, dir: t.TempDir()}
	b.open(settings...)
	t.Cleanup(func() { b.close() })
	_, err := b.records.CreateKey(t.Context(), store.NewKey{Account: "home"})
	b.must(err)
	a, err := b.records.Account(t.Context(), "home")
	b.must(err)
	b.account = a.ID
	return b
}

func (b *testBox) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// open opens the store and the service, as a start of the box does.
func (b *testBox) open(change ...func(*Settings)) {
	b.t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(context.Background(), b.dir, log)
	b.must(err)
	b.records = s
	p := Parts{
		Data:     b.dir,
		Records:  s,
		Settings: Settings{MaxQueued: 10, MaxUpload: 1 << 20},
		Log:      log,
	}
	for _, c := range change {
		c(&p.Settings)
	}
	b.Service = Open(context.Background(), p)
}

// close stops the box.
func (b *testBox) close() {
	if b.stop != nil {
		b.stop()
	}
	if b.Service != nil {
		b.must(b.records.Close())
		b.Service = nil
	}
}

// start runs the jobs.
func (b *testBox) start(a analyse) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		b.Run(ctx, a, nil)
	}()
	b.stop = func() {
		b.stop = nil
		cancel()
		<-over
	}
}

// submit queues a job and returns its id. Each file is NAME=CONTENT.
func (b *testBox) submit(request string, files ...string) string {
	b.t.Helper()
	u := b.NewUpload(b.account)
	defer u.Discard()
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		b.must(u.Add(b.t.Context(), name, "text/plain", strings.NewReader(content)))
	}
	p, err := contract.ParsePostedBatchJob([]byte(request))
	b.must(err)
	id, err := u.Submit(b.t.Context(), p)
	b.must(err)
	return id
}

// wait waits until a job has ended, and returns it.
func (b *testBox) wait(jobID string) contract.BatchJob {
	b.t.Helper()
	for deadline := time.Now().Add(waitLimit); ; <-time.After(2 * time.Millisecond) {
		j, err := b.Job(b.t.Context(), b.account, jobID)
		b.must(err)
		if j.State.EndedTimestampMS != 0 {
			return j
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the job is %+v after %v", j.State, waitLimit)
		}
	}
}

// predictions returns the results of a job.
func (b *testBox) predictions(jobID string) (all []contract.SourceResult) {
	b.t.Helper()
	r, err := b.Predictions(b.t.Context(), b.account, jobID)
	b.must(err)
	defer r.Close()
	text, err := io.ReadAll(r)
	b.must(err)
	if int64(len(text)) != r.Size() {
		b.t.Errorf("%d bytes, announced %d", len(text), r.Size())
	}
	b.must(json.Unmarshal(text, &all))
	return all
}

func TestTextsBecomePredictions(t *testing.T) {
	b := newBox(t)
	id := b.submit(`{"models":{"language":{}},"text":["I am glad","so am I"],"notify":true}`)
	j, err := b.Job(t.Context(), b.account, id)
	b.must(err)
	if j.State.Status != contract.JobQueued || j.Type != "INFERENCE" || j.State.StartedTimestampMS != 0 ||
		j.Request.Models.Language == nil || j.Request.Models.Face != nil || len(j.Request.Text) != 2 ||
		!j.Request.Notify || j.Request.Files == nil || j.Request.Transcription == nil {
		t.Errorf("queued as %+v", j)
	}
	b.start(words)
	j = b.wait(id)
	s := j.State
	if s.Status != contract.JobCompleted || *s.NumPredictions != 6 || *s.NumErrors != 0 || s.Message != nil ||
		s.CreatedTimestampMS > s.StartedTimestampMS || s.StartedTimestampMS > s.EndedTimestampMS {
		t.Errorf("ended as %+v", s)
	}
	results := b.predictions(id)
	if len(results) != 2 {
		t.Fatalf("got %+v", results)
	}
	for n, r := range results {
		if r.Source.Type != contract.SourceText || r.Error != "" || len(r.Results.Errors) != 0 ||
			len(r.Results.Predictions) != 1 || r.Results.Predictions[0].File != []string{"text_0", "text_1"}[n] {
			t.Errorf("result %d is %+v", n, r)
		}
	}
	id = b.submit(`{"text":["glad"]}`)
	b.wait(id)
	if file := b.predictions(id)[0].Results.Predictions[0].File; file != "text" {
		t.Errorf("a single text is called %q", file)
	}
}

func TestBrokenFileDoesNotFailItsNeighbours(t *testing.T) {
	b := newBox(t)
	b.start(func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
		data, err := os.ReadFile(s.Path)
		if err == nil && bytes.HasPrefix(data, []byte("panics")) {
			panic("a model")
		}
		return words(ctx, s, r)
	})
	id := b.submit(`{}`, "a.txt=one two", "b.txt=broken", "c.txt=panics", "d.txt=three")
	j := b.wait(id)
	if s := j.State; s.Status != contract.JobCompleted || *s.NumPredictions != 3 || *s.NumErrors != 2 {
		t.Errorf("ended as %+v", s)
	}
	sum := md5.Sum([]byte("one two"))
	first := contract.BatchFile{Filename: "a.txt", ContentType: "text/plain", MD5Sum: hex.EncodeToString(sum[:])}
	if f := j.Request.Files; len(f) != 4 || f[0] != first {
		t.Errorf("the files are %+v", f)
	}
	var files, errors []string
	for _, r := range b.predictions(id) {
		for _, p := range r.Results.Predictions {
			files = append(files, p.File)
		}
		for _, e := range r.Results.Errors {
			errors = append(errors, e.File+": "+e.Message)
		}
	}
	if strings.Join(files, " ") != "a.txt d.txt" ||
		strings.Join(errors, "; ") != "b.txt: it is broken; c.txt: "+internalFault {
		t.Errorf("files %v, errors %v", files, errors)
	}
	if _, err := os.Stat(b.folder(id).sources()); !os.IsNotExist(err) {
		t.Errorf("the uploads are still there: %v", err)
	}
}

func TestJobWithOnlyBrokenFilesIsCompleted(t *testing.T) {
	b := newBox(t)
	b.start(words)
	s := b.wait(b.submit(`{"text":["broken","broken"]}`)).State
	if s.Status != contract.JobCompleted || *s.NumPredictions != 0 || *s.NumErrors != 2 {
		t.Errorf("ended as %+v", s)
	}
}

func TestJobFailsWhereTheBoxCanAnalyseNothing(t *testing.T) {
	b := newBox(t)
	b.start(func(_ context.Context, s analysis.Source, _ analysis.Request) (analysis.Report, error) {
		return analysis.Report{}, &analysis.ErrMissing{What: "the nets for faces", How: "parley packs install"}
	})
	id := b.submit(`{"text":["a","b"]}`)
	s := b.wait(id).State
	if s.Status != contract.JobFailed || !strings.Contains(*s.Message, "the nets for faces are not installed") ||
		s.NumErrors != nil {
		t.Errorf("ended as %+v", s)
	}
	var invalid contract.ErrInvalid
	if _, err := b.Predictions(t.Context(), b.account, id); !errors.As(err, &invalid) ||
		!strings.Contains(err.Error(), "FAILED") {
		t.Errorf("predictions: %v", err)
	}
}

// A long job gives way to a job of another account between two sources, and goes on after it.
func TestLongJobLetsOtherAccountsTakeTurns(t *testing.T) {
	b := newBox(t)
	_, err := b.records.CreateKey(t.Context(), store.NewKey{Account: "other"})
	b.must(err)
	other, err := b.records.Account(t.Context(), "other")
	b.must(err)
	short := ""
	long := b.submit(`{"text":["one","two","three"]}`)
	var order []string
	b.turn = 0
	b.start(func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
		if order = append(order, s.Text); s.Text == "one" {
			p := contract.PostedBatchJob{Models: &r.Models, Text: []string{"short"}}
			if short, err = b.NewUpload(other.ID).Submit(ctx, p); err != nil {
				return analysis.Report{}, err
			}
		}
		return words(ctx, s, r)
	})
	if s := b.wait(long).State; s.Status != contract.JobCompleted || *s.NumPredictions != 3 {
		t.Errorf("ended as %+v", s)
	}
	if got := strings.Join(order, " "); got != "one short two three" {
		t.Errorf("the order is %s", got)
	}
	if j, err := b.Job(t.Context(), other.ID, short); err != nil || j.State.Status != contract.JobCompleted {
		t.Errorf("the other's job is %+v, %v", j.State, err)
	}
}
