package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"parley/appliance/engine"
)

const (
	// betweenSentencesMS is the silence inserted between the sentences of a text, in addition to
	// the silence that remains of the sentences; together about the pause of a reader.
	betweenSentencesMS = 180

	minSpeed, maxSpeed = 0.25, 3
)

// A phonemizer converts text to the phonemes of the International Phonetic Alphabet.
type phonemizer interface {
	// Phonemize takes the name of an eSpeak NG voice, such as "en-us", and preserves the marks
	// . , ? ! : ; of the text.
	Phonemize(ctx context.Context, text, voice string) (string, error)
}

// Piper is a voice with a Piper model. It implements engine.Synthesizer and is safe for concurrent
// use.
type Piper struct {
	// Log receives one warning for each phoneme that the voice does not know; it may be nil. Set it
	// before the first use.
	Log *slog.Logger

	config         *piperConfig
	encoder        *Session          // first part of the model: text encoder and durations
	stages         [stageCount]stage // the other parts of the model
	wholeModel     *Session          // the model in one piece, if it cannot be cut
	streamError    error             // why it cannot be cut
	hasDurations   bool              // wholeModel returns the durations of phonemes
	noiseInput     bool              // the encoder accepts noise
	encoderOutputs int               // number of outputs of the encoder
	cores          int               // per call
	gate           *engine.Gate
	pronouncer     *pronouncer
	levelGain      float32
	alphabet       *alphabet
}

// PiperOptions control how a voice is loaded.
type PiperOptions struct {
	// CacheDir is a folder for the results of loading; empty: none. With them the next load takes
	// a third of the processor time. Its files may be deleted.
	CacheDir string
	// SkipWarmUp skips the first run, which is slower than later ones, if its results are cached.
	// Callers that speak at once set it.
	SkipWarmUp bool
	threads    int // per call; 0: piperThreads
}

// LoadPiper loads voice.onnx and voice.json from dir, warms the model and measures its loudness.
// The caller closes the voice.
func LoadPiper(rt *Runtime, dir string, gate *engine.Gate, ph phonemizer, o PiperOptions) (*Piper, error) {
	config, err := readPiperConfig(filepath.Join(dir, "voice.json"))
	if err != nil {
		return nil, err
	}
	p := &Piper{
		config:     config,
		alphabet:   config.alphabet(),
		gate:       gate,
		pronouncer: config.pronouncer(ph),
		cores:      cmp.Or(o.threads, piperThreads),
	}
	p.alphabet.onUnknown = p.warn
	path := filepath.Join(dir, "voice.onnx")
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	file := startReading(path, durationsPatch)
	defer file.close()
	known := openVoiceCache(o.CacheDir, filepath.Base(dir), func() ([]byte, error) {
		model, err := file.model()
		if err != nil {
			return nil, err
		}
		return p.identity(rt, model), nil
	})
	if err := p.open(rt, file, known); err != nil {
		return nil, err
	}
	if err := p.setGain(context.Background(), known, o.SkipWarmUp); err != nil {
		return nil, errors.Join(fmt.Errorf("voice %s: %w", dir, err), p.Close())
	}
	return p, nil
}

// setGain sets the gain from the cache, or measures it, which warms the model too. With a cached
// gain it warms the model unless skipWarmUp is set.
func (p *Piper) setGain(ctx context.Context, known *cachedVoice, skipWarmUp bool) error {
	if p.levelGain = known.gain(); p.levelGain == 0 {
		if err := p.calibrate(ctx); err != nil {
			return err
		}
		known.storeGain(p.levelGain)
		return nil
	}
	if skipWarmUp {
		return nil
	}
	phrases, err := p.allPhrases(ctx, calibrationTexts(p.Language())[0], engine.SpeakOptions{})
	if err == nil && len(phrases) > 0 {
		_, err = p.speakRaw(ctx, phrases[0])
	}
	return err
}

// warn logs that a phoneme is left out.
func (p *Piper) warn(phoneme rune) {
	if p.Log != nil {
		p.Log.Warn("the voice does not know a phoneme and leaves it out", "phoneme", string(phoneme), "language",
			p.Language())
	}
}

// Close releases the memory of the model. No call may be running.
func (p *Piper) Close() (err error) {
	for _, s := range []*Session{p.encoder, p.wholeModel, p.stages[flowStage].session, p.stages[coarseStage].session,
		p.stages[fineStage].session} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// StreamError returns why the voice cannot be synthesized in pieces, or nil.
func (p *Piper) StreamError() error { return p.streamError }

// RateHz returns the sample rate of the voice.
func (p *Piper) RateHz() int { return p.config.Audio.SampleRate }

// Language returns the BCP 47 tag of the voice's language, such as "en-US".
func (p *Piper) Language() string { return p.config.language() }

// CanSay implements engine.TextChecker.
func (p *Piper) CanSay(s string, o engine.SpeakOptions) error { return p.pronouncer.canSay(s, o) }

// Speak implements engine.Synthesizer. The same text with the same options gives the same samples,
// bit for bit. The sound comes in pieces of growing length, the first of at most 0.26 s; each
// passes the gate separately.
func (p *Piper) Speak(ctx context.Context, s string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if err := checkOptions(&o); err != nil {
		return err
	}
	phrases, err := p.allPhrases(ctx, s, o)
	if err != nil {
		return err
	}
	return speak(ctx, p, phrases, o, emit)
}

// checkOptions sets defaults and rejects invalid options.
func checkOptions(o *engine.SpeakOptions) error {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.ModelSpeed == 0 {
		o.ModelSpeed = 1
	}
	switch {
	case !(o.Speed >= minSpeed && o.Speed <= maxSpeed):
		return fmt.Errorf("voice: speed (%g): %g to %d are allowed", o.Speed, minSpeed, maxSpeed)
	case !(o.ModelSpeed >= minSpeed && o.ModelSpeed <= maxSpeed):
		return fmt.Errorf("voice: model speed (%g): %g to %d are allowed", o.ModelSpeed, minSpeed, maxSpeed)
	case !(o.Temperature >= 0 && o.Temperature <= 1):
		return fmt.Errorf("voice: temperature (%g): 0 to 1 are allowed", o.Temperature)
	}
	return nil
}

func (p *Piper) hop() int                 { return piperHop }
func (p *Piper) gain(_ []float32) float32 { return p.levelGain }

// allPhrases returns all phrases of s in order.
func (p *Piper) allPhrases(ctx context.Context, s string, o engine.SpeakOptions) ([]phrase, error) {
	sentences, err := p.pronouncer.sentences(ctx, s, o)
	if err != nil {
		return nil, err
	}
	before, err := p.previousPhonemes(ctx, o)
	if err != nil {
		return nil, err
	}
	var all []phrase
	for i, sentence := range sentences {
		around := phraseContext{}
		if i == 0 {
			around.before = before
		}
		around.continues = o.Continues && i == len(sentences)-1
		all = append(all, p.phrases(sentence, around)...)
	}
	for i := range all {
		all[i].index = uint64(i)
	}
	return all, nil
}
