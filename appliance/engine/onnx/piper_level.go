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
	// voiceLUFS is how loud every voice is made, in LUFS (ITU-R BS.1770-5): what
	// broadcasters use. Louder ones would meet the limiter in every word.
	voiceLUFS = -23
	// limitKnee and limitCeiling are where the limiter begins and what it
	// never passes: -4.4 and -1 dB below full scale.
	limitKnee, limitCeiling = 0.6, 0.891

	// maxGain bounds the gain of a voice that is nearly silent: 20 dB.
	maxGain = 10
)

// calibrationTexts is what a voice says to be measured: short and long, a question
// and a statement, as short sentences come out louder than long ones.
func calibrationTexts(language string) []string {
	if strings.HasPrefix(strings.ToLower(language), "en") {
		return []string{"Hello, how are you today?", "Sure, I can help you with that.",
			"The pool on the second floor is open every day from seven until ten at night."}
	}
	return []string{"1, 2, 3, 4, 5?", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10."} // espeak-ng says numbers in every language
}

// calibrate speaks once, so that the first real sentence is as fast as any,
// and sets the gain from the level. The gain belongs to the voice: a quiet
// sentence stays quieter than a loud one, and sound can be given out before
// its sentence is whole.
func (p *Piper) calibrate(ctx context.Context) error {
	var pcm []float32
	for _, sentence := range calibrationTexts(p.Language()) {
		breaths, err := p.allPhrases(ctx, sentence, engine.SpeakOptions{})
		if err != nil {
			return err
		}
		if len(breaths) == 0 {
			return fmt.Errorf(`the voice knows none of the phonemes of %q; do "espeak.voice" (%q) and `+
				`"phoneme_id_map" belong to it?`, sentence, p.config.Espeak.Voice)
		}
		said, err := p.speakRaw(ctx, breaths[0]) // all of it: it is short
		if err != nil {
			return err
		}
		if err := p.plausible(len(breaths[0].ids), len(said)); err != nil {
			return err
		}
		pcm = append(pcm, said...)
	}
	if p.levelGain = gainOf(pcm, p.RateHz()); p.levelGain == 0 {
		return errors.New("the voice makes no sound")
	}
	return nil
}

// gainOf is by how much a voice is multiplied that says pcm at its own level; 0
// where there is nothing to be heard.
func gainOf(pcm []float32, rateHz int) float32 {
	loudness := audio.Loudness(pcm, rateHz)
	if math.IsInf(loudness, 0) || math.IsNaN(loudness) {
		return 0
	}
	return float32(min(math.Pow(10, (voiceLUFS-loudness)/20), maxGain))
}

// speakRaw says a breath at the voice's own speed, as the model says it.
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

// People say 8 to 20 phonemes a second. A voice far outside is not the one
// that voice.json describes, or has another sample rate.
const minPhonemesPerSecond, maxPhonemesPerSecond = 3, 40

// plausible checks the length of a sentence of so many ids, two a phoneme.
func (p *Piper) plausible(ids, samples int) error {
	seconds := float64(samples) / float64(p.RateHz())
	rate := float64(ids) / 2 / max(seconds, 0.001)
	if rate < minPhonemesPerSecond || rate > maxPhonemesPerSecond {
		return fmt.Errorf(
			`the voice says %.1f phonemes a second, which nobody does; is "audio.sample_rate" (%d) right?`, rate,
			p.RateHz())
	}
	return nil
}

// amplify multiplies pcm by gain. What passes the knee is bent towards the
// ceiling, smoothly, so that a loud vowel does not clip.
func amplify(pcm []float32, gain float32) {
	const room = limitCeiling - limitKnee
	for i, x := range pcm {
		x *= gain
		switch {
		case x > limitKnee:
			x = limitKnee + room*float32(math.Tanh(float64((x-limitKnee)/room)))
		case x < -limitKnee:
			x = -limitKnee - room*float32(math.Tanh(float64((-x-limitKnee)/room)))
		case x != x: // a model that diverged: silence, not noise
			x = 0
		}
		pcm[i] = x
	}
}
