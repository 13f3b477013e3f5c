package appliance

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"parley/appliance/api"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/line/ws"
	"parley/appliance/metrics"
	"parley/appliance/speech"
	"parley/appliance/text"
	"parley/appliance/voices"
)

// openSpeech opens text-to-speech over the engines of the box.
func openSpeech(cfg config.Config, opened *engines.Set, speakers voices.Voices,
	reading func(context.Context, string) text.Options, figures *metrics.Metrics, log *slog.Logger) *speech.Service {
	ear := speech.Ear{Detector: opened.Detector, Transcriber: opened.Transcriber,
		Languages: engines.TranscriberLanguages(cfg)}
	return speech.New(speech.Parts{
		Voices:  voices.ForSpeech{Voices: speakers, Engines: opened},
		Reading: reading,
		Ear:     ear,
		Records: speakers.Records,
		Keep:    speech.Keep{Newest: cfg.Speech.Keep, Texts: cfg.Retention.History},
		Observe: metrics.Speech{Metrics: figures},
		Log:     log,
	})
}

// speeches is text-to-speech as the API sees it: its paths are open before the
// voices are loaded.
type speeches struct {
	service atomic.Pointer[speech.Service]
	lines   *ws.Server
	stop    context.Context // ends with the box
}

// ServeInput carries a socket that speaks what it is sent.
func (s *speeches) ServeInput(w http.ResponseWriter, r *http.Request, account string, pass api.Pass) error {
	reserve := func() (func(), error) {
		if service := s.service.Load(); service != nil {
			return service.ReserveSocket(account)
		}
		return nil, stillLoading()
	}
	return s.lines.ServeSpeech(w, r, reserve, func(o ws.SpeechOpening) (ws.Speaker, error) {
		return s.service.Load().OpenInput(s.stop, account, o.RequestID, o.Connect, o.Line), nil
	}, pass)
}

// Begin begins a request.
func (s *speeches) Begin(ctx context.Context, a speech.Asked) (*speech.Job, error) {
	if service := s.service.Load(); service != nil {
		return service.Begin(ctx, a)
	}
	return nil, stillLoading()
}

// Convert begins a request with a recording.
func (s *speeches) Convert(ctx context.Context, a speech.AskedConversion) (*speech.Job, error) {
	if service := s.service.Load(); service != nil {
		return service.Convert(ctx, a)
	}
	return nil, stillLoading()
}

func stillLoading() error {
	return contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: warming}
}

// Again begins to make a generation again.
func (s *speeches) Again(ctx context.Context, account, id string, format contract.AudioFormat) (*speech.Job, error) {
	if service := s.service.Load(); service != nil {
		return service.Again(ctx, account, id, format)
	}
	return nil, stillLoading()
}
