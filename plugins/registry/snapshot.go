package registry

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"parley/internal/signing"
	"parley/plugins/manifest"
	"parley/plugins/sandbox"
	"parley/store"
)

// snapshot is all plugins at one revision of the store. It is immutable; a call that began
// with a snapshot ends with it.
type snapshot struct {
	revision int64
	plugins  []*plugin
	tools    map[string]*plugin
	running  []Running
}

// plugin is one plugin of a snapshot.
type plugin struct {
	Running
	settings map[string]string // with the secrets
	redactor *strings.Replacer // removes the secrets from what is logged
	stopped  string            // why the plugin is not run; empty if it is
	module   *module           // shared by the snapshots in which it is the same
	breaker  *breaker          // likewise
}

func (a *snapshot) find(name string) (*plugin, error) {
	for _, p := range a.plugins {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, ErrNotInstalled{name}
}

// current returns the snapshot of now. It asks the database for its revision each time, so
// changes by another process apply from the next call on.
func (s *Registry) current(ctx context.Context) (*snapshot, error) {
	revision, err := s.Records.PluginRevision(ctx)
	if err != nil {
		return nil, err
	}
	if now := s.snapshot.Load(); now.revision == revision {
		return now, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, store.ErrClosed
	}
	old := s.snapshot.Load()
	if old.revision >= revision { // another goroutine was faster
		return old, nil
	}
	made, err := s.takeSnapshot(ctx, revision, old)
	if err != nil {
		return nil, err
	}
	s.snapshot.Store(made)
	for _, p := range old.plugins {
		if !slices.ContainsFunc(made.plugins, func(other *plugin) bool { return other.module == p.module }) {
			s.workers.Go(p.module.close)
		}
	}
	return made, nil
}

// takeSnapshot reads all plugins. The rows may be newer than the revision; then the next
// call of current reads them again.
func (s *Registry) takeSnapshot(ctx context.Context, revision int64, old *snapshot) (*snapshot, error) {
	rows, err := s.Records.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	made := &snapshot{revision: revision, tools: map[string]*plugin{}}
	for _, row := range rows {
		p, err := s.prepare(ctx, row, old)
		if err != nil {
			return nil, err
		}
		made.plugins = append(made.plugins, p)
		for _, t := range p.Manifest.Tools {
			made.tools[t.Name] = p
		}
		if p.stopped == "" {
			made.running = append(made.running, p.Running)
		}
	}
	return made, nil
}

// prepare makes a plugin from a row. It reuses the module if neither the files nor anything
// that instances are made with has changed.
func (s *Registry) prepare(ctx context.Context, row store.Plugin, old *snapshot) (*plugin, error) {
	m, granted, err := readManifest(row)
	if err != nil {
		return nil, err
	}
	p := &plugin{Running: Running{row, m, granted}, stopped: s.Trust.refuses(signing.Key(row.Signer))}
	p.settings, p.redactor, err = s.settings(ctx, row.Name, m)
	if err != nil {
		p.stopped = err.Error()
	}
	for _, before := range old.plugins {
		if before.Name == row.Name && before.Digest == row.Digest && before.ChangedMS == row.ChangedMS {
			p.module, p.breaker = before.module, before.breaker
			return p, nil
		}
	}
	p.breaker = &breaker{}
	p.module = newModule(func(ctx context.Context) (*sandbox.Module, error) { return s.load(ctx, row, m) })
	return p, nil
}

// load reads the files of a plugin, checks that they are the installed ones, and compiles
// the module.
func (s *Registry) load(ctx context.Context, row store.Plugin, m manifest.Manifest) (*sandbox.Module, error) {
	wasm, signer, err := s.folder.get(row.Digest)
	if err != nil {
		return nil, ErrStopped{row.Name,
			fmt.Sprintf("its files are damaged or missing (%v): install it again, or restore a backup", reason(err))}
	}
	if why := s.Trust.refuses(signer); why != "" {
		return nil, ErrStopped{row.Name, why}
	}
	host, err := s.host()
	if err != nil {
		return nil, err
	}
	return host.Load(ctx, m, wasm)
}

func ownedByRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}
