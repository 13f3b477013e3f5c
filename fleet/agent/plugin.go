package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"parley/fleet"
	"parley/internal/durable"
)

// pluginSum is a SHA-256, which names the file of a plugin.
var pluginSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// fetchPlugins fetches the files of plugins that are not there yet. They stay as long as the
// hub wants them, so that a want is applied again without the hub.
func (a *Agent) fetchPlugins(ctx context.Context, plugins []fleet.Plugin) (staged []Staged, err error) {
	for _, p := range plugins {
		if !pluginSum.MatchString(p.SHA256) {
			return nil, fmt.Errorf("plugin %q: sha256: %.80q is not a SHA-256 in hexadecimal digits", p.Name, p.SHA256)
		}
		s := Staged{Plugin: p, File: filepath.Join(a.Folder, p.SHA256)}
		if has, err := hasSum(s.File, p.SHA256); err != nil || !has {
			if err := a.fetchPlugin(ctx, s); err != nil {
				return nil, fmt.Errorf("plugin %q: its file cannot be fetched: %w", p.Name, err)
			}
		}
		staged = append(staged, s)
	}
	return staged, nil
}

func (a *Agent) fetchPlugin(ctx context.Context, s Staged) error {
	if err := os.MkdirAll(a.Folder, 0o700); err != nil {
		return err
	}
	f, err := durable.Create(s.File, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if err := a.Hub.Plugin(ctx, s.SHA256, f); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	if has, err := hasSum(s.File, s.SHA256); err != nil || !has {
		return fmt.Errorf("it does not have the SHA-256 %s (%w)", s.SHA256, err)
	}
	return nil
}

// hasSum reports whether a file is there and has a SHA-256.
func hasSum(file, sum string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == sum, nil
}

// dropPlugins removes the files of plugins that the hub does not want any more.
func (a *Agent) dropPlugins(wanted []fleet.Plugin) {
	entries, _ := os.ReadDir(a.Folder) // without the folder there is nothing to remove
	for _, e := range entries {
		keep := slices.ContainsFunc(wanted, func(p fleet.Plugin) bool { return p.SHA256 == e.Name() })
		if !keep && pluginSum.MatchString(e.Name()) {
			if err := os.Remove(filepath.Join(a.Folder, e.Name())); err != nil {
				a.Log.Warn("cannot remove the file of a plugin that the hub does not want any more", "err", err)
			}
		}
	}
}
