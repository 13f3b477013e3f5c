package api

import (
	"fmt"
	"slices"

	"parley/appliance/contract"
	"parley/store"
)

// Plugins knows the tools that the plugins of the box bring.
type Plugins interface {
	// PluginTools are all of them, each with its plugin, always in the same order.
	// They belong to every account.
	PluginTools() []contract.ReturnUserDefinedTool
}

// installedTools are the tools of plugins, which stand among the account's own, have one
// version, and cannot be changed here.
type installedTools struct{ plugins Plugins }

// all are those of a name, or all where that is empty.
func (b installedTools) all(name string) []contract.ReturnUserDefinedTool {
	if b.plugins == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.plugins.PluginTools()), func(t contract.ReturnUserDefinedTool) bool {
		return name != "" && t.Name != name
	})
}

// find returns the tool of an id.
func (b installedTools) find(id string) (contract.ReturnUserDefinedTool, bool) {
	all := b.all("")
	i := slices.IndexFunc(all, func(t contract.ReturnUserDefinedTool) bool { return t.ID == id })
	if i < 0 {
		return contract.ReturnUserDefinedTool{}, false
	}
	return all[i], true
}

// resolve is the tool that a config refers to, in the version that it names.
func (b installedTools) resolve(ref store.Ref) (contract.ReturnUserDefinedTool, bool) {
	if ref.Kind != store.KindTool || ref.Version > 0 {
		return contract.ReturnUserDefinedTool{}, false
	}
	return b.find(ref.ID)
}

// readOnly is what somebody is told who would change a tool of a plugin.
func readOnly(t contract.ReturnUserDefinedTool) error {
	return contract.ErrForbidden{Why: fmt.Sprintf("the tool %q is brought by the plugin %q and is read-only here; "+
		"who runs the box changes it with: parley plugin set, upgrade or remove %s", t.Name, t.Plugin, t.Plugin)}
}

// pageAfter are the records of a page that come after those of the store: all
// that there are of the store come first.
func pageAfter[R any](more []R, page store.Page, stored, onPage int) []R {
	first := max(0, page.Number*page.Size-stored)
	if first >= len(more) {
		return nil
	}
	return more[first:min(len(more), first+page.Size-onPage)]
}
