package api

import (
	"fmt"
	"slices"

	"parley/appliance/contract"
	"parley/store"
)

// Plugins lists the tools of the installed plugins.
type Plugins interface {
	// PluginTools returns all of them, each with its plugin, always in the same
	// order. They belong to every account.
	PluginTools() []contract.ReturnUserDefinedTool
}

// installedTools are the tools of plugins. They are listed with the account's
// tools, have one version, and are read-only.
type installedTools struct{ plugins Plugins }

// all returns the tools with a name, or all of them for an empty name.
func (b installedTools) all(name string) []contract.ReturnUserDefinedTool {
	if b.plugins == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.plugins.PluginTools()), func(t contract.ReturnUserDefinedTool) bool {
		return name != "" && t.Name != name
	})
}

// find returns the tool with an id.
func (b installedTools) find(id string) (contract.ReturnUserDefinedTool, bool) {
	all := b.all("")
	i := slices.IndexFunc(all, func(t contract.ReturnUserDefinedTool) bool { return t.ID == id })
	if i < 0 {
		return contract.ReturnUserDefinedTool{}, false
	}
	return all[i], true
}

// resolve returns the tool that a config refers to.
func (b installedTools) resolve(ref store.Ref) (contract.ReturnUserDefinedTool, bool) {
	if ref.Kind != store.KindTool || ref.Version > 0 {
		return contract.ReturnUserDefinedTool{}, false
	}
	return b.find(ref.ID)
}

// readOnly returns the error for an attempt to change a tool of a plugin.
func readOnly(t contract.ReturnUserDefinedTool) error {
	return contract.ErrForbidden{Why: fmt.Sprintf("the tool %q belongs to the plugin %q and is read-only here; "+
		"the operator changes it with: parley plugin set, upgrade or remove %s", t.Name, t.Plugin, t.Plugin)}
}

// pageAfter returns the records of more on a page of a list that begins with the
// stored records.
func pageAfter[R any](more []R, page store.Page, stored, onPage int) []R {
	first := max(0, page.Number*page.Size-stored)
	if first >= len(more) {
		return nil
	}
	return more[first:min(len(more), first+page.Size-onPage)]
}
