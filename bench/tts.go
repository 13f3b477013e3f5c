package bench

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

// longSentence takes longer to make than its first sound may take.
const longSentence = "The swimming pool on the second floor is open every day from seven in the morning until ten at " +
	"night, and towels are free of charge."

// spokenSentences are the text for the speed of a voice, as a box in a hotel or a museum
// speaks.
func spokenSentences() []string {
	return []string{
		"The museum opens at ten in the morning and closes at six.",
		"Breakfast is served on the first floor until half past nine.",
		"I am sorry, I do not know that, but I can ask somebody for you.",
		"Would you like to book a table for two people this evening?",
		"Children under twelve do not need a ticket.",
		"If you turn left behind the library, you will see the post office on the other side of the square.",
		"Our shuttle to the station leaves from the side entrance, and the driver is happy to help with your bags.",
		"Please speak slowly and clearly after the tone, and tell us how we can reach you.",
	}
}

// TTS measures the configured voice.
func TTS(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	r := Report{Bench: "tts", Machine: describe(o.Config, "runtime-onnx", "espeak-ng", o.Config.Engines.Voice)}
	o.announce("loading %s", o.Config.Engines.Voice)
	opened, err := engines.Open(ctx, o.Config, engines.Speaking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	voice, err := opened.Voice(ctx, "")
	if err != nil {
		return r, err
	}
	if err := r.firstSounds(ctx, o, voice); err != nil {
		return r, err
	}
	if err := r.speed(ctx, o, voice); err != nil {
		return r, err
	}
	r.memory(self(), 0)
	return r, nil
}

// firstSounds times sentences to their first sound, and to the whole file for a client.
func (r *Report) firstSounds(ctx context.Context, o Options, voice engine.Synthesizer) error {
	for _, s := range []struct{ name, text string }{
		{"2_words", "Good morning."}, {"8_words", "Sure, I can help you with that today."}, {"26_words", longSentence},
	} {
		o.announce("speaking %q, %d times", s.text, o.Rounds)
		first, err := timed(o.Rounds, func() error { return firstSound(ctx, voice, s.text) })
		if err != nil {
			return err
		}
		whole, err := timed(o.Rounds, func() error {
			said, err := engine.SpeakWhole(ctx, voice, s.text, engine.SpeakOptions{Urgency: engine.Live.Urgency()})
			if err == nil {
				audio.EncodeWAV(audio.Resample(said.PCM, said.RateHz, contract.OutputRateHz), contract.OutputRateHz)
			}
			return err
		})
		if err != nil {
			return err
		}
		r.against("first_sound_"+s.name, first, "ms", whole, "to the first piece of the sound; the whole sentence")
		r.figure("whole_"+s.name, whole, "ms", "to a 48 kHz WAV of the whole sentence")
	}
	return nil
}

// firstSound speaks until the first piece of sound.
func firstSound(ctx context.Context, voice engine.Synthesizer, said string) error {
	enough := errors.New("the first sound is there")
	err := voice.Speak(ctx, said, engine.SpeakOptions{Urgency: engine.Live.Urgency()}, func(engine.Sound) error {
		return enough
	})
	if errors.Is(err, enough) {
		return nil
	}
	return err
}

// speed times a text of several sentences, in real and in processor time.
func (r *Report) speed(ctx context.Context, o Options, voice engine.Synthesizer) error {
	said := strings.Join(spokenSentences(), " ")
	o.announce("speaking %d characters", len(said))
	before, err := cpuTime(self())
	if err != nil {
		return err
	}
	begun := time.Now()
	sound, err := engine.SpeakWhole(ctx, voice, said, engine.SpeakOptions{Urgency: engine.Live.Urgency()})
	if err != nil {
		return err
	}
	took := time.Since(begun)
	after, err := cpuTime(self())
	if err != nil {
		return err
	}
	length := float64(len(sound.PCM)) / float64(sound.RateHz)
	r.figure("real_time_factor", took.Seconds()/length, "", "time to speak several sentences, over their length")
	r.figure("processor_factor", (after-before).Seconds()/length, "",
		"the same in processor time, which depends little on other load")
	return nil
}
