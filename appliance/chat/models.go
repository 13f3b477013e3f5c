package chat

import (
	"fmt"
	"strings"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Models finds the language models that configs name.
type Models interface {
	// LanguageModel returns the named model. If there is no route to it, it returns the box's default and
	// false.
	LanguageModel(named contract.LanguageModel) (engine.LanguageModel, bool)
	// CustomModel returns the custom language model at a URL, for one chat. The error says what is wrong with
	// the URL.
	CustomModel(url string) (engine.LanguageModel, error)
	// Fallback returns the models that answer, one after the other, when a model fails and the config names
	// no fallback.
	Fallback() []engine.LanguageModel
}

// isCustom reports whether a config names a custom language model.
func isCustom(c contract.ReturnConfig) bool {
	return c.LanguageModel != nil && c.LanguageModel.Provider == contract.ProviderCustom
}

// modelOf finds the language model that a config names.
func (h *Host) modelOf(c contract.ReturnConfig, request string) (engine.LanguageModel, error) {
	if c.LanguageModel == nil {
		return h.Model, nil
	}
	return h.modelNamed(*c.LanguageModel, c.ID, request)
}

func (h *Host) modelNamed(named contract.LanguageModel, config, request string) (engine.LanguageModel, error) {
	switch {
	case named.Resource == "" && (named.Provider == "" || named.Provider == contract.ProviderBox):
		return h.Model, nil
	case named.Provider == contract.ProviderCustom:
		model, err := h.Models.CustomModel(named.Resource)
		if err != nil {
			return nil, contract.Fault{Code: contract.ModelUnavailable, Detail: "language_model: " + err.Error()}
		}
		return model, nil
	}
	model, found := h.Models.LanguageModel(named)
	if found {
		return model, nil
	}
	if h.StrictModels {
		return nil, contract.Fault{Code: contract.ModelUnavailable, Detail: fmt.Sprintf(
			"language_model: %q has no route here; GET /v0/evi/language-models lists those that have.",
			strings.TrimSpace(string(named.Provider)+" "+named.Resource))}
	}
	h.Log.Warn("a config names a language model that has no route; the default answers",
		"request", request, "config", config, "provider", named.Provider, "model", named.Resource)
	return model, nil
}

// fallbackOf returns the models that answer when a config's model fails: those that the config names,
// otherwise the box's. A custom language model has only the fallback that its developer has named.
func (h *Host) fallbackOf(
	c contract.ReturnConfig, model engine.LanguageModel, request string,
) ([]reply.Fallback, error) {
	if c.LanguageModel == nil || c.LanguageModel.Fallback == nil {
		if isCustom(c) {
			return nil, nil
		}
		return h.boxFallback(model), nil
	}
	all := h.continuing(model)
	for _, ref := range c.LanguageModel.Fallback {
		next, err := h.modelNamed(contract.LanguageModel{Provider: ref.Provider, Resource: ref.Resource}, c.ID, request)
		if err != nil {
			return nil, err
		}
		f := reply.Fallback{Model: next, Throughput: reply.NewThroughput(), Prompt: h.Defaults.Prompt(time.Now())}
		if f.NoSpeculation = ref.Provider == contract.ProviderCustom; !f.NoSpeculation {
			f.Throughput = h.throughput(next)
		}
		all = append(all, f)
	}
	return all, nil
}

// boxFallback returns the box's fallback models other than the failing one.
func (h *Host) boxFallback(failing engine.LanguageModel) []reply.Fallback {
	all := h.continuing(failing)
	if h.Models == nil {
		return all
	}
	for _, next := range h.Models.Fallback() {
		if next != failing {
			all = append(all, reply.Fallback{Model: next, Throughput: h.throughput(next),
				Prompt: h.Defaults.Prompt(time.Now())})
		}
	}
	return all
}

// continuing returns the model itself if it runs on several servers, of which another one can continue an answer.
func (h *Host) continuing(failing engine.LanguageModel) []reply.Fallback {
	if p, is := failing.(interface{ Continues() bool }); !is || !p.Continues() {
		return nil
	}
	return []reply.Fallback{{Model: failing, Throughput: h.throughput(failing), OnlyContinues: true}}
}
