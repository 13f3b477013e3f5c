// Package registry manages the plugins that are installed on a box: their files,
// permissions, settings, stored values and logs. It runs their tools and hooks. Plugins can
// be changed while they run, by the box or by another process.
package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"parley/internal/layout"
	"parley/plugins/manifest"
	"parley/plugins/sandbox"
	"parley/store"
)

// Parts are what a Registry is made of.
type Parts struct {
	Records *store.Store
	Data    string // the data folder
	Trust   Trust
	// Check runs the test cases of a package before it replaces an older version; nil runs
	// none.
	Check func(ctx context.Context, p Package) error
	// Observe is called after every call with its outcome ("answered", or the kind of its
	// fault) and its duration. It may be nil.
	Observe func(plugin, tool, outcome string, took time.Duration)
	// Changed is called by Watch when the plugins, their tools, hooks or permissions have
	// changed. It must not block. It may be nil.
	Changed func()
	Log     *slog.Logger
}

// Registry is the set of plugins of one box. Many goroutines may use it, and several
// processes may have a Registry for one data folder.
type Registry struct {
	Parts
	folder folder
	vault  vault
	logs   *logs
	host   func() (*sandbox.Host, error)

	snapshot atomic.Pointer[snapshot]
	mu       sync.Mutex // held while a new snapshot is taken
	closed   bool

	stop    context.CancelFunc
	workers sync.WaitGroup
}

// Open opens the registry. A module is loaded by Watch, or when it is first called.
func Open(p Parts) *Registry {
	f := folder{p.Data}
	s := &Registry{Parts: p, folder: f, vault: vault{filepath.Join(p.Data, layout.PluginKey), f.chown}}
	s.logs = newLogs(p.Records, p.Log)
	s.host = sync.OnceValues(s.openHost)
	s.snapshot.Store(&snapshot{revision: -1})
	return s
}

func (s *Registry) openHost() (*sandbox.Host, error) {
	cache := filepath.Join(s.Data, layout.PluginCache)
	if info, err := os.Stat(s.Data); os.Geteuid() == 0 && (err != nil || !ownedByRoot(info)) {
		cache = "" // the box could not read files that root compiles
	}
	return sandbox.New(context.Background(), sandbox.Options{Cache: cache, Log: s.Log})
}

// Watch loads all plugins in the background, and those that change, so that no call has to
// wait for that. Only the process that has opened the store calls it.
func (s *Registry) Watch() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.workers.Go(func() {
		if err := s.Tidy(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("cannot look for files that belong to no plugin", "err", err)
		}
	})
	s.workers.Go(func() {
		for {
			if err := s.loadAll(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("cannot read the plugins", "err", err)
			}
			select {
			case <-s.Records.PluginsChanged():
			case <-ctx.Done():
				return
			}
		}
	})
}

func (s *Registry) loadAll(ctx context.Context) error {
	now, err := s.current(ctx)
	if err != nil {
		return err
	}
	if s.Changed != nil {
		s.Changed()
	}
	for _, p := range now.plugins {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := p.module.acquire(ctx); err == nil {
			p.module.release()
		} else if ctx.Err() == nil {
			s.Log.Error("a plugin cannot be run", "plugin", p.Name, "err", err)
		}
	}
	return nil
}

// Close closes the registry. No call may be running.
func (s *Registry) Close() error {
	if s.stop != nil {
		s.stop()
	}
	s.workers.Wait()
	s.logs.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	now := s.snapshot.Swap(&snapshot{revision: -1})
	for _, p := range now.plugins {
		p.module.close()
	}
	h, err := s.host()
	if err != nil {
		return nil // the callers got this error
	}
	return h.Close(context.Background())
}

// toolSpace is the UUID name space of tool ids. It has no other meaning.
var toolSpace = uuid.MustParse("6f1d3a52-6b0e-5d0c-9a34-2b7f6f6c7a11")

// ToolID returns the id of a tool. It is derived from the names, so it is the same on every
// box and after every upgrade.
func ToolID(plugin, tool string) string {
	return uuid.NewSHA1(toolSpace, []byte(plugin+"/"+tool)).String()
}

// Running is a plugin that can be called, with its permissions.
type Running struct {
	store.Plugin
	Manifest manifest.Manifest
	Granted  manifest.Permissions
}

// Running returns the plugins that can be called now, by name.
func (s *Registry) Running(ctx context.Context) ([]Running, error) {
	now, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	return now.running, nil
}

// Sees returns how much of a conversation an installed plugin may see. The error is an
// ErrNotInstalled, or comes from the store.
func (s *Registry) Sees(ctx context.Context, name string) (manifest.Conversation, error) {
	now, err := s.current(ctx)
	if err != nil {
		return manifest.NoConversation, err
	}
	p, err := now.find(name)
	if err != nil {
		return manifest.NoConversation, err
	}
	return p.Granted.Conversation, nil
}

// readManifest parses the manifest and the permissions of a row. They were checked when the
// row was written.
func readManifest(row store.Plugin) (m manifest.Manifest, granted manifest.Permissions, err error) {
	if err = json.Unmarshal([]byte(row.Manifest), &m); err == nil {
		err = json.Unmarshal([]byte(row.Granted), &granted)
	}
	if err != nil {
		err = fmt.Errorf("the database row of the plugin %s: %w", row.Name, err)
	}
	return m, granted, err
}
