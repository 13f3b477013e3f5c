// Package enginetest provides engines for tests: functions in place of models.
package enginetest

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"strings"
	"time"
	"unicode"

	"parley/appliance/engine"
)

// A Detector is a stateless voice detector. It serves as its own stream.
type Detector func(frame []float32) (float32, error)

func (d Detector) NewStream() engine.VoiceStream                { return d }
func (d Detector) Probability(frame []float32) (float32, error) { return d(frame) }
func (d Detector) Reset()                                       {}

// LevelDetector returns a Detector that reports voice in a frame with a sample beyond level.
func LevelDetector(level float32) Detector {
	return func(frame []float32) (float32, error) {
		for _, v := range frame {
			if math.Abs(float64(v)) > float64(level) {
				return 1, nil
			}
		}
		return 0, nil
	}
}

// A Transcriber is a function that implements engine.Transcriber.
type Transcriber func(context.Context, []float32, engine.TranscribeOptions) (engine.Transcript, error)

func (t Transcriber) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript,
	error) {
	return t(ctx, pcm, o)
}

// FixedTranscript returns a Transcriber that transcribes everything as the same English words.
func FixedTranscript(words string) Transcriber {
	return func(ctx context.Context, _ []float32, _ engine.TranscribeOptions) (engine.Transcript, error) {
		return engine.Transcript{Text: words, Language: "en"}, ctx.Err()
	}
}

// WordEmbedder is a SentenceEmbedder for tests that compares words: texts with the same words in any order and case
// have the same vector, and the cosine of others is about the part of words that they share.
type WordEmbedder struct{}

func (WordEmbedder) Model() string { return "words" }
func (WordEmbedder) Embed(ctx context.Context, texts []string, _ *engine.Urgency) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, engine.SentenceDimensions)
		v[0] = 1e-6 // a text without words has a direction too
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			h := fnv.New32a()
			h.Write([]byte(word))
			v[h.Sum32()%engine.SentenceDimensions]++
		}
		var squares float64
		for _, x := range v {
			squares += float64(x) * float64(x)
		}
		for d := range v {
			v[d] /= float32(math.Sqrt(squares))
		}
		vectors[i] = v
	}
	return vectors, ctx.Err()
}

// A Model is a function that implements engine.LanguageModel, without Choose.
type Model func(context.Context, engine.Prompt, func(engine.Part) error) (engine.Usage, error)

func (m Model) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	return m(ctx, p, emit)
}
func (Model) Prefill(context.Context, engine.Prompt) error { return nil }
func (Model) Forget(string)                                {}
func (Model) Choose(context.Context, engine.Prompt, []string) ([]float64, error) {
	return nil, engine.ErrUnsupported
}

// FixedReply returns a Model that always streams the same pieces and waits the duration each before
// every piece.
func FixedReply(each time.Duration, pieces ...string) Model {
	return func(ctx context.Context, _ engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
		for _, piece := range pieces {
			if each > 0 {
				select {
				case <-time.After(each):
				case <-ctx.Done():
					return engine.Usage{}, context.Cause(ctx)
				}
			}
			if err := emit(engine.Part{Text: piece}); err != nil {
				return engine.Usage{}, err
			}
		}
		return engine.Usage{}, nil
	}
}

// A Voice implements engine.Synthesizer with a function, at 24 kHz if Hz is 0. Use it by pointer,
// since voices are compared.
type Voice struct {
	Hz        int
	SpeakFunc func(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error
}

func (v *Voice) RateHz() int { return cmp.Or(v.Hz, 24000) }
func (v *Voice) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	return v.SpeakFunc(ctx, text, o, emit)
}

// FixedSound returns a Voice that speaks every text as the same sound, at once.
func FixedSound(hz int, pcm []float32) *Voice {
	return &Voice{hz, func(ctx context.Context, _ string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return emit(engine.Sound{PCM: pcm, TotalSamples: len(pcm), Last: true})
	}}
}

// Engines implements all engines: it detects voice in everything but silence, transcribes it as the
// same words, replies at once, and speaks a second of silence.
type Engines struct{}

func (Engines) NewStream() engine.VoiceStream { return LevelDetector(0) }
func (Engines) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
	return FixedTranscript("When do you open?")(ctx, pcm, o)
}
func (Engines) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	return FixedReply(0, "It opens at ten. ", "Not on Mondays.")(ctx, p, emit)
}
func (Engines) Prefill(context.Context, engine.Prompt) error { return nil }
func (Engines) Forget(string)                                {}
func (Engines) Choose(context.Context, engine.Prompt, []string) ([]float64, error) {
	return nil, engine.ErrUnsupported
}
func (Engines) RateHz() int { return 24000 }
func (Engines) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	return FixedSound(24000, make([]float32, 24000)).Speak(ctx, text, o, emit)
}
