package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// applyPlugins makes the rows of the plugins that the hub wants. Their tools are freed first,
// since a tool may have moved from one plugin to another.
func applyPlugins(ctx context.Context, c conn, plugins []WantedPlugin) error {
	if err := execute(ctx, c,
		`DELETE FROM plugin_tool WHERE plugin IN (SELECT num FROM plugin WHERE managed = 1)`); err != nil {
		return err
	}
	for _, p := range plugins {
		if err := applyPlugin(ctx, c, p); err != nil {
			return err
		}
	}
	return changeOne(ctx, c, `UPDATE plugin_revision SET revision = revision + 1`)
}

func applyPlugin(ctx context.Context, c conn, p WantedPlugin) error {
	managed, err := value[bool](ctx, c, `SELECT managed FROM plugin WHERE name = ?`, p.Name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err == nil && !managed {
		return ErrTaken{What: "plugin", Name: p.Name}
	}
	now := time.Now().UnixMilli()
	if err := execute(ctx, c, `
		INSERT INTO plugin (name, version, digest, manifest, signer, granted, installed_ms, changed_ms, managed)
		VALUES (?, ?, ?, ?, ?, ?, ?7, ?7, 1)
		    ON CONFLICT (name) DO UPDATE SET version = excluded.version, manifest = excluded.manifest,
		       signer = excluded.signer, granted = excluded.granted,
		       upgrades = upgrades + (digest <> excluded.digest), digest = excluded.digest,
		       changed_ms = max(excluded.changed_ms, changed_ms + 1), broken_ms = NULL, retry_ms = NULL,
		       broken_error = NULL
		 WHERE digest <> excluded.digest OR granted <> excluded.granted`,
		p.Name, p.Version, p.Digest, p.Manifest, orNull(p.Signer), p.Granted, now); err != nil {
		return err
	}
	if err := addTools(ctx, c, p.PluginFiles); err != nil {
		return err
	}
	if err := dropStaleSettings(ctx, c, p.PluginFiles); err != nil {
		return err
	}
	return applyPluginSettings(ctx, c, p)
}

// applyPluginSettings replaces the settings of a plugin, without its secrets, which are set on
// the box and stay.
func applyPluginSettings(ctx context.Context, c conn, p WantedPlugin) error {
	had, err := query(ctx, c, func(row scanner) (t PluginSetting, err error) { return t, row.Scan(&t.Name, &t.Value) },
		`SELECT name, value FROM plugin_setting WHERE sealed IS NULL
		    AND plugin = (SELECT num FROM plugin WHERE name = ?) ORDER BY name`, p.Name)
	if err != nil {
		return err
	}
	same := func(a, b PluginSetting) bool { return a.Name == b.Name && a.Value == b.Value }
	byName := func(a, b PluginSetting) int { return strings.Compare(a.Name, b.Name) }
	if slices.EqualFunc(had, slices.SortedFunc(slices.Values(p.Settings), byName), same) {
		return nil
	}
	if err := execute(ctx, c, `
		DELETE FROM plugin_setting WHERE sealed IS NULL AND plugin = (SELECT num FROM plugin WHERE name = ?)`,
		p.Name); err != nil {
		return err
	}
	for _, t := range p.Settings {
		if err := execute(ctx, c,
			`INSERT INTO plugin_setting (plugin, name, value) SELECT num, ?, ? FROM plugin WHERE name = ?`,
			t.Name, t.Value, p.Name); err != nil {
			return err
		}
	}
	return execute(ctx, c, `UPDATE plugin SET changed_ms = max(?, changed_ms + 1) WHERE name = ?`,
		time.Now().UnixMilli(), p.Name)
}
