package api

import (
	"context"
	"net/http"

	"parley/appliance/contract"
	"parley/store"
)

// tools returns the handlers of tools: those that the account's developers
// answer, and those of plugins.
func (a *API) tools() versioned[contract.ReturnUserDefinedTool] {
	installed := installedTools{a.Plugins}
	return versioned[contract.ReturnUserDefinedTool]{
		API:       a,
		kind:      store.KindTool,
		parseName: contract.ParsePostedToolName,
		parseFirst: parseVersions(func(r *http.Request, _ string, t contract.PostedUserDefinedTool) ([]store.NewVersion,
			error) {
			return toolVersion(contract.NewID(), t.Name, t.PostedUserDefinedToolVersion)
		}),
		parseNext: parseVersions(func(r *http.Request, _ string, t contract.PostedUserDefinedToolVersion) (
			[]store.NewVersion, error) {
			return toolVersion(r.PathValue("id"), "", t)
		}),
		records: func(_ context.Context, _ string, versions []store.Version) ([]contract.ReturnUserDefinedTool, error) {
			return each(versions, a.versions.tool)
		},
		page: func(p contract.Paging, records []contract.ReturnUserDefinedTool) any {
			return contract.ReturnPagedUserDefinedTools{Paging: p, ToolsPage: records}
		},
		extra:     installed.all,
		findExtra: installed.find,
		readOnly:  readOnly,
	}
}

func toolVersion(id, name string, t contract.PostedUserDefinedToolVersion) ([]store.NewVersion, error) {
	description := t.VersionDescription
	t.VersionDescription = ""
	d, err := newVersion(store.KindTool, id, name, description, t)
	return []store.NewVersion{d}, err
}

func (c *versionCache) tool(v store.Version) (contract.ReturnUserDefinedTool, error) {
	t, err := c.tools.parse(v)
	if err != nil {
		return contract.ReturnUserDefinedTool{}, err
	}
	return contract.ReturnUserDefinedTool{
		ToolType:           contract.RecordFunction,
		ID:                 v.ID,
		Version:            v.Number,
		VersionType:        contract.VersionFixed,
		Name:               v.Name,
		Parameters:         t.Parameters,
		Description:        t.Description,
		FallbackContent:    t.FallbackContent,
		VersionDescription: v.Description,
		CreatedOn:          v.CreatedMS,
		ModifiedOn:         v.ModifiedMS,
	}, nil
}

func aboutTools() descriptions {
	return versionedNames{
		one:   "Tool",
		many:  "Tools",
		first: "PostedUserDefinedTool",
		next:  "PostedUserDefinedToolVersion",
		name:  "PostedUserDefinedToolName",
		firstExample: `{"name":"opening_hours","description":"When the museum is ` +
			`open","parameters":"{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"string\"}}}"}`,
		nextExample: `{"parameters":"{\"type\":\"object\"}"}`,
		record:      contract.ReturnUserDefinedTool{},
		page:        contract.ReturnPagedUserDefinedTools{},
		more: "After the account's tools, the list has the tools of the box's plugins. They belong to every " +
			"account, have one version and are read-only.",
		changeRefuses: []int{403}, // a tool of a plugin
	}.describe("/v0/evi/tools")
}
