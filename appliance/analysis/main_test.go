package analysis

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/onnx"
	"parley/appliance/expression"
	"parley/appliance/media"
	"parley/internal/packtest"
)

// TestMain is also the processes that hold eSpeak NG and ffmpeg, which the voices and the videos of the tests need.
func TestMain(m *testing.M) {
	media.Main()
	espeak.Main()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	code := m.Run()
	for _, c := range slices.Backward(opened.closers) {
		if err := c(); err != nil {
			fmt.Fprintln(os.Stderr, "closing the engines:", err)
			code = 1
		}
	}
	return code
}

// opened holds the engines that several tests use: loading them takes longer than most tests. Tests do not run in
// parallel.
var opened struct {
	runtime    *onnx.Runtime
	phonemizer *espeak.Phonemizer
	box        *Analyser
	whisper    *onnx.Whisper
	closers    []func() error
}

func openRuntime(t testing.TB) *onnx.Runtime {
	t.Helper()
	if opened.runtime == nil {
		rt, err := onnx.Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
		if err != nil {
			t.Fatal(err)
		}
		opened.runtime = rt
		opened.closers = append(opened.closers, rt.Close)
	}
	return opened.runtime
}

// withEars returns an Analyser with a voice detector and Moonshine.
func withEars(t testing.TB) *Analyser {
	t.Helper()
	if opened.box != nil {
		return opened.box
	}
	rt := openRuntime(t)
	gate := engine.NewGate(2)
	detector, err := onnx.LoadSilero(rt, packtest.File(t, "turn", "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	opened.closers = append(opened.closers, detector.Close)
	moonshine, err := onnx.LoadMoonshine(rt, packtest.File(t, "moonshine"), gate)
	if err != nil {
		t.Fatal(err)
	}
	opened.closers = append(opened.closers, moonshine.Close)
	meter, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	opened.box = &Analyser{
		Meter:       meter,
		Gate:        gate,
		Detector:    detector,
		Transcriber: moonshine,
	}
	return opened.box
}

// withWhisper returns the same Analyser with Whisper as its transcriber.
func withWhisper(t testing.TB) *Analyser {
	t.Helper()
	a := *withEars(t)
	if opened.whisper == nil {
		w, err := onnx.LoadWhisper(openRuntime(t), packtest.File(t, "whisper"), a.Gate)
		if err != nil {
			t.Fatal(err)
		}
		opened.whisper = w
		opened.closers = append(opened.closers, w.Close)
	}
	a.Transcriber = opened.whisper
	return &a
}

// recorded returns a recording of a person, made at 8 kHz, at 16 kHz.
func recorded(t testing.TB, name string) []float32 {
	t.Helper()
	file, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(file, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// openVoice returns the voice of a pack.
func openVoice(t testing.TB, pack string) engine.Synthesizer {
	t.Helper()
	if opened.phonemizer == nil {
		opened.phonemizer = espeak.Start()
		opened.closers = append(opened.closers, opened.phonemizer.Close)
	}
	v, err := onnx.LoadPiper(openRuntime(t), filepath.Dir(packtest.File(t, pack, "voice.onnx")), engine.NewGate(2),
		opened.phonemizer, onnx.PiperOptions{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// say returns a text that a voice speaks, at 16 kHz, with the times of its words in seconds.
func say(t testing.TB, voice engine.Synthesizer, text string) (pcm []float32, words []Word) {
	t.Helper()
	s, err := engine.SpeakWhole(t.Context(), voice, text, engine.SpeakOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range s.Words {
		words = append(words, Word{
			From:  w.From,
			To:    w.To,
			Begin: float64(w.Begin) / float64(s.RateHz),
			End:   float64(w.End) / float64(s.RateHz),
		})
	}
	return audio.Resample(s.PCM, s.RateHz, engine.SpeechRateHz), words
}

// silence returns this many seconds of nothing.
func silence(seconds float64) []float32 { return make([]float32, int(seconds*engine.SpeechRateHz)) }

// inPieces returns a sound that comes in pieces of this many samples.
func inPieces(pcm []float32, n int) sound {
	return func(_ context.Context, emit func([]float32) error) error {
		for piece := range slices.Chunk(pcm, n) {
			if err := emit(piece); err != nil {
				return err
			}
		}
		return nil
	}
}
