package onnx

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/packtest"
)

// openRuntime opens ONNX Runtime for the duration of the test.
func openRuntime(t testing.TB) *Runtime {
	t.Helper()
	return sharedOf(t, "runtime", func() (*Runtime, error) {
		return Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
	})
}

func closeOrFail(t testing.TB, c interface{ Close() error }) {
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// prompt is one human recording with its words.
type prompt struct {
	name string
	text string
	path string
	dur  time.Duration
}

// prompts returns the recorded prompts up to 9.5 s long, the longest first; the reference figures
// were measured on these.
func prompts(t testing.TB) []prompt {
	t.Helper()
	var all []prompt
	for name, text := range packtest.Words(t) {
		p := prompt{name: name, text: text, path: packtest.Recording(t, name)}
		info, err := os.Stat(p.path)
		if err != nil {
			t.Fatal(err)
		}
		p.dur = time.Duration(info.Size()-44) * time.Second / (8000 * 2)
		if p.dur <= 9500*time.Millisecond {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b prompt) int {
		return cmp.Or(cmp.Compare(b.dur, a.dur), strings.Compare(b.name, a.name))
	})
	return all
}

// pcm returns the recording at 16 kHz.
func (p prompt) pcm(t testing.TB) []float32 {
	t.Helper()
	file, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(file, engine.SpeechRateHz)
	if err != nil {
		t.Fatalf("%s: %v", p.path, err)
	}
	return pcm
}

// testPrompts returns the prompts for a test of word error: a selection of all lengths in the
// everyday test, the 150 of the reference figures if PARLEY_FULL_TESTS is set.
func testPrompts(t testing.TB, n int) []prompt {
	t.Helper()
	all := prompts(t)[:150]
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		return all
	}
	var some []prompt
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

// reference is the word error, in per cent, of the same models in Python: on the selection, and on
// 150 prompts.
type reference struct {
	prompts   int
	some, all float64
}

// wantWordError compares a transcriber with the reference: within half a point on 150 prompts,
// within three or four words on the selection.
func wantWordError(t *testing.T, ear engine.Transcriber, r reference) {
	t.Helper()
	chosen := testPrompts(t, r.prompts)
	limit := r.all + 0.5
	if len(chosen) == r.prompts {
		limit = r.some + 40/float64(r.prompts)
	}
	got := 100 * wordError(t, ear, chosen)
	t.Logf("word error %.2f %% on %d prompts", got, len(chosen))
	if got > limit {
		t.Errorf("word error %.2f %%, want at most %.2f %%", got, limit)
	}
}

// wordError transcribes the prompts and returns the share of words that were wrong, missing or
// superfluous.
func wordError(t testing.TB, ear engine.Transcriber, all []prompt) float64 {
	t.Helper()
	var wrong, words int
	for _, p := range all {
		got, err := ear.Transcribe(context.Background(), p.pcm(t), engine.TranscribeOptions{Language: "en"})
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		want := text.Words(p.text)
		n := text.WordErrors(want, text.Words(got.Text))
		if n > 0 {
			t.Logf("%s: %d wrong: %q transcribed as %q", p.name, n, p.text, got.Text)
		}
		wrong, words = wrong+n, words+len(want)
	}
	return float64(wrong) / float64(words)
}
