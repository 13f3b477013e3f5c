package appliance

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/internal/packtest"
)

// spokenPrompt is a recording with three phrases, whose last word is heard as one word or
// as two.
const spokenPrompt = "vm-intro"

// The published clients convert a person's speech to another voice: each phrase starts when
// the person started it, and the words are the same.
func convertedSpeechHasTheSameTiming(t *testing.T, b *runningBox) {
	out, recording := t.TempDir(), packtest.Recording(t, spokenPrompt)
	env := []string{"BOX_URL=" + b.url, "API_KEY=" + b.key, "RECORDING=" + recording, "OUT=" + out}
	runScript(t, "node", filepath.Join("testdata", "convert.cjs"),
		append(env, "CLIENT="+clientFolder(t, "js-client"))...)
	python := filepath.Join(clientFolder(t, "py-client"), "bin", "python")
	runScript(t, python, filepath.Join("testdata", "convert.py"), env...)

	source := decoded(t, recording)
	want := phrases(source, 150*time.Millisecond)
	if len(want) < 3 {
		t.Fatalf("the recording has phrases at %v", want)
	}
	for _, file := range []string{"said.wav", "said.mp3"} {
		converted := decoded(t, filepath.Join(out, file))
		if off := len(converted) - len(source); off > engine.SpeechRateHz/10 || off < -engine.SpeechRateHz/10 {
			t.Errorf("%s has %d samples; the recording has %d", file, len(converted), len(source))
		}
		got := phrases(converted, 60*time.Millisecond) // the voice shortens pauses
		for _, at := range want {
			if !slices.ContainsFunc(got, func(g time.Duration) bool { return (g - at).Abs() <= 100*time.Millisecond }) {
				t.Errorf("%s: no phrase begins at %v, where one does in the recording; those that do: %v", file, at,
					got)
			}
		}
	}
	wantSameWords(t, b.cfg, source, decoded(t, filepath.Join(out, "said.wav")))
}

func decoded(t *testing.T, file string) []float32 {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(data, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// phrases returns when sound starts after a pause, in which the level is 40 dB below that
// of the loudest tenth. This is coarser than the box's own rule.
func phrases(pcm []float32, pause time.Duration) []time.Duration {
	const hop = engine.SpeechRateHz / 100
	var levels []float64
	for h := range slices.Chunk(pcm, hop) {
		e := 0.0
		for _, v := range h {
			e += float64(v) * float64(v)
		}
		levels = append(levels, e)
	}
	loud := slices.Sorted(slices.Values(levels))[len(levels)*9/10]
	var all []time.Duration
	enough := int(pause / (10 * time.Millisecond))
	quiet := enough
	for i, e := range levels {
		if e < loud/10_000 {
			quiet++
			continue
		}
		if quiet >= enough {
			all = append(all, time.Duration(i)*10*time.Millisecond)
		}
		quiet = 0
	}
	return all
}

// wantSameWords checks that the transcriber finds nine of ten words of a in b.
func wantSameWords(t *testing.T, cfg config.Config, a, b []float32) {
	t.Helper()
	opened, err := engines.Open(t.Context(), cfg, engines.Hearing, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}()
	first, second := heardWords(t.Context(), t, opened, a), heardWords(t.Context(), t, opened, b)
	kept := 0
	for _, w := range first {
		if slices.Contains(second, w) {
			kept++
		}
	}
	if len(first) < 10 || kept*10 < len(first)*9 || len(second) > len(first)+3 {
		t.Errorf("%q became %q", first, second)
	}
}

func heardWords(ctx context.Context, t *testing.T, e *engines.Set, pcm []float32) []string {
	t.Helper()
	said, _, err := engine.TranscribeRecording(ctx, e.Detector, e.Transcriber, pcm, engine.DefaultSegmentOptions(),
		engine.TranscribeOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, u := range said {
		text = append(text, u.Text)
	}
	return regexp.MustCompile(`[a-z']+`).FindAllString(strings.ToLower(strings.Join(text, " ")), -1)
}
