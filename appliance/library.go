package appliance

import (
	"cmp"
	"context"
	"strings"

	"parley/appliance/chat"
	"parley/appliance/contract"
)

// library is what a config may name: the voices and language models of the box.
type library struct{ cfg Config }

// FindVoice looks for the voice by its id, which is that of its pack, or by its
// name, which is the same without "voice-". All voices are of the box's own
// library; who asks for one of another provider asks for none of them.
func (l library) FindVoice(_ context.Context, _ string, ref contract.VoiceRef) (contract.ReturnVoice, error) {
	for _, pack := range l.cfg.voices() {
		name := strings.TrimPrefix(pack, voicePrefix)
		byID := ref.ID == pack || ref.ID == "" && ref.Name == pack
		if (byID || ref.ID == "" && ref.Name == name) && ref.Provider != contract.VoiceCustom {
			return contract.ReturnVoice{ID: pack, Name: name, Provider: contract.VoiceLibrary}, nil
		}
	}
	return contract.ReturnVoice{}, contract.ErrNotFound{What: "voice", ID: cmp.Or(ref.ID, ref.Name)}
}

// LanguageModels lists the default model, the embedded ones by their own names,
// and the routes in the order in which they are tried.
func (l library) LanguageModels() contract.ReturnLanguageModels {
	list := contract.ReturnLanguageModels{StrictModels: l.cfg.StrictModels}
	listed := map[string]bool{}
	add := func(provider contract.ModelProvider, resource string, m LanguageModelConfig) {
		list.LanguageModels = append(list.LanguageModels, contract.LanguageModelEntry{
			Provider: provider, Resource: resource, ServedBy: m.described(), Embedded: m.OpenAI == "",
			Default: m == l.cfg.Engines.LanguageModel, BuiltinTools: chat.BuiltinTools(),
		})
	}
	for _, m := range l.cfg.models() {
		if name := m.name(); !listed[name] {
			listed[name] = true
			add(contract.ProviderOwn, name, m)
		}
	}
	for _, r := range l.cfg.Routes {
		add(r.Provider, r.Model, r.To)
	}
	return list
}
