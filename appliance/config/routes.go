package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"parley/appliance/contract"
)

// Route sends chats whose config names a language model to a model that the box has.
type Route struct {
	Provider contract.ModelProvider // or anyModel
	Model    string                 // or anyModel
	To       LanguageModel
}

// anyModel in a route stands for all providers, or all models of a provider.
const anyModel = "*"

// maxRoutes is far more than there are models to name, and few enough to search when a chat
// starts.
const maxRoutes = 1000

// matches reports whether the route applies to a model.
func (r Route) matches(m contract.LanguageModel) bool {
	return (r.Provider == anyModel || r.Provider == m.Provider) && (r.Model == anyModel || r.Model == m.Resource)
}

// setRoutes parses routes: PROVIDER/MODEL=TO, with commas. TO is the pack of an embedded
// model, or one or several servers as URL|MODEL or URL|MODEL|KEY_ENV, with commas.
func setRoutes(c *Config, g assignment) error {
	c.Routes = nil
	for text := range splitList(g.value) {
		if n := len(c.Routes); n > 0 && isURL(text) { // another server of the route before it
			if err := c.Routes[n-1].To.add(text); err != nil {
				return fmt.Errorf("to: %w", err)
			}
			continue
		}
		r, err := parseRoute(text)
		if err != nil {
			return err
		}
		if c.Routes = append(c.Routes, r); len(c.Routes) > maxRoutes {
			return fmt.Errorf("there are more than %d routes: one with the model * takes all of a provider", maxRoutes)
		}
	}
	return nil
}

func parseRoute(text string) (Route, error) {
	from, to, ok := strings.Cut(text, "=")
	provider, model, ok2 := strings.Cut(from, "/")
	if !ok || !ok2 || model == "" || len(model) > contract.MaxModelResourceChars {
		return Route{}, fmt.Errorf("%.80q is not a route: use PROVIDER/MODEL=TO, such as OPEN_AI/gpt-4o=llm-qwen, or "+
			"a list of maps with provider, model and to in the file", text)
	}
	r := Route{Provider: contract.ModelProvider(provider), Model: model}
	allowed := slices.DeleteFunc(contract.ModelProviders(), func(p contract.ModelProvider) bool {
		return p == contract.ProviderCustom
	})
	if r.Provider != anyModel && !slices.Contains(allowed, r.Provider) {
		return r, fmt.Errorf("%.80q is not a provider: use one of %v, or *", provider, allowed)
	}
	var err error
	if r.To, err = parseModel(to); err != nil {
		return r, fmt.Errorf("to: %w", err)
	}
	return r, nil
}

// parseModel parses a model: a pack, or a server as URL|MODEL or URL|MODEL|KEY_ENV.
func parseModel(text string) (m LanguageModel, err error) {
	if !isServer(text) {
		m.Pack, err = packName(text)
		return m, err
	}
	s, err := parseServer(text)
	return LanguageModel{OpenAI: s.URL, Model: s.Model, KeyEnv: s.KeyEnv}, err
}

// maxFallback is as many as can be tried before a caller hangs up.
const maxFallback = contract.MaxFallback

// setFallback parses models with commas, each as in a route.
func setFallback(c *Config, g assignment) error {
	c.Fallback = nil
	for text := range splitList(g.value) {
		m, err := parseModel(text)
		if err != nil {
			return err
		}
		if c.Fallback = append(c.Fallback, m); len(c.Fallback) > maxFallback {
			return fmt.Errorf("there are more than %d", maxFallback)
		}
	}
	return nil
}

// item returns an item of a list in the file as text. A route or a server may be a map.
func (r *fileReader) item(key string, n ast.Node) (string, error) {
	m, isMap := n.(ast.MapNode)
	switch {
	case isMap && key == "routes":
		f, err := r.plainMap(m, "provider", "model", "to")
		return f["provider"] + "/" + f["model"] + "=" + f["to"], err
	case key == "to" && n != nil && n.Type() == ast.SequenceType: // several servers
		return r.items(key, n.(*ast.SequenceNode))
	case isMap && (key == "fallback" || key == "to" || key == languageModel || key == transcriber):
		f, err := r.plainMap(m, "openai", "model", "key_env")
		return strings.TrimSuffix(f["openai"]+"|"+f["model"]+"|"+f["key_env"], "|"), err
	case n == nil || n.Type() == ast.NullType:
		return "", nil
	}
	return r.scalar("", n)
}

// plainMap reads a map that may have these keys only.
func (r *fileReader) plainMap(m ast.MapNode, keys ...string) (map[string]string, error) {
	fields := map[string]string{}
	for entry := m.MapRange(); entry.Next(); {
		key := entry.Key().GetToken().Value
		if !slices.Contains(keys, key) {
			return nil, r.errorf(entry.Key(), "unknown key %s: allowed here are %s", key, strings.Join(keys, ", "))
		}
		text, err := r.item(key, entry.Value())
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(text, ",|=") && key != "to" {
			return nil, r.errorf(entry.Value(), "%s: %.80q has one of the characters , | =", key, text)
		}
		fields[key] = text
	}
	return fields, nil
}

// Models returns the models that the box opens, each once: the default, and those of the
// routes and of the fallback.
func (c Config) Models() []LanguageModel {
	all := []LanguageModel{c.Engines.LanguageModel}
	for _, r := range c.Routes {
		if !slices.Contains(all, r.To) {
			all = append(all, r.To)
		}
	}
	for _, m := range c.Fallback {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// ModelFor returns the model that answers for a model that a config names: the box's model
// of that name, or else that of the first route that matches. If there is neither, it
// returns the default and false.
func (c Config) ModelFor(m contract.LanguageModel) (LanguageModel, bool) {
	if m.Provider == contract.ProviderBox || m.Provider == "" {
		for _, model := range c.Models() {
			if m.Resource == model.Name() {
				return model, true
			}
		}
	}
	for _, r := range c.Routes {
		if r.matches(m) {
			return r.To, true
		}
	}
	return c.Engines.LanguageModel, false
}

// Name returns the name that configs use for the model.
func (m LanguageModel) Name() string {
	if m.OpenAI != "" {
		return m.Model
	}
	return m.Pack
}
