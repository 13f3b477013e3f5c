package appliance

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/expression"
	"parley/appliance/line/ws"
	"parley/appliance/metrics"
	"parley/appliance/speech"
	"parley/appliance/text"
	"parley/appliance/voices"
)

// speechAPI is text-to-speech for the API: its routes are open before the
// voices are loaded, and answer 503 until then.
type speechAPI struct {
	service atomic.Pointer[speech.Service]
	lines   *ws.Server
	stop    context.Context // ends with the box
}

// startSpeech opens text-to-speech over the engines, and lets its requests in.
func (a *appliance) startSpeech(ctx context.Context) {
	a.voices.WarnOfAliases(ctx, a.log)
	a.speech.service.Store(speech.New(speech.Parts{
		Voices:        voices.ForSpeech{Voices: a.voices, Engines: a.engines},
		Pronunciation: a.lexicons.Options,
		Ear: speech.Ear{
			Detector:    a.engines.Detector,
			Transcriber: a.engines.Transcriber,
			Languages:   engines.TranscriberLanguages(a.cfg),
		},
		Records:   a.records,
		Retention: speech.Retention{Newest: a.cfg.Speech.Generations, Texts: a.cfg.Retention.History},
		Observe:   metrics.Speech{Metrics: a.figures},
		Log:       a.log,
	}))
}

// ServeInput serves a socket whose client sends text and gets speech.
func (s *speechAPI) ServeInput(w http.ResponseWriter, r *http.Request, account string,
	auth connection.Authorization) error {
	reserve := func() (func(), error) {
		service, err := s.open()
		if err != nil {
			return nil, err
		}
		return service.ReserveSocket(account)
	}
	return s.lines.ServeSpeech(w, r, reserve, func(o ws.SpeechOpening) (ws.Speaker, error) {
		return s.service.Load().OpenInput(s.stop, account, o.RequestID, o.Connect, o.Line), nil
	}, auth)
}

// Begin starts a request.
func (s *speechAPI) Begin(ctx context.Context, a speech.Request) (*speech.Job, error) {
	service, err := s.open()
	if err != nil {
		return nil, err
	}
	return service.Begin(ctx, a)
}

// Convert starts a request that converts a recording to another voice.
func (s *speechAPI) Convert(ctx context.Context, a speech.ConversionRequest) (*speech.Job, error) {
	service, err := s.open()
	if err != nil {
		return nil, err
	}
	return service.Convert(ctx, a)
}

// Regenerate starts to synthesise an earlier generation again.
func (s *speechAPI) Regenerate(ctx context.Context, account, id string,
	format contract.AudioFormat) (*speech.Job, error) {
	service, err := s.open()
	if err != nil {
		return nil, err
	}
	return service.Regenerate(ctx, account, id, format)
}

func (s *speechAPI) open() (*speech.Service, error) {
	service := s.service.Load()
	if service == nil {
		return nil, errLoading
	}
	return service, nil
}

// OpenSpeech opens text-to-speech as the box has it, for a program that speaks for
// itself. It loads only the voice with that name or id, and with an empty name that
// of the settings. designed says that a description will make the voice: then
// nothing is loaded before the voice is known. Nothing that is spoken is stored. The
// errors are those of engines.Open; closeEngines gives the engines back.
func OpenSpeech(ctx context.Context, a voices.Account, name string, designed bool,
	log *slog.Logger) (service *speech.Service, closeEngines func() error, err error) {
	which := engines.Speaking
	all, cfg := a.Voices, a.Voices.Config
	if _, err := all.FindVoice(ctx, a.ID, contract.VoiceRef{Name: name}); err == nil || designed {
		which = engines.OnDemandVoices
	} else if name != "" {
		cfg.Engines.Voice = name // engines.Open reports what is wrong with it
	}
	opened, err := engines.Open(ctx, cfg, which|engines.OneShot, log)
	if err != nil {
		return nil, nil, err
	}
	pronunciation := func(context.Context, string) text.Options {
		return text.Options{Locale: cfg.Speech.Locale, Lexicon: cfg.Lexicon}
	}
	return speech.New(speech.Parts{
			Voices:        voices.ForSpeech{Voices: all, Engines: opened},
			Pronunciation: pronunciation,
			Log:           log,
		}),
		opened.Close, nil
}

// chatExpression returns what measures the feelings in chats, and nil if the
// settings turn that off.
func chatExpression(c config.Expression, m *expression.Meter) chat.Expression {
	if !c.Measured {
		return nil
	}
	return meter{m}
}

// meter is an expression.Meter with the types of package chat.
type meter struct{ *expression.Meter }

// NewVoice returns what measures one utterance.
func (m meter) NewVoice() chat.VoiceScorer { return utterance{m.NewSound()} }

type utterance struct{ *expression.Sound }

// Tone judges the sound so far.
func (u utterance) Tone() chat.Tone { return u.Sound.Tone() }
