package onnx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
// gate by itself.
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
		ids, sounds, err := p.ids(ctx, sentence)
		if err != nil {
			return engine.Speech{}, err
		}
		if len(sounds) == 0 {
			continue
		}
		part, err := p.speak(ctx, ids, sounds, speed, o.Priority)
		if err != nil {
			return engine.Speech{}, err
		}
		speech = p.join(speech, part)
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

// PhonemeIDs returns the numbers that the model is given for s, sentence by
// sentence, without those that say nothing.
func (p *Piper) PhonemeIDs(ctx context.Context, s string) ([][]int64, error) {
	var all [][]int64
	for _, sentence := range p.sentences(s) {
		ids, sounds, err := p.ids(ctx, sentence)
		if err != nil {
			return nil, err
		}
		if len(sounds) > 0 {
			all = append(all, ids)
		}
	}
	return all, nil
}

// speak says one sentence and makes it as loud as every voice, with clean
// edges.
func (p *Piper) speak(ctx context.Context, ids []int64, sounds []sound, speed float64, priority engine.Priority) (engine.Speech, error) {
	var pcm, frames []float32
	err := p.gate.Do(ctx, priority, p.session.Threads(), func() (err error) {
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

// A sound is a phoneme of a sentence and which of the model's ids are its.
type sound struct {
	symbol     string
	begin, end int
}

// ids turns a sentence into the numbers that the model takes: ^ _ (phoneme _)…
// $, over decomposed code points. A sentence that says nothing has no sounds.
func (p *Piper) ids(ctx context.Context, sentence string) (ids []int64, sounds []sound, err error) {
	ipa, err := p.ph.Phonemize(ctx, sentence, p.config.Espeak.Voice)
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasSuffix(ipa, ".") && !strings.ContainsAny(ipa[max(len(ipa)-1, 0):], "?!,;:") {
		ipa += "." // voices learned from sentences that end
	}
	ids = append(append(ids, p.config.ids[piperBegin]...), p.config.ids[piperPad]...)
	prefix := -1 // where a stress mark waits for its phoneme
	for _, r := range norm.NFD.String(ipa) {
		known := p.config.ids[r]
		if known == nil || r == piperBegin || r == piperEnd || r == piperPad {
			p.tellUnknown(r)
			continue
		}
		begin := len(ids)
		ids = append(append(ids, known...), p.config.ids[piperPad]...)
		switch {
		case r == 'ˈ' || r == 'ˌ':
			prefix = begin
		case lengthens(r):
			if n := len(sounds); n > 0 && sounds[n-1].end == begin {
				sounds[n-1].symbol += string(r)
				sounds[n-1].end = len(ids)
			}
		case !unicode.IsLetter(r):
			prefix = -1
		default:
			if prefix < 0 {
				prefix = begin
			}
			sounds = append(sounds, sound{string(r), prefix, len(ids)})
			prefix = -1
		}
	}
	return append(ids, p.config.ids[piperEnd]...), sounds, nil
}

// lengthens reports whether r belongs to the phoneme before it: length marks,
// modifier letters such as ʲ, combining marks.
func lengthens(r rune) bool {
	return r != 'ˈ' && r != 'ˌ' && (unicode.Is(unicode.Lm, r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Sk, r))
}

func (p *Piper) tellUnknown(r rune) {
	if p.Log != nil && p.unknown.met(r) {
		p.Log.Warn("the voice does not know a phoneme and leaves it out", "phoneme", string(r), "language", p.Language())
	}
}

// place says where in the pcm of a sentence its sounds are, from the frames of
// each id; nil when they do not fit together.
func place(sounds []sound, frames []float32, samples int) []engine.Phoneme {
	at := make([]int, len(frames)+1)
	for i, f := range frames {
		at[i+1] = at[i] + int(f)*piperHop
	}
	if len(frames) == 0 || at[len(frames)] != samples {
		return nil
	}
	phonemes := make([]engine.Phoneme, 0, len(sounds))
	for _, s := range sounds {
		phonemes = append(phonemes, engine.Phoneme{Symbol: s.symbol, Begin: at[s.begin], End: at[s.end]})
	}
	return phonemes
}

// onceForEach tells the first time that a rune is met from later ones.
type onceForEach struct {
	mu   sync.Mutex
	seen map[rune]bool
}

func (o *onceForEach) met(r rune) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen[r] {
		return false
	}
	if o.seen == nil {
		o.seen = make(map[rune]bool)
	}
	o.seen[r] = true
	return true
}
