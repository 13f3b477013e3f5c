package onnx

import (
	"context"
	"math"
	"strings"
	"time"

	"parley/appliance/engine"
)

// kokoroVoice is one voice of Kokoro. It implements engine.Synthesizer.
type kokoroVoice struct {
	kokoro     *Kokoro
	style      []float32 // kokoroStyle numbers for each length
	deviation  []float32 // standard deviation of each number over the lengths
	language   kokoroLanguage
	pronouncer *pronouncer
}

// Voice returns the voice of a blend; a blend of a single style is that style. A voice only costs
// its style, half a megabyte, and is valid until the Kokoro is closed.
func (k *Kokoro) Voice(blend []StyleWeight) (engine.Synthesizer, error) {
	style, language, err := k.blend(blend)
	if err != nil {
		return nil, err
	}
	l := &pronouncer{
		phonemizer: k.phonemizer,
		voice:      language.espeak,
		tag:        language.tag,
		scripts:    scriptsOf(language.tag),
		rewrite:    language.rewrite,
	}
	return &kokoroVoice{
		kokoro:     k,
		style:      style,
		deviation:  deviations(style),
		language:   language,
		pronouncer: l,
	}, nil
}

// RateHz returns the sample rate of the voice.
func (v *kokoroVoice) RateHz() int { return kokoroRateHz }

// Language returns the BCP 47 tag of the voice's language.
func (v *kokoroVoice) Language() string { return v.language.tag }

func (v *kokoroVoice) hop() int { return kokoroHop }

// gain uses the first clause of each text. Measuring each voice before its use, as with Piper,
// would take two seconds of the cores for each of the dozens of styles and for every blend.
func (v *kokoroVoice) gain(first []float32) float32 { return gainOf(first, kokoroRateHz) }

// CanSay implements engine.TextChecker.
func (v *kokoroVoice) CanSay(s string, o engine.SpeakOptions) error { return v.pronouncer.canSay(s, o) }

// Speak implements engine.Synthesizer. The same text gives the same samples. The sound comes clause
// by clause; each passes the gate separately and stops when ctx ends.
func (v *kokoroVoice) Speak(ctx context.Context, s string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if err := checkOptions(&o); err != nil {
		return err
	}
	phrases, err := v.phrases(ctx, s, o)
	if err != nil {
		return err
	}
	return speak(ctx, v, phrases, o, emit)
}

// phrases returns the phrases of s. The text before s makes no difference to the model; a sentence
// that continues ends as before a comma.
func (v *kokoroVoice) phrases(ctx context.Context, s string, o engine.SpeakOptions) ([]phrase, error) {
	sentences, err := v.pronouncer.sentences(ctx, s, o)
	if err != nil {
		return nil, err
	}
	var all []phrase
	for i, last := range sentences {
		if o.Continues && i == len(sentences)-1 && !strings.ContainsAny(last.ipa[max(len(last.ipa)-1, 0):], ".?!,;:") {
			last.ipa += ","
		}
		all = append(all, v.clauses(last)...)
	}
	return all, nil
}

// clauses returns the phrases of a sentence.
func (v *kokoroVoice) clauses(s sentence) []phrase {
	var all []phrase
	at, word := 0, 0
	for _, clause := range clauses(s.ipa) {
		b := v.kokoro.alphabet.phrase("", strings.TrimRight(clause, " "), "")
		if len(b.sounds) > 0 {
			if len(all) > 0 {
				b.pauseMS = betweenClausesMS
			}
			b.sounds = phonologyOf(v.language.tag).joined(b.sounds)
			word = b.assignWords(s, at, word)
			all = append(all, b)
		}
		at += len(clause)
	}
	if n := len(all); n > 0 {
		all[n-1].assignRest(s, word)
	}
	return all
}

// synthesize runs the model on a phrase, all at once: a second on two slow cores. More urgent work
// does not wait for its end; the phrase is computed again afterwards. Another request that takes
// less time can also interrupt it.
func (v *kokoroVoice) synthesize(ctx context.Context, b phrase, o engine.SpeakOptions) (phraseSound, []float32, error) {
	w := &wholeSound{}
	dice := newRand(o, 0) // one voice speaks all of a text
	style := v.styleFor(len(b.ids))
	if o.Temperature > 0 {
		o.ModelSpeed *= randomSpeed(dice, o.Temperature)
		style = v.perturb(style, noise(dice, kokoroStyle, o.Temperature))
	}
	err := v.kokoro.gate.DoRestartable(ctx, o.Urgency, v.kokoro.session.Threads(),
		v.kokoro.throughput.estimate(len(b.ids)),
		func(ctx context.Context) (err error) {
			begun := time.Now()
			if w.pcm, w.frames, err = v.kokoro.run(ctx, b.ids, style,
				min(max(o.Speed*o.ModelSpeed, minSpeed), maxSpeed)); err == nil {
				v.kokoro.throughput.record(len(b.ids), time.Since(begun))
			}
			return err
		})
	w.samples = len(w.pcm)
	return w, w.frames, err
}

// styleFor returns the style for a text of ids ids, two of which are its edges.
func (v *kokoroVoice) styleFor(ids int) []float32 {
	at := min(ids-2, kokoroLengths-1) * kokoroStyle
	return v.style[at : at+kokoroStyle : at+kokoroStyle]
}

// perturb changes a style slightly, in the numbers that differ from one length of a text to
// another: these determine how it speaks, and hardly whose voice it is.
func (v *kokoroVoice) perturb(style, by []float32) []float32 {
	out := make([]float32, len(style))
	for i, x := range style {
		out[i] = x + v.deviation[i]*by[i]
	}
	return out
}

// deviations returns the standard deviation of each number of a style over its lengths.
func deviations(style []float32) []float32 {
	out := make([]float32, kokoroStyle)
	for i := range out {
		var sum, squares float64
		for at := i; at < len(style); at += kokoroStyle {
			sum += float64(style[at])
			squares += float64(style[at]) * float64(style[at])
		}
		mean := sum / kokoroLengths
		out[i] = float32(math.Sqrt(max(squares/kokoroLengths-mean*mean, 0)))
	}
	return out
}
