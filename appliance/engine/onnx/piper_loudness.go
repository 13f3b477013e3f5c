package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// voiceLUFS is the loudness of all voices, in LUFS (ITU-R BS.1770-5), the level of
	// broadcasters. At a higher level every word would reach the limiter.
	voiceLUFS = -23
	// limitKnee and limitCeiling are where the limiter begins and what it never exceeds: -4.4 and
	// -1 dB below full scale.
	limitKnee, limitCeiling = 0.6, 0.891

	// maxGain limits the gain of a nearly silent voice: 20 dB.
	maxGain = 10
)

// calibrationTexts returns the texts with which a voice is measured: short and long, a question and
// statements, because short sentences come out louder than long ones.
func calibrationTexts(language string) []string {
	if strings.HasPrefix(strings.ToLower(language), "en") {
		return []string{"Hello, how are you today?", "Sure, I can help you with that.",
			"The pool on the second floor is open every day from seven until ten at night."}
	}
	// espeak-ng pronounces numbers in every language
	return []string{"1, 2, 3, 4, 5?", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10."}
}

// calibrate speaks once, so that the first real sentence is as fast as later ones, and sets the
// gain from the level. The gain belongs to the voice: a quiet sentence stays quieter than a loud
// one, and sound can be emitted before its sentence is complete.
func (p *Piper) calibrate(ctx context.Context) error {
	var pcm []float32
	for _, sentence := range calibrationTexts(p.Language()) {
		phrases, err := p.allPhrases(ctx, sentence, engine.SpeakOptions{})
		if err != nil {
			return err
		}
		if len(phrases) == 0 {
			return fmt.Errorf(`the voice knows none of the phonemes of %q: check that "espeak.voice" (%q) and `+
				`"phoneme_id_map" belong to it`, sentence, p.config.Espeak.Voice)
		}
		sound, err := p.speakRaw(ctx, phrases[0]) // all of it, since it is short
		if err != nil {
			return err
		}
		if err := p.plausible(len(phrases[0].ids), len(sound)); err != nil {
			return err
		}
		pcm = append(pcm, sound...)
	}
	if p.levelGain = gainOf(pcm, p.RateHz()); p.levelGain == 0 {
		return errors.New("the voice makes no sound")
	}
	return nil
}

// gainOf returns the gain for a voice with the loudness of pcm; 0 if pcm is inaudible.
func gainOf(pcm []float32, rateHz int) float32 {
	loudness := audio.Loudness(pcm, rateHz)
	if math.IsInf(loudness, 0) || math.IsNaN(loudness) {
		return 0
	}
	return float32(min(math.Pow(10, (voiceLUFS-loudness)/20), maxGain))
}

// speakRaw synthesizes a phrase at the voice's own speed and level.
func (p *Piper) speakRaw(ctx context.Context, b phrase) (pcm []float32, err error) {
	u := engine.Request.Urgency()
	w, _, err := p.synthesize(ctx, b, engine.SpeakOptions{Speed: 1, ModelSpeed: 1, Urgency: u})
	for err == nil {
		var piece []float32
		if piece, err = w.piece(ctx, u); piece == nil {
			break
		}
		pcm = append(pcm, piece...)
	}
	return pcm, err
}

// minPhonemesPerSecond and maxPhonemesPerSecond are the bounds of plausible speech; people speak 8
// to 20 phonemes a second. A voice outside them does not match its voice.json, or has another
// sample rate.
const minPhonemesPerSecond, maxPhonemesPerSecond = 3, 40

// plausible checks the length of a sentence of ids ids, two for each phoneme.
func (p *Piper) plausible(ids, samples int) error {
	seconds := float64(samples) / float64(p.RateHz())
	rate := float64(ids) / 2 / max(seconds, 0.001)
	if rate < minPhonemesPerSecond || rate > maxPhonemesPerSecond {
		return fmt.Errorf(
			`the voice speaks %.1f phonemes a second, which is implausible: check "audio.sample_rate" (%d)`, rate,
			p.RateHz())
	}
	return nil
}

// amplify multiplies pcm by gain. Above the knee it approaches the ceiling smoothly, so that a loud
// vowel does not clip.
func amplify(pcm []float32, gain float32) {
	const headroom = limitCeiling - limitKnee
	for i, x := range pcm {
		x *= gain
		switch {
		case x > limitKnee:
			x = limitKnee + headroom*float32(math.Tanh(float64((x-limitKnee)/headroom)))
		case x < -limitKnee:
			x = -limitKnee - headroom*float32(math.Tanh(float64((-x-limitKnee)/headroom)))
		case x != x: // NaN from a diverged model becomes silence
			x = 0
		}
		pcm[i] = x
	}
}
