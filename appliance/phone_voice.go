package appliance

import (
	"context"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// phoneVoice speaks with the voice of a chat before the chat begins, and to people who take calls over.
type phoneVoice struct {
	telephone     *telephone
	account, name string
}

// voiceTimeout bounds the loading of a voice that is not loaded yet. The caller waits meanwhile.
const voiceTimeout = 10 * time.Second

// Language returns the language of the voice; empty if that is not known.
func (v phoneVoice) Language() string {
	ctx, cancel := context.WithTimeout(context.Background(), voiceTimeout)
	defer cancel()
	speaks, err := v.telephone.voices.Voice(ctx, v.account, v.name)
	if err != nil {
		v.telephone.log.Error("cannot open the voice of a call", "voice", v.name, "err", err)
		return ""
	}
	return engine.LanguageOf(speaks)
}

// Speak speaks a text, sentence by sentence.
func (v phoneVoice) Speak(ctx context.Context, said string, play func(pcm []float32) error) error {
	loading, cancel := context.WithTimeout(ctx, voiceTimeout)
	defer cancel()
	speaks, err := v.telephone.voices.Voice(loading, v.account, v.name)
	if err != nil {
		return err
	}
	read := v.telephone.lexicons.Options(ctx, v.account)
	pause := make([]float32, audio.Samples(phonePause, contract.OutputRateHz))
	for _, sentence := range text.Sentences(said) {
		rate, err := audio.NewResampler(speaks.RateHz(), contract.OutputRateHz)
		if err != nil {
			return err
		}
		err = speaks.Speak(ctx, sentence, engine.SpeakOptions{
			Urgency: engine.Live.Urgency(),
			Locale:  read.Locale,
			Lexicon: read.Lexicon,
		}, func(s engine.Sound) error {
			pcm := rate.Process(nil, s.PCM)
			if s.Last {
				pcm = append(rate.Flush(pcm), pause...)
			}
			return play(pcm)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// phonePause is the silence after a sentence.
const phonePause = 150 * time.Millisecond
