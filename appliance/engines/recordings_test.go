package engines

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/engine/onnx"
	"parley/internal/packtest"
)

// english is a transcriber of chats.
type english struct{ enginetest.Transcriber }

func (english) Languages() []string { return []string{"en"} }

// Without the pack of Whisper, recordings have the transcriber of chats.
func TestRecordingsHaveTheTranscriberOfChats(t *testing.T) {
	c := config.Config{Packs: t.TempDir()}
	e := Set{cfg: c, log: slog.New(slog.DiscardHandler), Transcriber: english{enginetest.FixedTranscript("hello")}}
	r := e.recordings()
	heard, err := r.Transcribe(t.Context(), nil, engine.TranscribeOptions{})
	if err != nil || heard.Text != "hello" || !slices.Equal(engine.LanguagesOf(r), []string{"en"}) {
		t.Errorf("%q, %v, languages %q", heard.Text, err, engine.LanguagesOf(r))
	}
	write(t, filepath.Join(c.Packs, "whisper", "tokenizer.json"), "{") // a damaged pack is pulled
	if _, err := r.Transcribe(t.Context(), nil, engine.TranscribeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "parley packs") {
		t.Errorf("of a damaged pack: %v", err)
	}
}

// Whisper is loaded for a recording, released when it is idle, and loaded again.
func TestWhisperIsLoadedForRecordings(t *testing.T) {
	rt, err := onnx.Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	e := Set{
		cfg:     config.Config{Packs: filepath.Dir(filepath.Dir(packtest.File(t, "whisper", "tokenizer.json")))},
		log:     slog.New(slog.DiscardHandler),
		runtime: rt,
		Gate:    engine.NewGate(2),
		Transcriber: english{func(context.Context, []float32, engine.TranscribeOptions) (engine.Transcript, error) {
			return engine.Transcript{}, engine.ErrBroken
		}},
	}
	r := e.recordings().(*Recordings)
	if engine.LanguagesOf(r) != nil {
		t.Errorf("languages %q, want many", engine.LanguagesOf(r))
	}
	second := make([]float32, engine.SpeechRateHz)
	for range 2 {
		_, err := r.Transcribe(t.Context(), second, engine.TranscribeOptions{Language: "de"})
		if err != nil || r.whisper == nil {
			t.Fatalf("loaded: %v, %v", r.whisper != nil, err)
		}
		if err := r.release(); err != nil || r.whisper != nil {
			t.Fatalf("released: %v, %v", r.whisper == nil, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
