package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"parley/appliance/contract"
	"parley/store"
)

// tools answers for the tools that an account's developers answer.
func (a *API) tools() versioned[contract.ReturnUserDefinedTool] {
	return versioned[contract.ReturnUserDefinedTool]{
		API: a, kind: store.KindTool, parseName: contract.ParsePostedToolName,
		draftFirst: func(r *http.Request, _ string) ([]store.Draft, error) {
			t, err := decode(r, contract.ParsePostedUserDefinedTool)
			if err != nil {
				return nil, err
			}
			return toolDraft(contract.NewID(), t.Name, t.PostedUserDefinedToolVersion)
		},
		draftNext: func(r *http.Request, _, id string) ([]store.Draft, error) {
			t, err := decode(r, contract.ParsePostedUserDefinedToolVersion)
			if err != nil {
				return nil, err
			}
			return toolDraft(id, "", t)
		},
		records: func(_ context.Context, _ string, versions []store.Version) ([]contract.ReturnUserDefinedTool, error) {
			return each(versions, toolRecord)
		},
		page: func(p contract.Paging, records []contract.ReturnUserDefinedTool) any {
			return contract.ReturnPagedUserDefinedTools{Paging: p, ToolsPage: records}
		},
	}
}

func toolDraft(id, name string, t contract.PostedUserDefinedToolVersion) ([]store.Draft, error) {
	description := t.VersionDescription
	t.VersionDescription = ""
	d, err := draft(store.KindTool, id, name, description, t)
	return []store.Draft{d}, err
}

func toolRecord(v store.Version) (contract.ReturnUserDefinedTool, error) {
	var t contract.PostedUserDefinedToolVersion
	if err := json.Unmarshal([]byte(v.Content), &t); err != nil {
		return contract.ReturnUserDefinedTool{}, fmt.Errorf("version %d of tool %s as it is stored: %w", v.Number, v.ID, err)
	}
	return contract.ReturnUserDefinedTool{
		ToolType: contract.RecordFunction, ID: v.ID, Version: v.Number, VersionType: contract.VersionFixed, Name: v.Name,
		Parameters: t.Parameters, Description: t.Description, FallbackContent: t.FallbackContent,
		VersionDescription: v.Description, CreatedOn: v.CreatedMS, ModifiedOn: v.ModifiedMS,
	}, nil
}
