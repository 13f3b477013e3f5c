package chat

import (
	"context"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// mouth speaks the sentences of replies: synthesis, 48 kHz, a WAV file each.
type mouth struct {
	voices Voices
	clock  func() time.Duration
	post   func(Event)
}

// speech is a sentence on its way to the mouth.
type speech struct {
	sentence Sentence
	voice    string
	speed    float64
}

// Voices finds a voice by its name or id; the empty name is the default.
type Voices interface {
	Voice(name string) (engine.Synthesizer, error)
}

// speak says the sentences of a turn one after the other, until there are no
// more or ctx ends.
func (m mouth) speak(ctx context.Context, turn int, sentences <-chan speech) {
	for s := range sentences {
		clip, err := m.clip(ctx, s)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if fault, ok := faultOf(err, contract.NotSpoken); ok {
				m.post(Failed{At(m.clock()), turn, fault})
			}
			return
		}
		m.post(Spoken{At(m.clock()), turn, clip})
	}
}

func (m mouth) clip(ctx context.Context, s speech) (Clip, error) {
	voice, err := m.voices.Voice(s.voice)
	if err != nil {
		return Clip{}, err
	}
	said, err := voice.Synthesize(ctx, s.sentence.Text, engine.SpeakOptions{Priority: engine.Live, Speed: s.speed})
	if err != nil {
		return Clip{}, err
	}
	if len(said.PCM) == 0 {
		return Clip{Sentence: s.sentence}, nil
	}
	pcm := audio.Resample(said.PCM, said.RateHz, contract.OutputRateHz)
	return Clip{
		Sentence: s.sentence,
		WAV:      audio.EncodeWAV(pcm, contract.OutputRateHz),
		Duration: time.Duration(len(pcm)) * time.Second / contract.OutputRateHz,
	}, nil
}
