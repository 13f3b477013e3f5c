package registry

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"parley/internal/signing"
	"parley/plugins/manifest"
	"parley/store"
)

// State is the state of an installed plugin.
type State string

// The states of plugins.
const (
	Ready      State = "ready"
	Incomplete State = "incomplete" // a required setting has no value
	Broken     State = "broken"     // paused after several failures in a row
	Stopped    State = "stopped"    // its files, its signature or its secrets are not valid
)

// States returns all states.
func States() []State { return []State{Ready, Incomplete, Broken, Stopped} }

// Info describes an installed plugin. It contains no secret.
type Info struct {
	store.Plugin
	Manifest    manifest.Manifest
	Trusted     bool // signed by a key that the box trusts
	State       State
	Why         string // the reason, if it is not ready
	Granted     []Permission
	Denied      []Permission // requested by the manifest and not granted
	Settings    []Setting
	StoredBytes int64 // bytes that it stores, for all accounts
}

// Setting is a setting of a plugin and its value.
type Setting struct {
	manifest.Setting
	IsSet bool
	Value string // the value or the default; empty for a secret
}

// List describes all plugins, by name.
func (s *Registry) List(ctx context.Context) ([]Info, error) {
	rows, err := s.Records.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Info, 0, len(rows))
	for _, row := range rows {
		i, err := s.describe(ctx, row)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// Show describes one plugin.
func (s *Registry) Show(ctx context.Context, name string) (Info, error) {
	row, err := s.Records.Plugin(ctx, name)
	if err != nil {
		return Info{}, storeError(name, err)
	}
	return s.describe(ctx, row)
}

func (s *Registry) describe(ctx context.Context, row store.Plugin) (Info, error) {
	m, granted, err := readManifest(row)
	if err != nil {
		return Info{}, err
	}
	i := Info{
		Plugin:   row,
		Manifest: m,
		Trusted:  s.Trust.Trusts(signing.Key(row.Signer)),
		Granted:  PermissionsOf(granted),
	}
	i.Denied = slices.DeleteFunc(PermissionsOf(m.Permissions), func(p Permission) bool {
		return slices.ContainsFunc(i.Granted, func(g Permission) bool { return g.Name == p.Name })
	})
	told, err := s.Records.PluginSettings(ctx, row.Name)
	if err != nil {
		return i, err
	}
	for _, setting := range m.Settings {
		one := Setting{Setting: setting, Value: setting.Default}
		for _, t := range told {
			if t.Name == setting.Name {
				one.IsSet, one.Value = true, t.Value
			}
		}
		i.Settings = append(i.Settings, one)
	}
	if i.StoredBytes, err = s.Records.PluginBytes(ctx, row.Name); err != nil {
		return i, err
	}
	i.State, i.Why = s.state(ctx, row, m, told)
	return i, nil
}

// state returns the state of a plugin, as far as it is known without loading the module,
// and the reason.
func (s *Registry) state(ctx context.Context, row store.Plugin, m manifest.Manifest, told []store.PluginSetting) (State,
	string) {
	if why := s.Trust.refuses(signing.Key(row.Signer)); why != "" {
		return Stopped, why
	}
	if _, err := os.Stat(s.folder.path(row.Digest, moduleName)); err != nil {
		return Stopped, fmt.Sprintf("its files are missing (%v): install it again, or restore a backup", reason(err))
	}
	if _, _, err := s.settings(ctx, row.Name, m); err != nil {
		return Stopped, err.Error()
	}
	if missing := unset(m, told); len(missing) > 0 {
		return Incomplete, fmt.Sprintf("required settings have no value (%s): parley plugin set %s %s=…",
			strings.Join(missing, ", "), row.Name, missing[0])
	}
	if row.BrokenMS != 0 {
		return Broken, row.BrokenError
	}
	return Ready, ""
}
