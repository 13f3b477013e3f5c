package plugins

import (
	"context"
	"log/slog"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/internal/signing"
	"parley/plugins/author"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/store"
)

// OpenRegistry opens the registry of plugins with the settings of the box. The caller
// closes it before the database.
func OpenRegistry(cfg config.Config, records *store.Store, log *slog.Logger) *registry.Registry {
	return registry.Open(registryParts(cfg, records, log))
}

func registryParts(cfg config.Config, records *store.Store, log *slog.Logger) registry.Parts {
	p := registry.Parts{
		Records: records,
		Data:    cfg.Data,
		Log:     log,
		Trust:   registry.Trust{Required: cfg.PluginSignatures.Required},
	}
	p.Check = func(ctx context.Context, p registry.Package) error {
		return author.Check(ctx, p.Manifest, p.Wasm, p.Tests)
	}
	for _, key := range cfg.PluginSignatures.Keys {
		p.Trust.Keys = append(p.Trust.Keys, signing.Key(key))
	}
	return p
}

// Record returns the record of a plugin, for clients and commands.
func Record(i registry.Info) contract.ReturnPlugin {
	m := i.Manifest
	r := contract.ReturnPlugin{
		Name:        i.Name,
		Version:     i.Version,
		Description: m.Description,
		License:     m.License,
		State:       contract.PluginState(i.State),
		Why:         i.Why,
		Digest:      i.Digest,
		SignedBy:    i.Signer,
		Trusted:     i.Trusted,
		Tools:       []contract.PluginTool{},
		Hooks:       m.Hooks,
		Granted:     permissions(i.Granted),
		Denied:      permissions(i.Denied),
		Settings:    []contract.PluginSetting{},
		KeepsBytes:  i.StoredBytes,
		Upgrades:    i.Upgrades,
		InstalledOn: i.InstalledMS,
		ChangedOn:   i.ChangedMS,
		BrokenSince: i.BrokenMS,
		RetryOn:     i.RetryMS,
	}
	for _, t := range m.Tools {
		r.Tools = append(r.Tools, contract.PluginTool{
			ID:              registry.ToolID(i.Name, t.Name),
			Name:            t.Name,
			Description:     t.Description,
			Parameters:      t.Parameters,
			FallbackContent: t.FallbackContent,
			TimeoutMS:       t.Timeout.Milliseconds(),
		})
	}
	for _, s := range i.Settings {
		one := contract.PluginSetting{
			Name:        s.Name,
			Type:        string(s.Type),
			Description: s.Description,
			Required:    s.Required,
			IsSet:       s.IsSet,
			Value:       s.Value,
		}
		if s.Type == manifest.Secret {
			one.Value = ""
		}
		r.Settings = append(r.Settings, one)
	}
	return r
}

func permissions(all []registry.Permission) []contract.PluginPermission {
	out := make([]contract.PluginPermission, 0, len(all))
	for _, p := range all {
		out = append(out, contract.PluginPermission{Name: p.Name, Words: p.Words})
	}
	return out
}
