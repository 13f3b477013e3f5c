package sound

import (
	"context"

	"parley/appliance/engine"
)

// Voice returns voice with a memory: it plays the sound of a text from the disk if the voice has spoken it with the
// same options before, and otherwise synthesises and stores it. Its texts must be such that may stay on the disk.
func (s *Store) Voice(voice engine.Synthesizer) engine.Synthesizer { return storedVoice{voice, s} }

// storedVoice is an engine.Synthesizer over stored sound.
type storedVoice struct {
	engine.Synthesizer
	store *Store
}

// Speak implements engine.Synthesizer. Stored sound has no phonemes and words.
func (v storedVoice) Speak(ctx context.Context, text string, o engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	k, ok := keyOf(v.Synthesizer, text, o)
	if !ok {
		return v.Synthesizer.Speak(ctx, text, o, emit)
	}
	if speech, ok := v.store.load(k); ok && speech.RateHz == v.RateHz() {
		return play(ctx, speech, emit)
	}
	speech := engine.Speech{RateHz: v.RateHz()}
	whole := false
	err := v.Synthesizer.Speak(ctx, text, o, func(s engine.Sound) error {
		speech.PCM = append(speech.PCM, s.PCM...)
		whole = s.Last
		return emit(s)
	})
	if err == nil && whole {
		v.store.saveLater(k, speech)
	}
	return err
}

// play emits a speech in pieces.
func play(ctx context.Context, speech engine.Speech, emit func(engine.Sound) error) error {
	at := 0
	for _, n := range pieceLengths(len(speech.PCM), speech.RateHz) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		piece := speech.PCM[at : at+n]
		at += n
		if err := emit(engine.Sound{
			PCM:          piece,
			TotalSamples: len(speech.PCM),
			Last:         at == len(speech.PCM),
		}); err != nil {
			return err
		}
	}
	return nil
}
