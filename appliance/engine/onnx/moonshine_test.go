package onnx

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/packtest"
)

func openMoonshine(t testing.TB) *Moonshine {
	t.Helper()
	rt := openRuntime(t)
	return sharedOf(t, "Moonshine", func() (*Moonshine, error) {
		e, err := LoadMoonshine(rt, packtest.File(t, "moonshine"), engine.NewGate(2))
		if err != nil {
			return nil, err
		}
		return e, e.Warm(context.Background())
	})
}

func TestMoonshineWordErrorIsTheReferences(t *testing.T) {
	wantWordError(t, openMoonshine(t), reference{prompts: 40, some: 6.79, all: 6.45})
}

func TestManyHearAtOnceWhatOneHears(t *testing.T) {
	m, all := openMoonshine(t), prompts(t)[100:108]
	var sounds [][]float32
	var want []string
	for _, p := range all {
		sounds = append(sounds, p.pcm(t))
		want = append(want, hear(t, m, sounds[len(sounds)-1]).Text)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range sounds {
				i = (i + g) % len(sounds)
				got, err := m.Transcribe(context.Background(), sounds[i],
					engine.TranscribeOptions{Urgency: engine.Priority(g % 5).Urgency()})
				if err != nil || got.Text != want[i] {
					t.Errorf("%s: %q and %v with others, %q alone", all[i].name, got.Text, err, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestSoundOfAnyLengthUpTo30sIsTaken(t *testing.T) {
	m := openMoonshine(t)
	speech := prompts(t)[30].pcm(t)
	for _, n := range []int{0, 1, 500, 1599, 1600, 1727, 1728, 5000, len(speech)} {
		got := hear(t, m, speech[:n])
		if got.Language != "en" {
			t.Errorf("%d samples: language %q", n, got.Language)
		}
		if n == 0 && got.Text != "" {
			t.Errorf("transcribed %q in an empty sound", got.Text)
		}
	}
	long, at, words := make([]float32, MaxSamples), 0, 0
	for _, p := range prompts(t)[40:60] {
		if at < len(long)-10*engine.SpeechRateHz {
			at += copy(long[at:], p.pcm(t)) + engine.SpeechRateHz/2
			words += len(text.Words(p.text))
		}
	}
	if got := len(text.Words(hear(t, m, long).Text)); got < words*8/10 || got > words*12/10 {
		t.Errorf("30 s: %d words of %d", got, words)
	}
	if _, err := m.Transcribe(context.Background(), make([]float32, MaxSamples+1),
		engine.TranscribeOptions{}); err == nil || !strings.Contains(err.Error(), "30 s") {
		t.Errorf("more than 30 s: %v, want an error with the limit", err)
	}
}

func TestCancelledHearingEndsEarly(t *testing.T) {
	m, sound := openMoonshine(t), make([]float32, 10*engine.SpeechRateHz)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user went on")
	cancel(why)
	if _, err := m.Transcribe(ctx, sound, engine.TranscribeOptions{}); !errors.Is(err, why) {
		t.Errorf("cancelled before: %v, want %v", err, why)
	}
	late, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer stop()
	if _, err := m.Transcribe(late, sound, engine.TranscribeOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled while it ran: %v, want %v", err, context.DeadlineExceeded)
	}
	hear(t, m, sound) // the gate is free again
}

func TestMoonshineRefusesOtherLanguages(t *testing.T) {
	m := openMoonshine(t)
	for tag, taken := range map[string]bool{"": true, "en": true, "en-GB": true, "EN": true, "und": true, "fr": false,
		"de-AT": false, "eng": false} {
		_, err := m.Transcribe(context.Background(), make([]float32, 1600), engine.TranscribeOptions{Language: tag})
		if (err == nil) != taken {
			t.Errorf("language %q: %v", tag, err)
		}
	}
}

func TestNaNSoundOnlyEndsTheCall(t *testing.T) {
	m, speech := openMoonshine(t), prompts(t)[120].pcm(t)
	want := hear(t, m, speech)
	bad := make([]float32, engine.SpeechRateHz)
	for i := range bad {
		bad[i] = float32(math.NaN())
	}
	hear(t, m, bad)
	if got := hear(t, m, speech); got.Text != want.Text {
		t.Errorf("after it %q, before %q", got.Text, want.Text)
	}
}

func TestHearingAllocatesNothingLarge(t *testing.T) {
	m, speech := openMoonshine(t), prompts(t)[60].pcm(t)
	hear(t, m, speech)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const calls = 5
	for range calls {
		hear(t, m, speech)
	}
	runtime.ReadMemStats(&after)
	// The rest are a few small objects for each of a step's tensors.
	if each := (after.TotalAlloc - before.TotalAlloc) / calls; each > 256<<10 {
		t.Errorf("%d bytes for a call", each)
	}
}

// hear transcribes with no options.
func hear(t testing.TB, ear engine.Transcriber, pcm []float32) engine.Transcript {
	t.Helper()
	heard, err := ear.Transcribe(context.Background(), pcm, engine.TranscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return heard
}

// A voice at twice the speed of people is transcribed to its end. The sentence is one that is
// recognised at this speed whatever the last bits of its sound, which differ with the version of
// eSpeak NG: a voice's level is measured on words that it speaks.
func TestAFastVoiceIsHeardToItsEnd(t *testing.T) {
	m, joe := openMoonshine(t), openVoice(t, openRuntime(t), "voice-joe")
	const end = "I will do my best to help you."
	const sentence = "If you have any questions, please call me back as soon as you can, and " + end
	speech := say(t, joe, sentence, engine.SpeakOptions{Speed: 2})
	heard, err := m.Transcribe(t.Context(), audio.Resample(speech.PCM, joe.RateHz(), engine.SpeechRateHz),
		engine.TranscribeOptions{Speed: 2})
	if err != nil || !strings.HasSuffix(heard.Text, end) {
		t.Errorf("transcribed %q, %v", heard.Text, err)
	}
}
