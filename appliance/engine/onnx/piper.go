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
	// betweenSentencesMS is the silence put between the sentences of one text,
	// beside what is left of their own: together about what a reader leaves.
	betweenSentencesMS = 180

	minSpeed, maxSpeed = 0.25, 3
)

// A phonemizer turns text into the phonemes of the International Phonetic
// Alphabet.
type phonemizer interface {
	// Phonemize takes the name of one of eSpeak NG's voices, such as "en-us",
	// and keeps a mark (of . , ? ! : ;) where text has punctuation.
	Phonemize(ctx context.Context, text, voice string) (string, error)
}

// Piper is a voice: an engine.Synthesizer over a Piper model. Any number of
// goroutines may use it.
type Piper struct {
	// Log gets a warning for each phoneme that the voice does not know, once;
	// nil: none. It is set before the first use.
	Log *slog.Logger

	config         *piperConfig
	encoder        *Session
	stages         [stageCount]stage // the parts of the model behind the front
	wholeModel     *Session          // the model in one, where it cannot be cut
	streamError    error             // why
	hasDurations   bool              // whole tells the durations of phonemes
	noiseInput     bool              // the front takes noise
	encoderOutputs int               // of the front
	cores          int               // that one call takes
	gate           *engine.Gate
	pronouncer     *pronouncer
	levelGain      float32
	alphabet       *alphabet
}

// PiperOptions say how a voice is loaded.
type PiperOptions struct {
	// CacheDir is a folder in which is kept what loading finds out, so that the next
	// time takes a third of the processor's time; empty: none. What is in it may be
	// deleted.
	CacheDir string
	// SkipWarmUp leaves out the first run, which is slower than all later ones, where
	// what it would find out is kept: for who is about to speak anyway.
	SkipWarmUp bool
	// threads of a call; 0: piperThreads.
	threads int
}

// LoadPiper loads voice.onnx and voice.json from dir, warms the model and
// measures how loud it is. The caller closes it.
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

// setGain sets the gain: as it is kept, or as it is measured.
func (p *Piper) setGain(ctx context.Context, known *cachedVoice, cold bool) error {
	if p.levelGain = known.gain(); p.levelGain == 0 {
		if err := p.calibrate(ctx); err != nil {
			return err
		}
		known.storeGain(p.levelGain)
		return nil
	}
	if cold {
		return nil
	}
	breaths, err := p.allPhrases(ctx, calibrationTexts(p.Language())[0], engine.SpeakOptions{})
	if err == nil && len(breaths) > 0 {
		_, err = p.speakRaw(ctx, breaths[0])
	}
	return err
}

// warn says that a phoneme is left out.
func (p *Piper) warn(phoneme rune) {
	if p.Log != nil {
		p.Log.Warn("the voice does not know a phoneme and leaves it out", "phoneme", string(phoneme), "language",
			p.Language())
	}
}

// Close gives the model's memory back. No call may be running.
func (p *Piper) Close() (err error) {
	for _, s := range []*Session{p.encoder, p.wholeModel, p.stages[flowStage].session, p.stages[coarseStage].session,
		p.stages[fineStage].session} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// StreamError says why the voice cannot speak in pieces; nil when it can.
func (p *Piper) StreamError() error { return p.streamError }

// RateHz is the sample rate of the voice.
func (p *Piper) RateHz() int { return p.config.Audio.SampleRate }

// Language is the BCP 47 tag of what the voice speaks, such as "en-US".
func (p *Piper) Language() string { return p.config.language() }

// CanSay says whether the voice can read s, an engine.TextChecker.
func (p *Piper) CanSay(s string, o engine.SpeakOptions) error { return p.pronouncer.canSay(s, o) }

// Speak speaks s, an engine.Synthesizer. The same text with the same options gives
// the same samples, bit by bit. Sound comes in pieces that grow, the first of at most 0.26 s;
// each passes the gate by itself.
func (p *Piper) Speak(ctx context.Context, s string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if err := checkOptions(&o); err != nil {
		return err
	}
	breaths, err := p.allPhrases(ctx, s, o)
	if err != nil {
		return err
	}
	return speak(ctx, p, breaths, o, emit)
}

// checkOptions fills in what was left out, and refuses what no voice can do.
func checkOptions(o *engine.SpeakOptions) error {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.ModelSpeed == 0 {
		o.ModelSpeed = 1
	}
	switch {
	case !(o.Speed >= minSpeed && o.Speed <= maxSpeed):
		return fmt.Errorf("voice: speed is %g; allowed are %g to %d", o.Speed, minSpeed, maxSpeed)
	case !(o.ModelSpeed >= minSpeed && o.ModelSpeed <= maxSpeed):
		return fmt.Errorf("voice: pace is %g; allowed are %g to %d", o.ModelSpeed, minSpeed, maxSpeed)
	case !(o.Temperature >= 0 && o.Temperature <= 1):
		return fmt.Errorf("voice: temperature is %g; allowed are 0 to 1", o.Temperature)
	}
	return nil
}

func (p *Piper) hop() int                 { return piperHop }
func (p *Piper) gain(_ []float32) float32 { return p.levelGain }

// allPhrases is all that is to be said of s, call by call.
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
	for i, one := range sentences {
		around := phraseContext{}
		if i == 0 {
			around.before = before
		}
		around.continues = o.Continues && i == len(sentences)-1
		all = append(all, p.phrases(one, around)...)
	}
	for i := range all {
		all[i].index = uint64(i)
	}
	return all, nil
}
