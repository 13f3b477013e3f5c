package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"parley/appliance/contract"
)

// A box analyses texts and files of a batch, reports a broken one, and forgets the key of
// the command.
func TestABoxAnalysesABatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, mood, broken := filepath.Join(dir, "data"), filepath.Join(dir, "mood.txt"), filepath.Join(dir, "cut.jpg")
	for file, text := range map[string]string{mood: "I am so happy!", broken: "\xff\xd8\xff\xe0\x00\x10JFIF"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd, url := serveTest(t, data)
	defer started(t, cmd, url)()
	out := filepath.Join(dir, "out")
	code, text, errs := parley(t, "This is very sad.", "batch", mood, broken, "-", "--data", data, "--json", "--out",
		out, "--granularity", "utterance")
	var all []contract.SourceResult
	if err := json.Unmarshal([]byte(text), &all); err != nil || code != exitDone || len(all) != 3 ||
		!strings.HasPrefix(errs, "parley: cut.jpg: ") || strings.Count(errs, "\n") != 1 {
		t.Fatalf("code %d, %v\n%s%s", code, err, errs, text)
	}
	for i, want := range map[int]string{0: "Joy", 2: "Sadness"} {
		units := all[i].Results.Predictions[0].Models.Language.GroupedPredictions[0].Predictions
		if len(units) != 1 || !strings.Contains(highest(units[0].Emotions), want) {
			t.Errorf("source %d: %+v; want %s", i, units, want)
		}
	}
	if found, err := filepath.Glob(filepath.Join(out, "*", "csv", "*", "language.csv")); err != nil || len(found) < 2 {
		t.Errorf("the artifacts are %v, %v", found, err)
	}
	if _, keys, _ := parley(t, "", "keys", "list", "--data", data); strings.Contains(keys, "parley batch") {
		t.Errorf("the key of the command is left:\n%s", keys)
	}
}

// On a terminal, a bar that is not full ends at once, as after an interruption.
func TestAnUnfinishedBarEnds(t *testing.T) {
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer terminal.Close()
	go func() { _, _ = io.Copy(io.Discard, master) }()
	c := &console{err: terminal}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		job := newJobProgress(c)
		all, one := int64(3), int64(1)
		job.advance(contract.BatchJob{State: contract.StateInference{
			Status: contract.JobInProgress, NumSources: &all, NumSourcesDone: &one}})
		job.done()
		speech := newSpeechProgress(c, strings.Repeat("a", 2*longText))
		speech.advance(contract.SnippetAudioChunk{Text: "a", IsLastChunk: true})
		speech.done()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the command waits for a bar")
	}
}
