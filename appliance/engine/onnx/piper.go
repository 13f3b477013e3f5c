package onnx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"parley/appliance/engine"
	"parley/appliance/text"
)

const (
	// piperHop is how many samples one frame of a Piper model's durations has.
	piperHop = 256
	// piperThreads is how many cores one sentence takes: two make it a quarter
	// faster than one.
	piperThreads = 2
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

	config  *piperConfig
	session *Session
	timed   bool // the model tells the durations of phonemes
	gate    *engine.Gate
	ph      phonemizer
	gain    float32
	unknown onceForEach
}

// LoadPiper loads voice.onnx and voice.json from dir, warms the model and
// measures how loud it is. The caller closes it.
func LoadPiper(rt *Runtime, dir string, gate *engine.Gate, ph phonemizer) (_ *Piper, err error) {
	config, err := readPiperConfig(filepath.Join(dir, "voice.json"))
	if err != nil {
		return nil, err
	}
	p := &Piper{config: config, gate: gate, ph: ph}
	if err := p.open(rt, filepath.Join(dir, "voice.onnx")); err != nil {
		return nil, err
	}
	if err := p.calibrate(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("voice %s: %w", dir, err), p.Close())
	}
	return p, nil
}

// Close gives the model's memory back. No call may be running.
func (p *Piper) Close() error { return p.session.Close() }

// RateHz is the sample rate of the voice.
func (p *Piper) RateHz() int { return p.config.Audio.SampleRate }

// Language is the BCP 47 tag of what the voice speaks, such as "en-US".
func (p *Piper) Language() string { return p.config.language() }

// Synthesize speaks s. The same text gives the same samples, bit by bit. Text
// without anything to say gives an empty Speech. Each sentence of s passes the
// gate by itself, one with very many phonemes in parts.
func (p *Piper) Synthesize(ctx context.Context, s string, o engine.SpeakOptions) (engine.Speech, error) {
	speech := engine.Speech{RateHz: p.RateHz()}
	speed := o.Speed
	if speed == 0 {
		speed = 1
	}
	if !(speed >= minSpeed && speed <= maxSpeed) {
		return speech, fmt.Errorf("voice: speed is %g; allowed are %g to %d", o.Speed, minSpeed, maxSpeed)
	}
	for _, sentence := range p.sentences(s) {
		breaths, err := p.breaths(ctx, sentence)
		if err != nil {
			return engine.Speech{}, err
		}
		for _, b := range breaths {
			part, err := p.speak(ctx, b.ids, b.sounds, speed, o.Urgency)
			if err != nil {
				return engine.Speech{}, err
			}
			speech = p.join(speech, part)
		}
	}
	return speech, nil
}

// sentences cuts a text into what is spoken at once. What a sentence holds may
// become much longer when it is written out, and is then cut again.
func (p *Piper) sentences(s string) []string {
	var all []string
	for _, written := range text.Sentences(s) {
		all = append(all, text.Sentences(text.Spoken(written, p.Language()))...)
	}
	return all
}

// PhonemeIDs returns the numbers that the model is given for s, call by call,
// without those that say nothing.
func (p *Piper) PhonemeIDs(ctx context.Context, s string) ([][]int64, error) {
	var all [][]int64
	for _, sentence := range p.sentences(s) {
		breaths, err := p.breaths(ctx, sentence)
		if err != nil {
			return nil, err
		}
		for _, b := range breaths {
			all = append(all, b.ids)
		}
	}
	return all, nil
}

// speak says one sentence and makes it as loud as every voice, with clean
// edges.
func (p *Piper) speak(ctx context.Context, ids []int64, sounds []sound, speed float64, u *engine.Urgency) (engine.Speech, error) {
	var pcm, frames []float32
	err := p.gate.Do(ctx, u, p.session.Threads(), func() (err error) {
		pcm, frames, err = p.run(ids, speed)
		return err
	})
	if err != nil {
		return engine.Speech{}, err
	}
	phonemes := place(sounds, frames, len(pcm))
	amplify(pcm, p.gain)
	begin, end := audible(pcm, p.RateHz())
	pcm = pcm[begin:end:end]
	fadeEdges(pcm, p.RateHz())
	for i := range phonemes {
		phonemes[i].Begin = min(max(phonemes[i].Begin-begin, 0), len(pcm))
		phonemes[i].End = min(max(phonemes[i].End-begin, 0), len(pcm))
	}
	return engine.Speech{PCM: pcm, RateHz: p.RateHz(), Phonemes: phonemes}, nil
}

// join puts part behind speech, with a pause between.
func (p *Piper) join(speech, part engine.Speech) engine.Speech {
	if len(speech.PCM) == 0 {
		return part
	}
	pause := p.RateHz() * betweenSentencesMS / 1000
	at := len(speech.PCM) + pause
	pcm := make([]float32, at, at+len(part.PCM))
	copy(pcm, speech.PCM)
	speech.PCM = append(pcm, part.PCM...)
	for _, ph := range part.Phonemes {
		ph.Begin += at
		ph.End += at
		speech.Phonemes = append(speech.Phonemes, ph)
	}
	return speech
}
