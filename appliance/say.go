package appliance

import (
	"context"
	"log/slog"

	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/speech"
	"parley/appliance/text"
	"parley/appliance/voices"
)

// OpenSpeech opens text-to-speech as the box has it, for a program that speaks for
// itself. voice is the name or id of the voice that will be asked for, which alone
// is loaded; empty is the voice of the settings. With designed there will be one
// that a description makes, and nothing is loaded until it is known. Nothing is kept
// of what is said. The errors are those of engines.Open; close gives the engines
// back.
func OpenSpeech(ctx context.Context, a voices.Account, name string, designed bool,
	log *slog.Logger) (service *speech.Service, close func() error, err error) {
	which := engines.Speaking
	all, cfg := a.Voices, a.Voices.Config
	if _, err := all.FindVoice(ctx, a.ID, contract.VoiceRef{Name: name}); err == nil || designed {
		which = engines.OnDemandVoices
	} else if name != "" {
		cfg.Engines.Voice = name // what is wrong with it is said where it is opened
	}
	opened, err := engines.Open(ctx, cfg, which|engines.OneShot, log)
	if err != nil {
		return nil, nil, err
	}
	reading := func(context.Context, string) text.Options {
		return text.Options{Locale: cfg.Speech.Locale, Lexicon: cfg.Lexicon}
	}
	return speech.New(speech.Parts{Voices: voices.ForSpeech{Voices: all, Engines: opened}, Reading: reading, Log: log}),
		opened.Close, nil
}
