package api

import (
	"context"
	"net/http"
	"slices"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/openai"
)

// OpenAI answers requests of OpenAI's API. The errors are those of package contract.
type OpenAI interface {
	// Models lists the names of all models.
	Models() ([]string, error)
	// CheckSpeech returns an error unless a model speaks.
	CheckSpeech(model string) error
	// Voice returns the voice that a name or an id means for an account.
	Voice(ctx context.Context, account, name string) (contract.VoiceRef, error)
	// Chat writes the next message of a conversation.
	Chat(ctx context.Context, account string, p contract.PostedOpenAIChat,
		emit func(engine.Part) error) (openai.Message, error)
	// Transcribe transcribes a recording.
	Transcribe(ctx context.Context, account string, p contract.PostedOpenAITranscription, sound openai.Sound,
		found func(text string) error) (openai.Transcript, error)
}

// openAIModels lists the models.
func (a *API) openAIModels(w http.ResponseWriter, _ *http.Request, _ caller) error {
	names, err := a.OpenAI.Models()
	if err != nil {
		return err
	}
	list := contract.OpenAIModels{Object: "list", Data: []contract.OpenAIModel{}}
	for _, name := range names {
		list.Data = append(list.Data, openAIModel(name))
	}
	a.reply(w, http.StatusOK, list)
	return nil
}

// openAIModelNamed returns one model.
func (a *API) openAIModelNamed(w http.ResponseWriter, r *http.Request, _ caller) error {
	names, err := a.OpenAI.Models()
	if err != nil {
		return err
	}
	name := r.PathValue("model")
	if !slices.Contains(names, name) {
		return contract.ErrNotFound{What: "model", ID: name, Field: "model", Hint: "GET /v1/models lists those that " +
			"there are"}
	}
	a.reply(w, http.StatusOK, openAIModel(name))
	return nil
}

// modelsSince is the time that the list of models gives for all of them, since clients require one: 2026-01-01.
const modelsSince = 1767225600

func openAIModel(name string) contract.OpenAIModel {
	return contract.OpenAIModel{
		ID:      name,
		Object:  "model",
		Created: modelsSince,
		OwnedBy: "parley",
	}
}

// ifOpenAI returns a handler that answers 503 on a box without engines, as in tests.
func (a *API) ifOpenAI(handle handler) handler {
	return available(func() bool { return a.OpenAI != nil }, "this box has no engines", handle)
}
