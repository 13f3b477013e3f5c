package appliance

import (
	"cmp"
	"context"
	"strings"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// catalogue is what a config may name: the voices and language models of the box.
type catalogue struct{ cfg config.Config }

// FindVoice looks for the voice by its id, which is that of its pack, or by its
// name, which is the same without "voice-". All voices are of the box's own
// library; who asks for one of another provider asks for none of them.
func (c catalogue) FindVoice(_ context.Context, _ string, ref contract.VoiceRef) (contract.ReturnVoice, error) {
	for _, pack := range c.cfg.Voices() {
		name := strings.TrimPrefix(pack, config.VoicePrefix)
		byID := ref.ID == pack || ref.ID == "" && ref.Name == pack
		if (byID || ref.ID == "" && ref.Name == name) && ref.Provider != contract.VoiceCustom {
			return contract.ReturnVoice{ID: pack, Name: name, Provider: contract.VoiceLibrary}, nil
		}
	}
	return contract.ReturnVoice{}, contract.ErrNotFound{What: "voice", ID: cmp.Or(ref.ID, ref.Name)}
}

// LanguageModels lists the default model, the embedded ones by their own names,
// and the routes in the order in which they are tried. The address of a server
// is the operator's business alone.
func (c catalogue) LanguageModels() contract.ReturnLanguageModels {
	list := contract.ReturnLanguageModels{StrictModels: c.cfg.StrictModels}
	tools := []contract.BuiltInTool{contract.HangUp}
	if c.cfg.WebSearch != "" {
		tools = append(tools, contract.WebSearch)
	}
	listed := map[string]bool{}
	add := func(provider contract.ModelProvider, resource string, m config.LanguageModel) {
		list.LanguageModels = append(list.LanguageModels, contract.LanguageModelEntry{
			Provider: provider, Resource: resource, ServedBy: m.Name(), Embedded: m.OpenAI == "",
			Default: m == c.cfg.Engines.LanguageModel, BuiltinTools: tools,
		})
	}
	for _, m := range c.cfg.Models() {
		if name := m.Name(); !listed[name] {
			listed[name] = true
			add(contract.ProviderOwn, name, m)
		}
	}
	for _, r := range c.cfg.Routes {
		add(r.Provider, r.Model, r.To)
	}
	return list
}
