package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/contract"
)

// batchBoxOf is a box with one job, which takes two looks.
type batchBoxOf struct {
	t       *testing.T
	results []contract.SourceResult
	failed  string // why the job fails

	asked contract.PostedBatchJob
	files map[string]string // what was uploaded
	looks atomic.Int32
	ends  bool
}

func (b *batchBoxOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			b.t.Error(err)
		}
	}
	if r.Header.Get("X-Service-Api-Key") != "right" {
		w.WriteHeader(http.StatusUnauthorized)
		reply(map[string]string{"message": "no such key"})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST " + batchPath:
		b.take(r)
		reply(contract.JobID{JobID: "j1"})
	case "GET " + batchPath + "/j1":
		job := contract.BatchJob{JobID: "j1", Request: contract.BatchRequest{PostedBatchJob: b.asked}}
		job.State.Status = contract.JobInProgress
		if b.looks.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable) // it restarts
		} else if b.ends {
			job.State.Status = contract.JobCompleted
			if b.failed != "" {
				job.State.Status, job.State.Message = contract.JobFailed, &b.failed
			}
		}
		reply(job)
	case "GET " + batchPath + "/j1/predictions":
		reply(b.results)
	case "GET " + batchPath + "/j1/artifacts":
		archive := zip.NewWriter(w)
		for _, name := range []string{"talk.wav/prosody.csv", "faces/face_0.jpg"} {
			f, err := archive.Create(name)
			if err == nil {
				_, err = io.WriteString(f, "of "+name)
			}
			if err != nil {
				b.t.Error(err)
			}
		}
		if err := archive.Close(); err != nil {
			b.t.Error(err)
		}
	default:
		http.NotFound(w, r)
	}
}

// take reads the request for a job.
func (b *batchBoxOf) take(r *http.Request) {
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		b.t.Error(err)
		return
	}
	var err error
	if b.asked, err = contract.ParsePostedBatchJob([]byte(r.FormValue("json"))); err != nil {
		b.t.Errorf("%s: %v", r.FormValue("json"), err)
	}
	b.files = map[string]string{}
	for _, f := range r.MultipartForm.File["file"] {
		in, err := f.Open()
		if err != nil {
			b.t.Error(err)
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			b.t.Error(err)
		}
		b.files[f.Filename] = string(text)
	}
}

// scores returns scores of all names, and of one name more than of the others.
func scores(name string, score float64) contract.Scores {
	all := contract.EmotionScores{}.List().Named()
	for i := range all {
		all[i].Score = 0.01
		if all[i].Name == name {
			all[i].Score = score
		}
	}
	return contract.ScoresOf(all...)
}

func heard(text string, begin, end float64, name string) contract.ProsodyPrediction {
	return contract.ProsodyPrediction{
		Text:     &text,
		Time:     contract.TimeInterval{Begin: begin, End: end},
		Emotions: scores(name, 0.4),
	}
}

// spoken is the result for a recording.
func spoken() contract.SourceResult {
	words := []contract.LanguagePrediction{
		{Text: "Good", Time: &contract.TimeInterval{Begin: 0.5, End: 0.7}, Emotions: scores("Joy", 0.2)},
		{Text: "news", Time: &contract.TimeInterval{Begin: 0.7, End: 1.25}, Emotions: scores("Joy", 0.6)},
	}
	said := heard("Good news", 0.5, 1.25, "Excitement")
	return contract.SourceResult{
		Source: contract.BatchSource{Type: contract.SourceFile, File: contract.BatchFile{Filename: "talk.wav"}},
		Results: &contract.InferenceResults{Predictions: []contract.InferencePrediction{{
			File: "talk.wav",
			Models: contract.ModelsPredictions{
				Prosody:  grouped("speaker_0", said),
				Language: grouped(contract.UnknownGroup, words...),
			},
		}}},
	}
}

func grouped[P any](id string, all ...P) *contract.ModelPredictions[P] {
	return &contract.ModelPredictions[P]{GroupedPredictions: []contract.Grouped[P]{{ID: id, Predictions: all}}}
}

func batch(ctx context.Context, b *batchBoxOf, in string, args ...string) (code int, out, errs string) {
	b.t.Helper()
	server := httptest.NewServer(b)
	b.t.Cleanup(server.Close)
	return parleyIn(ctx, in, []string{"PARLEY_DATA=" + filepath.Join(b.t.TempDir(), "data")},
		append([]string{"batch", "--url", server.URL, "--key", "right"}, args...)...)
}

// Files, texts and URLs reach the box with the options of the flags, also while it
// restarts, and the table has a row for each utterance and one for all words.
func TestABatchIsSentWaitedForAndShown(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "talk.wav")
	if err := os.WriteFile(file, []byte("sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &batchBoxOf{t: t, ends: true, results: []contract.SourceResult{spoken()}}
	out := filepath.Join(dir, "scores")
	code, table, errs := batch(t.Context(), b, "A text.", file, "-", "https://media.example/x.mp4", "--text",
		"One, two", "--model", "prosody,language", "--identify", "--language", "en", "--out", out)
	want := `FILE      MODEL     WHO        WHEN       WHAT       HIGHEST SCORES
talk.wav  prosody   speaker_0  0.5–1.2 s  Good news  Excitement 0.40, Admiration 0.01, Adoration 0.01
talk.wav  language             0.5–1.2 s  2 words    Joy 0.40, Admiration 0.01, Adoration 0.01
`
	if code != exitDone || table != want || errs != "" {
		t.Errorf("code %d, %s\n%swant\n%s", code, errs, table, want)
	}
	m := b.asked.Models
	if fmt.Sprint(b.files) != "map[talk.wav:sound]" || fmt.Sprint(b.asked.Text) != "[One, two A text.]" ||
		fmt.Sprint(b.asked.URLs) != "[https://media.example/x.mp4]" || fmt.Sprint(m.Names()) != "[prosody language]" ||
		!m.Prosody.IdentifySpeakers && !b.asked.Speakers() || b.asked.Transcription.Language != "en" {
		t.Errorf("asked for %+v with %v", b.asked, b.files)
	}
	for _, name := range []string{"talk.wav/prosody.csv", "faces/face_0.jpg"} {
		if text, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(text) != "of "+name {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestJSONOfABatchIsThatOfTheAPI(t *testing.T) {
	b := &batchBoxOf{t: t, ends: true, results: []contract.SourceResult{spoken()}}
	code, out, errs := batch(t.Context(), b, "", "--job", "j1", "--json")
	want, err := json.Marshal(b.results)
	if err != nil || code != exitDone || strings.TrimSpace(out) != string(want) {
		t.Errorf("code %d, %s%s, %v", code, errs, out, err)
	}
}

// A broken file is reported; only if no file could be analysed, the command fails.
func TestABrokenFileOfABatchIsReported(t *testing.T) {
	broken := contract.SourceResult{
		Source:  contract.BatchSource{Type: contract.SourceFile, File: contract.BatchFile{Filename: "a.zip"}},
		Results: &contract.InferenceResults{Errors: []contract.BatchError{{File: "in/b.jpg", Message: "is cut"}}},
	}
	gone := contract.SourceResult{
		Source: contract.BatchSource{Type: contract.SourceURL, URL: "https://media.example/x"}, Error: "404"}
	const said = "parley: in/b.jpg: is cut\nparley: https://media.example/x: 404\n"
	for want, results := range map[int][]contract.SourceResult{
		exitFailed: {broken, gone},
		exitDone:   {broken, gone, spoken()},
	} {
		b := &batchBoxOf{t: t, ends: true, results: results}
		code, out, errs := batch(t.Context(), b, "", "--job", "j1")
		if code != want || !strings.HasPrefix(errs, said) || strings.Contains(out, "talk.wav") != (want == exitDone) {
			t.Errorf("code %d, want %d\n%s%s", code, want, errs, out)
		}
	}
	b := &batchBoxOf{t: t, ends: true, failed: "the disk is full"}
	if code, _, errs := batch(t.Context(), b, "", "--job", "j1"); code != exitFailed ||
		!strings.Contains(errs, "job j1 failed: the disk is full") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// Ctrl-C says that the job goes on, and how to see its results.
func TestAnInterruptedBatchSaysThatTheJobGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &batchBoxOf{t: t}
	go func() {
		for b.looks.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	code, out, errs := batch(ctx, b, "", "--text", "Hello")
	if code != 130 || out != "" || !strings.Contains(errs, "goes on with the job") ||
		!strings.Contains(errs, "parley batch --job j1") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

func TestABatchThatCannotBeSentSaysWhy(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "data")
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{exitMisuse, nil, "nothing to analyse"},
		{exitMisuse, []string{"/not/there.jpg"}, "/not/there.jpg"},
		{exitMisuse, []string{os.TempDir()}, "is a folder"},
		{exitMisuse, []string{"-"}, "standard input is empty"},
		{exitMisuse, []string{"--text", " "}, "--text is empty"},
		{exitMisuse, []string{"--text", "x", "--job", "j1"}, "--job"},
		{exitMisuse, []string{"--text", "x", "--model", "voice"}, `"prosody"`},
		{exitMisuse, []string{"--text", "x", "--granularity", "page"}, `"utterance"`},
		{exitMisuse, []string{"--text", "x", "--data", empty}, "parley serve"},
		{exitFailed, []string{"--text", "x", "--data", beginData(t)}, "start it with parley serve"},
		{exitFailed, []string{"--text", "x", "--url", "http://127.0.0.1:1", "--key", "k"}, "nothing listens"},
	} {
		code, out, errs := parley(t, "", append([]string{"batch"}, c.args...)...)
		if code != c.code || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("parley batch %v: code %d, %q, %q; want %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
	b := &batchBoxOf{t: t}
	if code, _, errs := batch(t.Context(), b, "", "--text", "x", "--key", "wrong"); code != exitFailed ||
		!strings.Contains(errs, "refuses the key") {
		t.Errorf("code %d, %s", code, errs)
	}
}
