package onnx

import (
	"context"
	"math"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/packtest"
)

func openWhisper(t testing.TB) *Whisper {
	t.Helper()
	rt := openRuntime(t)
	return sharedOf(t, "Whisper", func() (*Whisper, error) {
		e, err := LoadWhisper(rt, packtest.File(t, "whisper"), engine.NewGate(2))
		if err != nil {
			return nil, err
		}
		return e, e.Warm(context.Background())
	})
}

func TestWhisperWordErrorIsTheReferences(t *testing.T) {
	wantWordError(t, openWhisper(t), reference{prompts: 20, some: 4.57, all: 3.87})
}

func TestWhisperHears(t *testing.T) {
	w := openWhisper(t)
	speech := prompts(t)[20].pcm(t)

	t.Run("the same in an open language as in English", func(t *testing.T) {
		for _, p := range prompts(t)[60:63] {
			pcm := p.pcm(t)
			found := hear(t, w, pcm)
			fixed, err := w.Transcribe(context.Background(), pcm, engine.TranscribeOptions{Language: "en-US"})
			if err != nil {
				t.Fatal(err)
			}
			if found.Language != "en" || fixed.Language != "en" {
				t.Errorf("%s: languages %q and %q", p.name, found.Language, fixed.Language)
			}
			if a, b := text.Words(found.Text), text.Words(fixed.Text); text.WordErrors(a, b) > 1 {
				t.Errorf("%s: %q in an open language, %q in English", p.name, found.Text, fixed.Text)
			}
		}
	})

	t.Run("the same in the long window", func(t *testing.T) {
		long := append(append(make([]float32, 0, whisperShortSound+1), speech...),
			make([]float32, whisperShortSound+1-len(speech))...)
		short, wide := hear(t, w, speech), hear(t, w, long)
		if a, b := text.Words(short.Text), text.Words(wide.Text); text.WordErrors(a, b) > len(a)/10 {
			t.Errorf("%q in 15 s, %q in 30 s", short.Text, wide.Text)
		}
	})

	t.Run("no words where there are none", func(t *testing.T) {
		for _, name := range []string{"silence", "hiss of a quiet room"} {
			if got := hear(t, w, notSpeech()[name]); got.Text != "" {
				t.Logf("%s: %q: left to the gate of voiced frames", name, got.Text)
			}
		}
		if got := hear(t, w, nil); got.Text != "" {
			t.Errorf("heard %q in nothing", got.Text)
		}
		bad := make([]float32, 5000)
		for i := range bad {
			bad[i] = float32(math.NaN())
		}
		if got := hear(t, w, bad); got.Text != "" {
			t.Errorf("heard %q in what is no number", got.Text)
		}
	})

	t.Run("nothing longer than 30 s", func(t *testing.T) {
		_, err := w.Transcribe(context.Background(), make([]float32, MaxSamples+1), engine.TranscribeOptions{})
		if err == nil || !strings.Contains(err.Error(), "30 s") {
			t.Errorf("%v, want an error that says how much is taken", err)
		}
	})

	t.Run("only languages that it knows", func(t *testing.T) {
		_, err := w.Transcribe(context.Background(), speech, engine.TranscribeOptions{Language: "tlh"})
		if err == nil || !strings.Contains(err.Error(), `"tlh"`) {
			t.Errorf("%v, want an error that names the language", err)
		}
	})
}

func TestLanguagesAreBCP47(t *testing.T) {
	tokens, err := readWhisperTokens(packtest.File(t, "whisper"))
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{
		"en": "en", "en-GB": "en", "DE": "de", "zh-Hant-TW": "zh", "cmn": "zh",
		"jv": "jv", "nb-NO": "no", "fil": "tl", "iw": "he", "haw": "haw",
	} {
		id, err := tokens.languageToken(tag)
		if err != nil || tokens.language(id) != want {
			t.Errorf("%q: %q and %v, want %q", tag, tokens.language(id), err, want)
		}
	}
	for _, open := range []string{"", "und", "mul"} {
		if id, err := tokens.languageToken(open); id != 0 || err != nil {
			t.Errorf("%q: token %d and %v, want it open", open, id, err)
		}
	}
	if len(tokens.languages) != 99 {
		t.Errorf("%d languages, want 99", len(tokens.languages))
	}
}

func TestByteTokensMakeUTF8(t *testing.T) {
	tokens, err := readWhisperTokens(packtest.File(t, "whisper"))
	if err != nil {
		t.Fatal(err)
	}
	// Every byte has a token, so any text can be encoded.
	for _, want := range []string{"Hello, world!", "naïve café", "日本語", "emoji 🙂"} {
		var ids []int64
		for i := range len(want) {
			for id, b := range tokens.bytes[:256] {
				if string(b) == want[i:i+1] {
					ids = append(ids, int64(id))
				}
			}
		}
		if got := tokens.text(ids); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := tokens.text(ids[:len(ids)-1]); strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q is cut in a character", got)
		}
	}
}
