package speech

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// asking returns a job for a voice that says a letter in 50 ms.
func asking(t *testing.T, format contract.AudioFormat, generations int, texts ...string) *Job {
	t.Helper()
	s := New(Parts{Voices: only{Voice{Recipe: []byte(`{}`), Synthesizer: metronome{0.5, 10}}},
		Log: slog.New(slog.DiscardHandler)})
	no := false
	a := Request{Account: "a", RequestID: "r", PostedTTS: contract.PostedTTS{
		Format:                &contract.Format{Type: format},
		NumGenerations:        generations,
		InstantMode:           &no,
		StripHeaders:          true,
		IncludeTimestampTypes: []contract.TimestampType{contract.TimestampWord},
	}}
	for _, said := range texts {
		a.Utterances = append(a.Utterances,
			contract.PostedUtterance{Text: said, Voice: &contract.VoiceRef{Name: "a"}, Speed: 1})
	}
	j, err := s.Begin(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// A file in memory is bounded: digits alone can be hours of sound within the limits of a
// request.
func TestMemoryFileIsBounded(t *testing.T) {
	for _, format := range []contract.AudioFormat{contract.FormatPCM, contract.FormatWAV, contract.FormatMP3} {
		file, err := newWholeFile(format)
		if err != nil {
			t.Fatal(err)
		}
		file.most = 2 * briefFile
		second := make([]float32, briefFile)
		if err := errors.Join(file.write(second), file.write(second)); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if _, ok := errors.AsType[contract.ErrInvalid](file.write(second[:1])); !ok {
			t.Errorf("%s: the answer does not end", format)
		}
	}
}

func TestSentenceDoesNotWaitForMemory(t *testing.T) {
	j := asking(t, contract.FormatPCM, 1, "A sentence.")
	if !j.service.memory.TryAcquire(maxHeldChars) { // as a long text does until it is complete
		t.Fatal("the memory is reserved already")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := j.reserveMemory(ctx, j.generations); err != nil {
		t.Error(err)
	}
	long := asking(t, contract.FormatPCM, 1, strings.Repeat("a ", freeChars))
	long.service = j.service
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := long.reserveMemory(ctx, long.generations); err == nil {
		t.Error("so many long texts are held as there are")
	}
}

// The JSON written in parts is a ReturnTTS.
func TestWholeIsAReturnTTS(t *testing.T) {
	for _, format := range []contract.AudioFormat{contract.FormatPCM, contract.FormatWAV, contract.FormatMP3} {
		var body bytes.Buffer
		if err := asking(t, format, 2, `One "two" <b>. Three four.`, "Five six seven.").Whole(t.Context(),
			&body); err != nil {
			t.Fatal(err)
		}
		strict := json.NewDecoder(&body)
		strict.DisallowUnknownFields()
		var got contract.ReturnTTS
		if err := strict.Decode(&got); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if strict.More() || got.RequestID != "r" || len(got.Generations) != 2 ||
			got.Generations[0].GenerationID == got.Generations[1].GenerationID {
			t.Fatalf("%s: %+v", format, got)
		}
		for _, g := range got.Generations {
			if len(g.Snippets) != 2 || len(g.Snippets[0]) != 2 || len(g.Snippets[1]) != 1 ||
				g.FileSize != len(g.Audio) || g.Encoding.Format != format {
				t.Errorf("%s: %d lists, %d bytes of %d", format, len(g.Snippets), len(g.Audio), g.FileSize)
			}
			if s := g.Snippets[1][0]; s.Text != "Five six seven." || s.UtteranceIndex != 1 || len(s.Timestamps) != 3 ||
				s.GenerationID != g.GenerationID {
				t.Errorf("%s: %+v", format, s.Timestamps)
			}
			if seconds := secondsOf(t, format, g.Audio); math.Abs(seconds-g.Duration) > 0.03 || g.Duration < 2.9 {
				t.Errorf("%s: %g s, the header gives %g", format, seconds, g.Duration)
			}
		}
	}
}

// secondsOf returns the duration of a file.
func secondsOf(t *testing.T, format contract.AudioFormat, file []byte) float64 {
	t.Helper()
	if format == contract.FormatPCM {
		return float64(len(file)) / 2 / contract.OutputRateHz
	}
	pcm, err := audio.DecodeAll(file, contract.OutputRateHz)
	if err != nil {
		t.Fatal(err)
	}
	return float64(len(pcm)) / contract.OutputRateHz
}

// What was written is not held until the end.
func TestLongAnswerIsWrittenInParts(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("The museum opens at ten in the morning. ", 20))
	w := &watched{}
	if err := asking(t, contract.FormatWAV, 1, text).Whole(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	// 20 sentences of at least 2 s are 4 MB, as snippets and as a file, in base64.
	if w.all < 10<<20 || w.largest > w.all/10 {
		t.Errorf("%d bytes, %d of them in one write", w.all, w.largest)
	}
}

type watched struct{ all, largest int }

func (w *watched) Write(p []byte) (int, error) {
	w.all, w.largest = w.all+len(p), max(w.largest, len(p))
	return len(p), nil
}

// A MemoryFile has what is written at each position.
func TestMemoryFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, want, at := &MemoryFile{}, []byte{}, 0
		for range rapid.IntRange(1, 4).Draw(t, "writes") {
			p := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")},
				rapid.SampledFrom([]int{0, 1, 44, blockBytes - 1, blockBytes, blockBytes + 3}).Draw(t, "length"))
			if n, err := s.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			want = append(want[:at], append(p, want[min(at+len(p), len(want)):]...)...)
			at = rapid.IntRange(0, len(want)).Draw(t, "place")
			if got, err := s.Seek(int64(at), io.SeekStart); got != int64(at) || err != nil {
				t.Fatal(got, err)
			}
		}
		var got bytes.Buffer
		if n, err := s.WriteTo(&got); n != int64(len(want)) || err != nil || s.Len() != len(want) ||
			!bytes.Equal(got.Bytes(), want) {
			t.Fatalf("%d of %d bytes, %v", n, len(want), err)
		}
	})
}
