package store

import (
	"context"
	"fmt"
	"time"
)

// Plugin is what the store knows of an installed plugin, except its files and settings.
type Plugin struct {
	Name        string
	Version     string // from its manifest
	Digest      string // of its files, hexadecimal
	Manifest    string // JSON
	Signer      string // the key that signed the files; empty: unsigned
	Granted     string // its permissions, JSON
	InstalledMS int64  // Unix milliseconds
	ChangedMS   int64  // grows with each change
	Upgrades    int    // number of upgrades
	// BrokenMS is since when the plugin is not called because it failed several times in
	// a row: Unix milliseconds, 0 if it is called. From RetryMS on, one call is tried.
	BrokenMS, RetryMS int64
	BrokenError       string // its last error
}

// PluginFiles describes the files of a plugin that is installed or upgraded.
type PluginFiles struct {
	Name, Version, Digest, Signer string
	Manifest, Granted             string // JSON; the manifest's tools and settings are those of the plugin
}

// ErrToolTaken means that another plugin has a tool with that name.
type ErrToolTaken struct{ Tool, Plugin string }

func (e ErrToolTaken) Error() string {
	return fmt.Sprintf("the plugin %s already has a tool %s, and models call tools by name", e.Plugin, e.Tool)
}

// PluginRevision returns a number that grows with every change to the plugins.
func (s *Store) PluginRevision(ctx context.Context) (int64, error) {
	n, err := value[int64](ctx, s.read, `SELECT revision FROM plugin_revision`)
	return n, explain("looking for changes to the plugins", err)
}

// PluginsChanged returns a channel that receives a value when this or another process has
// changed the plugins. Only one goroutine may receive from it.
func (s *Store) PluginsChanged() <-chan struct{} { return s.pluginNotifier.wake }

const pluginColumns = ` name, version, digest, manifest, coalesce(signer, ''), granted, installed_ms, changed_ms, ` +
	`upgrades,
	coalesce(broken_ms, 0), coalesce(retry_ms, 0), coalesce(broken_error, '') `

func scanPlugin(row scanner) (p Plugin, err error) {
	return p, row.Scan(&p.Name, &p.Version, &p.Digest, &p.Manifest, &p.Signer, &p.Granted, &p.InstalledMS, &p.ChangedMS,
		&p.Upgrades, &p.BrokenMS, &p.RetryMS, &p.BrokenError)
}

// Plugins returns all plugins, ordered by name.
func (s *Store) Plugins(ctx context.Context) ([]Plugin, error) {
	all, err := query(ctx, s.read, scanPlugin, `SELECT`+pluginColumns+`FROM plugin ORDER BY name`)
	return all, explain("listing the plugins", err)
}

// Plugin returns a plugin, or ErrNotFound.
func (s *Store) Plugin(ctx context.Context, name string) (Plugin, error) {
	p, err := first(ctx, s.read, scanPlugin, `SELECT`+pluginColumns+`FROM plugin WHERE name = ?`, name)
	return p, explain("reading the plugin "+name, err)
}

// InstallPlugin stores a new plugin. The error is ErrConflict if there is one with that
// name, ErrToolTaken if another plugin has one of its tools.
func (s *Store) InstallPlugin(ctx context.Context, f PluginFiles) error {
	amendAct(ctx, Object{"plugin", f.Digest, f.Name + " " + f.Version}, "")
	return s.changePlugins(ctx, "installing the plugin "+f.Name, func(ctx context.Context, c conn) error {
		now := time.Now().UnixMilli()
		if err := execute(ctx, c, `
			INSERT INTO plugin (name, version, digest, manifest, signer, granted, installed_ms, changed_ms) VALUES
			  (?, ?, ?, ?, ?, ?, ?7, ?7)`,
			f.Name, f.Version, f.Digest, f.Manifest, orNull(f.Signer), f.Granted, now); err != nil {
			return err
		}
		return addTools(ctx, c, f)
	})
}

// UpgradePlugin gives a plugin new files. Its storage stays, and so do its settings, as
// far as the new manifest has them. from is the digest of the files that it has: the
// error is ErrConflict if they have changed since. It is ErrNotFound if there is no such
// plugin, and ErrToolTaken as for InstallPlugin.
func (s *Store) UpgradePlugin(ctx context.Context, f PluginFiles, from string) error {
	amendAct(ctx, Object{"plugin", f.Digest, f.Name + " " + f.Version}, "")
	return s.changePlugins(ctx, "upgrading the plugin "+f.Name, func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, "plugin", "plugin", "name = ?", f.Name); err != nil {
			return err
		}
		if err := checkDigest(ctx, c, f.Name, from); err != nil {
			return err
		}
		if err := execute(ctx, c, `
			UPDATE plugin SET version = ?2, digest = ?3, manifest = ?4, signer = ?5, granted = ?6, changed_ms =
			  max(?7, changed_ms + 1), upgrades = upgrades + 1,
			       broken_ms = NULL, retry_ms = NULL, broken_error = NULL WHERE name = ?1`,
			f.Name, f.Version, f.Digest, f.Manifest, orNull(f.Signer), f.Granted, time.Now().UnixMilli()); err != nil {
			return err
		}
		if err := execute(ctx, c, `DELETE FROM plugin_tool WHERE plugin = (SELECT num FROM plugin WHERE name = ?)`,
			f.Name); err != nil {
			return err
		}
		if err := dropStaleSettings(ctx, c, f); err != nil {
			return err
		}
		return addTools(ctx, c, f)
	})
}

// checkDigest returns ErrConflict if a plugin's files have another digest, ErrNotFound if
// there is no such plugin.
func checkDigest(ctx context.Context, c conn, name, digest string) error {
	had, err := value[string](ctx, c, `SELECT digest FROM plugin WHERE name = ?`, name)
	if err == nil && had != digest {
		err = ErrConflict
	}
	return err
}

// addTools stores which tools the plugin has.
func addTools(ctx context.Context, c conn, f PluginFiles) error {
	taken, err := query(ctx, c, func(row scanner) (t ErrToolTaken, err error) {
		return t, row.Scan(&t.Tool, &t.Plugin)
	}, `
		SELECT t.name, p.name FROM json_each(?, '$.tools') j JOIN plugin_tool t ON t.name = j.value->>'name'
		  JOIN plugin p ON p.num = t.plugin`, f.Manifest)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return taken[0]
	}
	_, err = c.ExecContext(ctx, `
		INSERT INTO plugin_tool (name, plugin) SELECT j.value->>'name', p.num FROM json_each(?, '$.tools') j
		  JOIN plugin p ON p.name = ?`, f.Manifest, f.Name)
	return err
}

// GrantPlugin replaces the permissions (JSON) of a plugin with these files. The error is
// ErrNotFound if there is no such plugin, ErrConflict if its files have changed.
func (s *Store) GrantPlugin(ctx context.Context, name, digest, granted string) error {
	return s.changePlugins(ctx, "saying what the plugin "+name+" may do", func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, "plugin", "plugin", "name = ?", name); err != nil {
			return err
		}
		if err := checkDigest(ctx, c, name, digest); err != nil {
			return err
		}
		return changeOne(ctx, c, `UPDATE plugin SET granted = ?, changed_ms = max(?, changed_ms + 1), broken_ms = `+
			`NULL, retry_ms = NULL, broken_error = NULL WHERE name = ?`,
			granted, time.Now().UnixMilli(), name)
	})
}

// MarkPluginBroken records that a plugin with these files failed several times in a row,
// and is not called until a time (Unix milliseconds). [Store.MarkPluginWorking] reverts
// that. Both do nothing if the files have changed.
func (s *Store) MarkPluginBroken(ctx context.Context, name, digest string, retryMS int64, why string) error {
	return s.changePlugins(ctx, "noting that the plugin "+name+" fails", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `
			UPDATE plugin SET broken_ms = coalesce(broken_ms, ?3), retry_ms = ?4, broken_error = ?5 WHERE name = ?1
			  AND digest = ?2`,
			name, digest, time.Now().UnixMilli(), retryMS, why)
	})
}

// MarkPluginWorking records that a plugin works again.
func (s *Store) MarkPluginWorking(ctx context.Context, name, digest string) error {
	return s.changePlugins(ctx, "noting that the plugin "+name+" works again", func(ctx context.Context, c conn) error {
		return execute(ctx, c,
			`UPDATE plugin SET broken_ms = NULL, retry_ms = NULL, broken_error = NULL WHERE name = ? AND digest = ?`,
			name, digest)
	})
}

// RemovePlugin deletes a plugin with its settings, storage and log. The error is
// ErrNotFound if there is no such plugin.
func (s *Store) RemovePlugin(ctx context.Context, name string) error {
	err := s.changePlugins(ctx, "removing the plugin "+name, func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, "plugin", "plugin", "name = ?", name); err != nil {
			return err
		}
		return changeOne(ctx, c, `DELETE FROM plugin WHERE name = ?`, name)
	})
	s.logNotifier.notify() // ends the followers of its log
	return err
}

// changePlugins is change, and notifies the box that the plugins changed.
func (s *Store) changePlugins(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	err := s.change(ctx, doing, func(ctx context.Context, c conn) error {
		if err := do(ctx, c); err != nil {
			return err
		}
		return changeOne(ctx, c, `UPDATE plugin_revision SET revision = revision + 1`)
	})
	if err == nil {
		s.pluginNotifier.notify()
	}
	return err
}
