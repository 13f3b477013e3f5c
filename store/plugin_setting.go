package store

import (
	"context"
	"errors"
	"slices"
	"time"
)

// PluginSetting is a setting of a plugin. The caller encrypts secrets: the store cannot
// read them.
type PluginSetting struct {
	Name   string
	Value  string // empty for a secret
	Sealed []byte // the encrypted secret; nil for other settings
}

// PluginSettings returns the settings of a plugin, ordered by name; none if there is no
// such plugin.
func (s *Store) PluginSettings(ctx context.Context, plugin string) ([]PluginSetting, error) {
	all, err := query(ctx, s.read, func(row scanner) (t PluginSetting, err error) {
		return t, row.Scan(&t.Name, &t.Value, &t.Sealed)
	}, `
		SELECT t.name, coalesce(t.value, ''), t.sealed FROM plugin p JOIN plugin_setting t ON t.plugin = p.num
		 WHERE p.name = ? ORDER BY t.name`, plugin)
	return all, explain("reading the settings of the plugin "+plugin, err)
}

// SetPlugin sets and unsets settings of a plugin with these files, all or none. The error
// is ErrNotFound if there is no such plugin, ErrConflict if its files have changed, ErrManaged if
// the hub has set them: of its plugins only secrets are set on the box.
func (s *Store) SetPlugin(ctx context.Context, plugin, digest string, set []PluginSetting, unset []string) error {
	return s.changePlugins(ctx, "changing the settings of the plugin "+plugin, func(ctx context.Context, c conn) error {
		if err := checkSecretsOnly(ctx, c, plugin, set, unset); err != nil {
			return err
		}
		if err := checkDigest(ctx, c, plugin, digest); err != nil {
			return err
		}
		for _, t := range set {
			var text any = t.Value
			if t.Sealed != nil {
				text = nil
			}
			if err := execute(ctx, c, `
				INSERT INTO plugin_setting (plugin, name, value, sealed) SELECT num, ?2, ?3, ?4 FROM plugin WHERE
				  name = ?1
				    ON CONFLICT (plugin, name) DO UPDATE SET value = excluded.value, sealed = excluded.sealed`, plugin,
				t.Name, text, t.Sealed); err != nil {
				return err
			}
		}
		for _, name := range unset {
			if err := execute(ctx, c,
				`DELETE FROM plugin_setting WHERE plugin = (SELECT num FROM plugin WHERE name = ?) AND name = ?`,
				plugin, name); err != nil {
				return err
			}
		}
		return changeOne(ctx, c, `UPDATE plugin SET changed_ms = max(?, changed_ms + 1), broken_ms = NULL, retry_ms `+
			`= NULL, broken_error = NULL WHERE name = ?`, time.Now().UnixMilli(), plugin)
	})
}

// checkSecretsOnly returns an ErrManaged if a plugin is the hub's and other settings than
// secrets would be changed.
func checkSecretsOnly(ctx context.Context, c conn, plugin string, set []PluginSetting, unset []string) error {
	open := slices.ContainsFunc(set, func(t PluginSetting) bool { return t.Sealed == nil })
	for _, name := range unset {
		sealed, err := value[bool](ctx, c, `
			SELECT sealed IS NOT NULL FROM plugin_setting
			 WHERE plugin = (SELECT num FROM plugin WHERE name = ?) AND name = ?`, plugin, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		open = open || !sealed
	}
	if !open {
		return nil
	}
	return checkLocal(ctx, c, "plugin", "plugin", "name = ?", plugin)
}

// dropStaleSettings deletes the settings that the new manifest does not have, and those
// that became a secret, which are not encrypted, or ceased to be one.
func dropStaleSettings(ctx context.Context, c conn, f PluginFiles) error {
	return execute(ctx, c, `
		DELETE FROM plugin_setting WHERE plugin = (SELECT num FROM plugin WHERE name = ?) AND NOT EXISTS (
		       SELECT 1 FROM json_each(?, '$.settings') j WHERE j.value->>'name' = plugin_setting.name
		          AND (j.value->>'type' = 'secret') = (plugin_setting.sealed IS NOT NULL))`, f.Name, f.Manifest)
}
