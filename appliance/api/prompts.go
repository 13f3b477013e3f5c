package api

import (
	"context"
	"net/http"

	"parley/appliance/contract"
	"parley/store"
)

// prompts returns the handlers of prompts.
func (a *API) prompts() versioned[contract.ReturnPrompt] {
	return versioned[contract.ReturnPrompt]{
		API:       a,
		kind:      store.KindPrompt,
		parseName: contract.Parse[contract.PostedName],
		parseFirst: parseVersions(func(r *http.Request, _ string, p contract.PostedPrompt) ([]store.NewVersion, error) {
			return promptVersion(contract.NewID(), p.Name, p.PostedPromptVersion)
		}),
		parseNext: parseVersions(func(r *http.Request, _ string, p contract.PostedPromptVersion) ([]store.NewVersion,
			error) {
			return promptVersion(r.PathValue("id"), "", p)
		}),
		records: func(_ context.Context, _ string, versions []store.Version) ([]contract.ReturnPrompt, error) {
			return each(versions, a.versions.prompt)
		},
		page: func(p contract.Paging, records []contract.ReturnPrompt) any {
			return contract.ReturnPagedPrompts{Paging: p, PromptsPage: records}
		},
	}
}

func promptVersion(id, name string, p contract.PostedPromptVersion) ([]store.NewVersion, error) {
	description := p.VersionDescription
	p.VersionDescription = ""
	d, err := newVersion(store.KindPrompt, id, name, description, p)
	return []store.NewVersion{d}, err
}

func (c *versionCache) prompt(v store.Version) (contract.ReturnPrompt, error) {
	p, err := c.prompts.parse(v)
	if err != nil {
		return contract.ReturnPrompt{}, err
	}
	return contract.ReturnPrompt{
		ID:                 v.ID,
		Version:            v.Number,
		VersionType:        contract.VersionFixed,
		Name:               v.Name,
		Text:               p.Text,
		VersionDescription: v.Description,
		PromptExpansion:    p.PromptExpansion,
		CreatedOn:          v.CreatedMS,
		ModifiedOn:         v.ModifiedMS,
	}, nil
}

// each returns the records of versions. It is never nil, because an empty list is
// [] on the wire.
func each[R any](versions []store.Version, record func(store.Version) (R, error)) ([]R, error) {
	records := make([]R, len(versions))
	for i, v := range versions {
		var err error
		if records[i], err = record(v); err != nil {
			return nil, err
		}
	}
	return records, nil
}

func aboutPrompts() descriptions {
	return versionedNames{
		one:          "Prompt",
		many:         "Prompts",
		first:        "PostedPrompt",
		next:         "PostedPromptVersion",
		name:         "PostedName",
		firstExample: `{"name":"Museum guide","text":"You show visitors around. Answer briefly."}`,
		nextExample:  `{"text":"You show children around.","version_description":"for children"}`,
		record:       contract.ReturnPrompt{},
		page:         contract.ReturnPagedPrompts{},
	}.describe("/v0/evi/prompts")
}
