package appliance

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engines"
	"parley/appliance/openai"
	"parley/appliance/voices"
)

// openAIAPI is OpenAI's API: its routes are open before the models are loaded, and answer 503
// until then.
type openAIAPI struct {
	service atomic.Pointer[openai.Service]
	voices  voices.Voices
}

// startOpenAI lets requests of OpenAI's API in.
func (a *appliance) startOpenAI(live, recordings *analysis.Analyser) {
	a.openAI.service.Store(openai.New(openai.Parts{
		LanguageModels: a.namedModels(),
		Live:           live,
		Recordings:     recordings,
		LiveName:       a.cfg.Engines.Transcriber,
		Chatting:       func() bool { return a.host.Running() > 0 },
	}))
}

// namedModels returns the language models of the box, the default first, with their names and
// those of their routes.
func (a *appliance) namedModels() []openai.LanguageModel {
	all := []openai.LanguageModel{{LanguageModel: a.engines.Model}}
	for _, entry := range (engines.Catalogue{Config: a.cfg}).LanguageModels().LanguageModels {
		if entry.Resource == "" { // a route of all models of a provider
			continue
		}
		named := contract.LanguageModel{Provider: entry.Provider, Resource: entry.Resource}
		model, found := a.engines.LanguageModel(named)
		if !found {
			continue
		}
		if entry.Default && entry.Provider == contract.ProviderBox {
			all[0].Names = append(all[0].Names, entry.Resource)
		} else {
			all = append(all, openai.LanguageModel{Names: []string{entry.Resource}, LanguageModel: model})
		}
	}
	return all
}

func (o *openAIAPI) open() (*openai.Service, error) {
	service := o.service.Load()
	if service == nil {
		return nil, errLoading
	}
	return service, nil
}

// Models lists the names of all models.
func (o *openAIAPI) Models() ([]string, error) {
	service, err := o.open()
	if err != nil {
		return nil, err
	}
	return service.Models(), nil
}

// CheckSpeech returns an error unless a model speaks.
func (o *openAIAPI) CheckSpeech(model string) error {
	service, err := o.open()
	if err != nil {
		return err
	}
	return service.CheckSpeech(model)
}

// Voice returns the voice that a name or an id means for an account.
func (o *openAIAPI) Voice(ctx context.Context, account, name string) (contract.VoiceRef, error) {
	found, err := o.voices.FindOpenAI(ctx, account, name)
	return contract.VoiceRef{ID: found.ID, Provider: found.Provider}, err
}

// modelRetry is the Retry-After while too many requests wait for a language model.
const modelRetry = 5 * time.Second

// Chat writes the next message of a conversation.
func (o *openAIAPI) Chat(ctx context.Context, account string, p contract.PostedOpenAIChat,
	emit func(engine.Part) error) (openai.Message, error) {
	service, err := o.open()
	if err != nil {
		return openai.Message{}, err
	}
	m, err := service.Chat(ctx, account, p, emit)
	if errors.Is(err, llama.ErrBusy) {
		err = contract.ErrFull{What: "too many requests wait for the language model", RetryAfter: modelRetry}
	}
	return m, err
}

// Transcribe transcribes a recording.
func (o *openAIAPI) Transcribe(ctx context.Context, account string, p contract.PostedOpenAITranscription,
	sound openai.Sound, found func(text string) error) (openai.Transcript, error) {
	service, err := o.open()
	if err != nil {
		return openai.Transcript{}, err
	}
	return service.Transcribe(ctx, account, p, sound, found)
}
