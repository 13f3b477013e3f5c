package onnx

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/text"
	"parley/internal/packtest"
)

// voices are the packs of the Piper voices.
func voices() []string { return []string{"voice-joe", "voice-jenny", "voice-alan"} }

func openPhonemizer(t testing.TB) *espeak.Phonemizer {
	t.Helper()
	return sharedOf(t, "phonemizer", func() (*espeak.Phonemizer, error) { return espeak.Open() })
}

// openVoice returns the voice of a pack.
func openVoice(t testing.TB, rt *Runtime, pack string) *Piper {
	t.Helper()
	ph := openPhonemizer(t)
	return sharedOf(t, pack, func() (*Piper, error) {
		return LoadPiper(rt, filepath.Dir(packtest.File(t, pack, "voice.onnx")), engine.NewGate(2), ph,
			PiperOptions{CacheDir: shared.cacheDir})
	})
}

// say speaks, or fails the test.
func say(t testing.TB, p *Piper, s string, o engine.SpeakOptions) engine.Speech {
	t.Helper()
	speech, err := engine.SpeakWhole(context.Background(), p, s, o)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return speech
}

// saidSentences are measured for each voice; none of them sets its gain.
func saidSentences() []string {
	return []string{
		"The museum opens at ten in the morning and closes at six.",
		"Breakfast is served on the first floor until half past nine.",
		"I am sorry, I do not know that, but I can ask somebody for you.",
		"Your room will be ready in about twenty minutes.",
		"Would you like to book a table for two people this evening?",
		"The train to the airport leaves every fifteen minutes.",
		"Please take the elevator to the third floor and turn left.",
		"The weather tomorrow will be cold and windy with a little rain.",
	}
}

func TestVoicesKeepTheirPromises(t *testing.T) {
	rt := openRuntime(t)
	ear, err := LoadMoonshine(rt, filepath.Dir(packtest.File(t, "moonshine", "encoder_model.ort")), engine.NewGate(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, ear) })
	levels := map[string]float64{}
	for n, pack := range voices() {
		t.Run(pack, func(t *testing.T) {
			p := openVoice(t, rt, pack)
			t.Run("phonemes lie in order in the sound", func(t *testing.T) { phonemesInOrder(t, p) })
			t.Run("words lie in order in the sound", func(t *testing.T) { wordsInOrder(t, p) })
			t.Run("edges do not click and nothing clips", func(t *testing.T) { cleanEdges(t, p) })
			// the first voice is enough for sentences in all languages
			if n == 0 || os.Getenv("PARLEY_FULL_TESTS") != "" {
				t.Run("the same text gives the same samples", func(t *testing.T) { sameTwice(t, p) })
				t.Run("durations add up to the sound", func(t *testing.T) { durationsAddUp(t, p) })
				t.Run("speed changes the length", func(t *testing.T) { speedScales(t, p) })
				t.Run("text without words is silent", func(t *testing.T) { wordlessIsSilent(t, p) })
				t.Run("all of a text is said, with pauses", func(t *testing.T) { allIsSaid(t, p) })
			}
			t.Run("an ear understands it", func(t *testing.T) { levels[pack] = understood(t, p, ear) })
		})
	}
	t.Logf("levels in LUFS: %v", levels)
	for a, x := range levels {
		for b, y := range levels {
			if math.Abs(x-y) > 1 {
				t.Errorf("%s speaks at %.1f LUFS, %s at %.1f LUFS: more than 1 LU apart", a, x, b, y)
			}
		}
	}
}

func sameTwice(t *testing.T, p *Piper) {
	const s = "Sure, I can help you with that."
	want := say(t, p, s, engine.SpeakOptions{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			got, err := engine.SpeakWhole(context.Background(), p, s, engine.SpeakOptions{Speed: 1})
			if err != nil || !slices.Equal(got.PCM, want.PCM) {
				t.Errorf("another sound, or %v", err)
			}
		})
	}
	wg.Wait()
}

func durationsAddUp(t *testing.T, p *Piper) {
	b := phraseOf(t, p, "Good evening, this is a test.")
	for _, modelSpeed := range []float64{0.5, 1, 2} {
		pcm, frames := inPieces(t, p, b, modelSpeed)
		if len(frames) != len(b.ids) || framesOf(frames)*piperHop != len(pcm) {
			t.Errorf("model speed %g: %d ids last %d frames, the sound has %d samples", modelSpeed, len(b.ids),
				framesOf(frames),
				len(pcm))
		}
	}
}

func phonemesInOrder(t *testing.T, p *Piper) {
	speech := say(t, p, "Sure. I can help you.", engine.SpeakOptions{})
	if len(speech.Phonemes) < 10 {
		t.Fatalf("phonemes: %v", speech.Phonemes)
	}
	at := 0
	for _, ph := range speech.Phonemes {
		if ph.Begin < at || ph.End < ph.Begin || ph.End > len(speech.PCM) || ph.Symbol == "" {
			t.Errorf("%+v after %d, of %d samples", ph, at, len(speech.PCM))
		}
		at = ph.End
	}
	if first := speech.Phonemes[0].Symbol; first != "ʃ" {
		t.Errorf("first phoneme of \"Sure\" is %q", first)
	}
}

// wordsInOrder speaks a text of two sentences, the first of which continues a previous text.
func wordsInOrder(t *testing.T, p *Piper) {
	const s = "of the **pool**, it is £3.50. Thanks, Ann-Marie!"
	at, n := 0, 0
	var words []string
	err := p.Speak(context.Background(), s, engine.SpeakOptions{Previous: "This is the price"},
		func(piece engine.Sound) error {
			n += len(piece.PCM)
			for _, w := range piece.Words {
				if w.Begin < at || w.End <= w.Begin || w.End > n || s[w.From:w.To] != w.Text {
					t.Errorf("%+v after %d, of %d samples", w, at, n)
				}
				at = w.End
				words = append(words, w.Text)
			}
			return nil
		})
	if want := strings.Fields("of the pool it is £3.50 Thanks Ann-Marie"); err != nil || !slices.Equal(words, want) {
		t.Errorf("words %q, want %q; %v", words, want, err)
	}
}

func cleanEdges(t *testing.T, p *Piper) {
	for _, s := range []string{"How are you today?", "Oh, no.", "Yes!", "Sure, I can help you with that,"} {
		pcm := say(t, p, s, engine.SpeakOptions{}).PCM
		if first, last := pcm[0], pcm[len(pcm)-1]; first != 0 || last != 0 {
			t.Errorf("%q begins at %g and ends at %g", s, first, last)
		}
		for i := range 40 { // 2 ms: the middle of the fade
			if x := max(math.Abs(float64(pcm[i])), math.Abs(float64(pcm[len(pcm)-1-i]))); x > 0.1 {
				t.Errorf("%q: sample %d from an edge is %.2f", s, i, x)
			}
		}
		if peak := max(slices.Max(pcm), -slices.Min(pcm)); peak > limitCeiling {
			t.Errorf("%q: peak %.3f", s, peak)
		}
		lead := slices.IndexFunc(pcm, func(x float32) bool { return !quiet(x) })
		if most := p.RateHz() * (leadMS + fadeMS) / 1000; lead > most {
			t.Errorf("%q: %d silent samples ahead, at most %d", s, lead, most)
		}
	}
}

func speedScales(t *testing.T, p *Piper) {
	const s = "The museum opens at ten in the morning and closes at six."
	length := func(speed float64) float64 { return float64(len(say(t, p, s, engine.SpeakOptions{Speed: speed}).PCM)) }
	one := length(1)
	for _, speed := range []float64{0.25, 0.5, 0.8, 1.25, 1.5, 2} {
		// Frames are whole and silence is trimmed, so it is not exact.
		if got := one / length(speed); math.Abs(got/speed-1) > 0.06 {
			t.Errorf("speed %g is %.2f times as fast", speed, got)
		}
	}
	brisk := engine.SpeakOptions{ModelSpeed: 1.2}
	calm := len(say(t, p, s, brisk).PCM)
	brisk.Speed = 1.5
	if got := float64(calm) / float64(len(say(t, p, s, brisk).PCM)); math.Abs(got/1.5-1) > 0.06 {
		t.Errorf("with a higher model speed, speed 1.5 is %.2f times as fast", got)
	}
	for _, speed := range []float64{-1, 0.1, 3.1, math.NaN(), math.Inf(1)} {
		if _, err := engine.SpeakWhole(context.Background(), p, s, engine.SpeakOptions{Speed: speed}); err == nil ||
			!strings.Contains(err.Error(), "0.25 to 3") {
			t.Errorf("speed %g: %v", speed, err)
		}
	}
}

func wordlessIsSilent(t *testing.T, p *Piper) {
	for _, s := range []string{"", "   ", "...", "?!", "—", "\"\"", "😀", "()", "***", "\x00", "\xff\xfe"} {
		if speech := say(t, p, s, engine.SpeakOptions{}); len(speech.PCM) != 0 || speech.RateHz != p.RateHz() {
			t.Errorf("%q: %d samples at %d Hz", s, len(speech.PCM), speech.RateHz)
		}
	}
}

func allIsSaid(t *testing.T, p *Piper) {
	one := say(t, p, "One is said.", engine.SpeakOptions{})
	two := say(t, p, "And two.", engine.SpeakOptions{})
	both := say(t, p, "One is said. And two.", engine.SpeakOptions{})
	if want := len(one.PCM) + len(two.PCM) + p.RateHz()*betweenSentencesMS/1000; len(both.PCM) != want {
		t.Errorf("%d samples, want %d", len(both.PCM), want)
	}
	if len(both.Phonemes) != len(one.Phonemes)+len(two.Phonemes) {
		t.Errorf("%d phonemes of %d and %d", len(both.Phonemes), len(one.Phonemes), len(two.Phonemes))
	}
}

// understood transcribes what the voice says, and returns its level.
func understood(t *testing.T, p *Piper, ear engine.Transcriber) (level float64) {
	var all []float32
	wrong, words := 0, 0
	for _, s := range saidSentences() {
		speech := say(t, p, s, engine.SpeakOptions{})
		all = append(all, speech.PCM...)
		heard, err := ear.Transcribe(context.Background(), audio.Resample(speech.PCM, p.RateHz(), engine.SpeechRateHz),
			engine.TranscribeOptions{Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		want := text.Words(s)
		if n := text.WordErrors(want, text.Words(heard.Text)); n > 0 {
			t.Logf("%q was transcribed as %q", s, heard.Text)
			wrong += n
		}
		words += len(want)
	}
	t.Logf("%d of %d words wrong", wrong, words)
	if 10*wrong > words {
		t.Errorf("%d of %d words wrong, at most a tenth may be", wrong, words)
	}
	return audio.Loudness(all, p.RateHz())
}

func TestAVoiceStopsWhenItsCallIsCancelled(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := engine.SpeakWhole(ctx, p, "Nobody hears this.", engine.SpeakOptions{}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// Text that eSpeak NG spells letter by letter is spoken in parts, so that other work can run in
// between and memory stays bounded.
func TestNoCallOfAVoiceIsLong(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	for _, s := range []string{strings.Repeat("banana", 120), strings.Repeat("zxq", 160)} {
		calls, err := p.allPhrases(t.Context(), s, engine.SpeakOptions{})
		if err != nil {
			t.Fatal(err)
		}
		phonemes := 0
		for _, call := range calls {
			phonemes += len(call.ids) / 2
			if len(call.ids) > 2*maxPhraseRunes+8 {
				t.Errorf("%.12q…: one call has %d ids", s, len(call.ids))
			}
		}
		if phonemes < maxPhraseRunes {
			t.Errorf("%.12q… has %d phonemes only: it tests nothing", s, phonemes)
		}
	}
}

func TestPhonemesAreCutBetweenWords(t *testing.T) {
	for _, c := range []struct {
		ipa  string
		want []string
	}{
		{"", []string{""}},
		{"həlˈəʊ", []string{"həlˈəʊ"}},
		{"wˈɒn tˈuː θɹˈiː", []string{"wˈɒn tˈuː ", "θɹˈiː"}},
		{"aaaaaaaaaaaaaaaaaaaaaaaaa", []string{"aaaaaaaaaa", "aaaaaaaaaa", "aaaaa"}},
		{"bb aaaaaaaaaaaaa cc", []string{"bb ", "aaaaaaaaaa", "aaa cc"}},
	} {
		if got := cutPhonemes(c.ipa, 10); !slices.Equal(got, c.want) {
			t.Errorf("%q is cut into %q, want %q", c.ipa, got, c.want)
		}
	}
}

func TestAnUnknownPhonemeIsLeftOutAndReportedOnce(t *testing.T) {
	// A separate voice, because its alphabet is changed.
	p, err := LoadPiper(openRuntime(t), filepath.Dir(packtest.File(t, "voice-joe", "voice.onnx")), engine.NewGate(2),
		openPhonemizer(t), PiperOptions{CacheDir: shared.cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	defer closeOrFail(t, p)
	var log bytes.Buffer
	p.Log = slog.New(slog.NewTextHandler(&log, nil))
	delete(p.alphabet.ids, 'ʃ')
	for range 2 {
		if len(say(t, p, "She is sure.", engine.SpeakOptions{}).PCM) == 0 {
			t.Fatal("said nothing")
		}
	}
	if n := strings.Count(log.String(), "phoneme=ʃ"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}
