package engines

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/remote"
	"parley/firmware/packs"
	"parley/internal/layout"
)

// openModels opens the default language model and those of the routes, one after the other, since
// two at once would only slow each other down.
func (e *Set) openModels(ctx context.Context) error {
	e.models = map[config.LanguageModel]engine.LanguageModel{}
	for _, m := range e.cfg.Models() {
		opened, err := e.openModel(ctx, m)
		if err != nil {
			return err
		}
		e.models[m] = opened
	}
	e.Model = e.models[e.cfg.Engines.LanguageModel]
	return nil
}

// LanguageModel returns the model for a config that names one. If the box has no route for it, it
// returns the default model and false.
func (e *Set) LanguageModel(named contract.LanguageModel) (engine.LanguageModel, bool) {
	m, found := e.cfg.ModelFor(named)
	return e.models[m], found
}

// Fallback returns the models that answer, in order, when another one fails.
func (e *Set) Fallback() []engine.LanguageModel {
	models := make([]engine.LanguageModel, len(e.cfg.Fallback))
	for i, m := range e.cfg.Fallback {
		models[i] = e.models[m]
	}
	return models
}

// CustomModel returns the custom language model at a URL, for one chat.
func (e *Set) CustomModel(url string) (engine.LanguageModel, error) {
	return remote.OpenCustom(remote.CustomOptions{URL: url, Allowed: e.cfg.CustomModels.Allow})
}

func (e *Set) openModel(ctx context.Context, m config.LanguageModel) (engine.LanguageModel, error) {
	if m.OpenAI != "" {
		return e.openRemote(ctx, m)
	}
	model, err := llama.Open(llama.Options{
		LibraryDir:    e.cfg.Pack("runtime-llama"),
		ModelPath:     filepath.Join(e.cfg.Pack(m.Pack), "model.gguf"),
		Gate:          e.Gate,
		Threads:       min(2, e.Gate.Cores()), // more threads do not make a small model faster
		PromptDir:     filepath.Join(e.cfg.Data, layout.Prompts),
		ResultTokens:  e.cfg.Tools.AnswerTokens,
		Conversations: min(max(e.cfg.MaxChats(), 1), llama.MaxConversations),
		Log:           e.log,
	})
	if err != nil {
		return nil, err
	}
	e.onClose(model.Close)
	return model, e.warm(ctx, m.Pack, model)
}

// openRemote opens a model on servers.
func (e *Set) openRemote(ctx context.Context, m config.LanguageModel) (engine.LanguageModel, error) {
	servers, err := serverOptions(m.Servers())
	if err != nil {
		return nil, err
	}
	model, err := remote.OpenModels(servers, len(e.cfg.Fallback) > 0, e.poolOptions())
	if err != nil {
		return nil, err
	}
	e.onClose(model.Close)
	e.addPool(model)
	return model, e.warmServers(ctx, model, "chats fail until it does")
}

// checkModels returns an error with the available language models if a configured one is neither
// installed nor available. It wraps a *packs.ErrNoPack.
func checkModels(cfg config.Config, which Selection) error {
	if which&Thinking == 0 {
		return nil
	}
	var have []string
	for _, p := range append(packs.BuiltIn(), packs.Custom(cfg.Packs)...) {
		if p.Kind == packs.LanguageModel {
			have = append(have, p.Name)
		}
	}
	for _, m := range cfg.Models() {
		if m.OpenAI != "" || slices.Contains(have, m.Pack) {
			continue
		}
		err := error(&packs.ErrNoPack{What: "language model", Name: m.Pack, Have: have})
		if near := config.Nearest(m.Pack, have); near != "" {
			return fmt.Errorf("%w (did you mean %s?)", err, near)
		}
		return fmt.Errorf("%w, or add one of your own with: parley packs add FILE.gguf --as NAME", err)
	}
	return nil
}
