package engines

import (
	"parley/appliance/config"
	"parley/appliance/contract"
)

// Catalogue lists the language models that a config may name.
type Catalogue struct{ Config config.Config }

// LanguageModels lists the default model, the embedded ones by their own names, and the routes in
// the order in which they are tried. It omits the addresses of servers, which only concern the
// operator.
func (c Catalogue) LanguageModels() contract.ReturnLanguageModels {
	list := contract.ReturnLanguageModels{StrictModels: c.Config.StrictModels}
	tools := []contract.BuiltInTool{contract.HangUp}
	if c.Config.WebSearch != "" {
		tools = append(tools, contract.WebSearch)
	}
	listed := map[string]bool{}
	add := func(provider contract.ModelProvider, resource string, m config.LanguageModel) {
		list.LanguageModels = append(list.LanguageModels, contract.LanguageModelEntry{
			Provider:     provider,
			Resource:     resource,
			ServedBy:     m.Name(),
			Embedded:     m.OpenAI == "",
			Default:      m == c.Config.Engines.LanguageModel,
			BuiltinTools: tools,
		})
	}
	for _, m := range c.Config.Models() {
		if name := m.Name(); !listed[name] {
			listed[name] = true
			add(contract.ProviderBox, name, m)
		}
	}
	for _, r := range c.Config.Routes {
		add(r.Provider, r.Model, r.To)
	}
	return list
}
