package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// The chunks of all snippets become one file, and word times count from its beginning.
func TestSpeechIsWrittenAsItComes(t *testing.T) {
	for _, format := range audioFormats() {
		file := filepath.Join(t.TempDir(), "said")
		var out, errs bytes.Buffer
		c := &console{out: &out, err: &errs}
		outs, err := (&sayCmd{Out: file, Format: format}).openFile(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		both, err := (&sayCmd{Out: "-", Format: "pcm"}).openFile(c, outs)
		if err != nil {
			t.Fatal(err)
		}
		s := &sayer{out: both, progress: newSpeechProgress(c, "two words"), times: timesOf(c, "table")}
		second := audio.AppendLinear16(nil, make([]float32, contract.OutputRateHz))
		word := func(text string, begin, end int64) contract.TimestampMessage {
			return contract.TimestampMessage{Timestamp: contract.Timestamp{Text: text,
				Time: contract.MillisecondInterval{Begin: begin, End: end}}}
		}
		for _, m := range []contract.TTSMessage{
			contract.SnippetAudioChunk{Audio: second}, word("two", 250, 500),
			contract.SnippetAudioChunk{Audio: second, ChunkIndex: 1, IsLastChunk: true},
			contract.SnippetAudioChunk{Audio: second, IsLastChunk: true}, word("words", 2250, 2500),
		} {
			if err := s.take(m); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		if out.Len() != 3*len(second) {
			t.Errorf("%d bytes on standard output; want %d", out.Len(), 3*len(second))
		}
		if want := "  0.25 s    0.50 s  two\n  2.25 s    2.50 s  words\n"; errs.String() != want {
			t.Errorf("the times are\n%s; want\n%s", &errs, want)
		}
		if format == "pcm" {
			continue
		}
		pcm, err := (&console{}).recording(t.Context(), file, contract.OutputRateHz)
		if err != nil || len(pcm) != 3*contract.OutputRateHz {
			t.Errorf("%s: %d samples, %v; want %d", format, len(pcm), err, 3*contract.OutputRateHz)
		}
	}
}

func TestAFileThatCannotBeWrittenIsSaid(t *testing.T) {
	_, err := (&sayCmd{Out: filepath.Join(t.TempDir(), "nowhere", "a.wav")}).openFile(&console{}, nil)
	if err == nil || !strings.Contains(err.Error(), "choose another file") {
		t.Errorf("the error is %v", err)
	}
}
