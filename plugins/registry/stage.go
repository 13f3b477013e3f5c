package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"parley/plugins/manifest"
	"parley/store"
)

// Wanted is a plugin that the hub of a fleet wants on the box.
type Wanted struct {
	Package Package
	Granted json.RawMessage // permissions
	// Settings are the values of settings, without secrets: these are set on the box.
	Settings map[string]string
}

// Stage checks wanted plugins, and puts their files where those of installed plugins lie. It
// returns the rows, which the caller enters in the database before it calls release: until
// then no process removes the files. release removes those that no row names. An ErrUnusable
// says which plugin cannot be run and why.
func (s *Registry) Stage(ctx context.Context, all []Wanted) (rows []store.WantedPlugin, release func(), err error) {
	for _, w := range all {
		row, err := s.wantedRow(ctx, w)
		if err != nil {
			return nil, nil, fmt.Errorf("plugin %q: %w", w.Package.Manifest.Name, err)
		}
		rows = append(rows, row)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	release = func() {
		if err := s.sweep(context.WithoutCancel(ctx)); err != nil {
			s.Log.Warn("cannot look for files that belong to no plugin", "err", err)
		}
		unlock()
	}
	for _, w := range all {
		if err := s.folder.put(w.Package); err != nil {
			release()
			return nil, nil, fmt.Errorf("storing the files of %s: %w", w.Package.Manifest.Name, err)
		}
	}
	return rows, release, nil
}

// wantedRow checks a plugin. One that is installed with the same files was checked before.
func (s *Registry) wantedRow(ctx context.Context, w Wanted) (row store.WantedPlugin, err error) {
	p := w.Package
	if why := s.Trust.refuses(p.Signer()); why != "" {
		return row, unusable("%s", why)
	}
	installed, err := s.Records.Plugin(ctx, p.Manifest.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return row, err
	}
	if err != nil || installed.Digest != p.Digest() {
		if err := s.checkModule(ctx, p); err != nil {
			return row, err
		}
		if err := s.selfTest(ctx, p); err != nil {
			return row, err
		}
	}
	o := Offer{Package: p}
	if err := json.Unmarshal(w.Granted, &o.Granted); err != nil {
		return row, unusable("granted: its permissions cannot be read: %v", err)
	}
	// What is granted beyond the requests, such as a host in the operator's network, stays.
	o.Granted = carriedOver(manifest.Permissions{}, p.Manifest.Permissions, o.Granted)
	if row.PluginFiles, err = newRow(o, nil); err != nil {
		return row, err
	}
	values := map[string]*string{}
	for name, value := range w.Settings {
		if setting, ok := p.Manifest.Setting(name); ok && setting.Type == manifest.Secret {
			return row, unusable("settings.%s: it is a secret, which is set on each box", name)
		}
		values[name] = &value
	}
	row.Settings, _, err = s.seal(p.Manifest, values)
	return row, err
}
