package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"parley/appliance/contract"
	"parley/store"
)

// configs returns the handlers of configs.
func (a *API) configs() versioned[contract.ReturnConfig] {
	return versioned[contract.ReturnConfig]{
		API:        a,
		kind:       store.KindConfig,
		parseName:  contract.Parse[contract.PostedName],
		parseFirst: parseVersions(a.firstConfigVersion),
		parseNext:  parseVersions(a.nextConfigVersion),
		records:    Configs{a.Records, a.versions, installedTools{a.Plugins}}.read,
		page: func(p contract.Paging, records []contract.ReturnConfig) any {
			return contract.ReturnPagedConfigs{Paging: p, ConfigsPage: records}
		},
	}
}

func (a *API) firstConfigVersion(
	r *http.Request, account string, c contract.PostedConfig,
) ([]store.NewVersion, error) {
	return a.configVersions(r.Context(), account, contract.NewID(), c.Name, c.PostedConfigVersion, true)
}

func (a *API) nextConfigVersion(
	r *http.Request, account string, c contract.PostedConfigVersion,
) ([]store.NewVersion, error) {
	name, err := a.Records.ResourceName(r.Context(), account, store.KindConfig, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return a.configVersions(r.Context(), account, r.PathValue("id"), name, c, false)
}

// configVersions returns a new version of a config and, before it, one of a new
// prompt if the body contains a prompt's text. The prompt gets the config's name.
func (a *API) configVersions(ctx context.Context, account, id, name string, c contract.PostedConfigVersion,
	isNew bool) ([]store.NewVersion, error) {
	var versions []store.NewVersion
	if c.Prompt != nil && c.Prompt.Text != "" {
		prompt, err := promptVersion(contract.NewID(), name,
			contract.PostedPromptVersion{Text: c.Prompt.Text, PromptExpansion: c.Prompt.PromptExpansion})
		if err != nil {
			return nil, err
		}
		versions = prompt
		c.Prompt = &contract.ConfigPrompt{ID: prompt[0].ID}
	}
	if c.Voice != nil {
		voice, err := a.Voices.FindVoice(ctx, account, *c.Voice)
		if err != nil {
			return nil, err
		}
		c.Voice = &contract.VoiceRef{ID: voice.ID, Name: voice.Name, Provider: voice.Provider}
	}
	if err := a.checkToolNames(ctx, account, c); err != nil {
		return nil, err
	}
	answers, err := answersText(c.Answers)
	if err != nil {
		return nil, err
	}
	description := c.VersionDescription
	c.VersionDescription, c.Answers = "", nil
	config, err := newVersion(store.KindConfig, id, "", description, c)
	config.Answers = answers
	if isNew {
		config.Name = name
	}
	config.Uses = slices.DeleteFunc(uses(c), func(ref store.Ref) bool {
		_, ok := installedTools{a.Plugins}.resolve(ref)
		return ok
	})
	return append(versions, config), err
}

// answersText returns approved answers as they are stored, or "" if there are none.
func answersText(a *contract.Answers) (string, error) {
	if a == nil {
		return "", nil
	}
	text, err := json.Marshal(a)
	return string(text), err
}

// checkToolNames returns an error if two tools of a config have the same name: a
// model calls a tool by its name.
func (a *API) checkToolNames(ctx context.Context, account string, c contract.PostedConfigVersion) error {
	found, err := a.Records.Resolve(ctx, account, toolRefs(c))
	if err != nil {
		return err
	}
	plugins, used := installedTools{a.Plugins}, map[string]bool{}
	for _, t := range c.BuiltinTools {
		used[string(t.Name)] = true
	}
	for i, ref := range toolRefs(c) {
		name := found[ref].Name
		if t, ok := plugins.resolve(ref); ok {
			name = t.Name
		} else if _, there := found[ref]; !there {
			return store.ErrMissing{Ref: ref}
		}
		if used[name] {
			return contract.ErrInvalid{Field: fmt.Sprintf("tools[%d]", i),
				Why: fmt.Sprintf("another tool of the config is also named %q; a model calls tools by their names",
					name)}
		}
		used[name] = true
	}
	return nil
}

// uses returns the versions that a config refers to.
func uses(c contract.PostedConfigVersion) []store.Ref {
	refs := toolRefs(c)
	if c.Prompt != nil {
		refs = append(refs, promptRef(*c.Prompt))
	}
	return refs
}

func promptRef(p contract.ConfigPrompt) store.Ref {
	return store.Ref{Kind: store.KindPrompt, ID: p.ID, Version: versionOrNewest(p.Version)}
}

func toolRefs(c contract.PostedConfigVersion) []store.Ref {
	var refs []store.Ref
	for _, t := range c.Tools {
		refs = append(refs, store.Ref{Kind: store.KindTool, ID: t.ID, Version: versionOrNewest(t.Version)})
	}
	return refs
}

func versionOrNewest(version *int) int {
	if version == nil {
		return store.Newest
	}
	return *version
}

func aboutConfigs() descriptions {
	return versionedNames{
		one:   "Config",
		many:  "Configs",
		first: "PostedConfig",
		next:  "PostedConfigVersion",
		name:  "PostedName",
		firstExample: `{"name":"Museum guide","evi_version":"4-mini","prompt":{"text":"You show visitors around. ` +
			`Answer briefly."}}`,
		nextExample:  `{"evi_version":"4-mini","version_description":"without a prompt"}`,
		record:       contract.ReturnConfig{},
		page:         contract.ReturnPagedConfigs{},
		firstRefuses: []int{404}, // a prompt, tool or voice that it names
	}.describe("/v0/evi/configs")
}
