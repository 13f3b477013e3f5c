package appliance

import (
	"parley/appliance/config"
	"parley/appliance/contract"
)

// catalogue is which language models a config may name.
type catalogue struct{ cfg config.Config }

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
