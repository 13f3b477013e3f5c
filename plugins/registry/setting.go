package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/plugins/manifest"
	"parley/store"
)

// minRedacted is the length of the shortest secret that is removed from logs. A secret of
// three letters would match parts of ordinary words.
const minRedacted = 4

// settings returns the values of a plugin's settings, or their defaults. redactor removes
// the secrets from a text. The error names a secret that cannot be decrypted, and the
// remedy.
func (s *Registry) settings(ctx context.Context, name string, m manifest.Manifest) (all map[string]string,
	hidden *strings.Replacer, err error) {
	all, hidden = map[string]string{}, strings.NewReplacer()
	told, err := s.Records.PluginSettings(ctx, name)
	if err != nil {
		return all, hidden, err
	}
	for _, setting := range m.Settings {
		if setting.Default != "" {
			all[setting.Name] = setting.Default
		}
	}
	var pairs []string
	for _, t := range told {
		all[t.Name] = t.Value
		if t.Sealed == nil {
			continue
		}
		secret, e := s.vault.open(name, t.Name, t.Sealed)
		if e != nil {
			delete(all, t.Name)
			err = errors.Join(err, unreadableSecret(name, t.Name, e))
			continue
		}
		if all[t.Name] = secret; len(secret) >= minRedacted {
			pairs = append(pairs, secret, "[secret "+t.Name+"]")
		}
	}
	return all, strings.NewReplacer(pairs...), err
}

// unreadableSecret returns the error for a secret that cannot be decrypted, with the
// remedy.
func unreadableSecret(plugin, setting string, why error) error {
	if errors.Is(why, errNoKey) {
		why = errors.New("the key that decrypts it is not in the data folder (backups do not include it)")
	}
	return fmt.Errorf("the secret %s cannot be read: %w. Set it again: parley plugin set %s %s=…", setting, why,
		plugin, setting)
}

// Set changes settings of a plugin, all of them or none. A nil value unsets a setting.
// Secrets are encrypted. Errors are ErrNotInstalled, ErrUnknown, ErrConflict, or those of
// the disk.
func (s *Registry) Set(ctx context.Context, name string, values map[string]*string) error {
	row, err := s.Records.Plugin(ctx, name)
	if err != nil {
		return storeError(name, err)
	}
	m, _, err := readManifest(row)
	if err != nil {
		return err
	}
	set, unset, err := s.seal(m, values)
	if err != nil {
		return err
	}
	return storeError(name, s.Records.SetPlugin(ctx, name, row.Digest, set, unset))
}

// seal checks the values of settings, and returns the rows that the store keeps.
func (s *Registry) seal(m manifest.Manifest, values map[string]*string) (set []store.PluginSetting, unset []string,
	err error) {
	for key, value := range values {
		setting, ok := m.Setting(key)
		if !ok {
			return nil, nil, ErrUnknown{"settings." + key,
				fmt.Sprintf("%s has no such setting: its settings are %s", m.Name, listed(settingNames(m)))}
		}
		if value == nil {
			unset = append(unset, key)
			continue
		}
		if err := setting.Check(*value); err != nil {
			return nil, nil, ErrUnknown{"settings." + key, strings.TrimPrefix(err.Error(), key+": ")}
		}
		one := store.PluginSetting{Name: key, Value: *value}
		if setting.Type == manifest.Secret {
			one.Value = ""
			if one.Sealed, err = s.vault.seal(m.Name, key, *value); err != nil {
				return nil, nil, err
			}
		}
		set = append(set, one)
	}
	return set, unset, nil
}

func settingNames(m manifest.Manifest) (names []string) {
	for _, s := range m.Settings {
		names = append(names, s.Name)
	}
	return names
}

// unset returns the required settings without a value.
func unset(m manifest.Manifest, told []store.PluginSetting) (names []string) {
	for _, s := range m.Settings {
		if s.Required && !slices.ContainsFunc(told, func(t store.PluginSetting) bool { return t.Name == s.Name }) {
			names = append(names, s.Name)
		}
	}
	return names
}
