// Package shelf keeps the plugins that are installed on a box: their files, what
// they may do, what they were told and what they said. It runs their tools, and
// has them changed while they run, by the box or by another process beside it.
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

// Parts are what a shelf needs.
type Parts struct {
	Records *store.Store
	Data    string // the data folder
	Trust   Trust
	// Check runs the cases that came along with a plugin, before it takes the
	// additionalData of an older version; nil runs none.
	Check func(ctx context.Context, p Package) error
	// Observe is told of every call: how it ended ("answered", or the kind of
	// its fault) and how long it took. nil where nobody counts.
	Observe func(plugin, tool, outcome string, took time.Duration)
	// Changed is called by Watch when the plugins, or what they may be called for,
	// are others than before: the tools and hooks are as it finds them. It must not
	// block. nil where nobody asks.
	Changed func()
	Log     *slog.Logger
}

// Registry is the plugins of one box. Its methods may be called from many
// goroutines, and by several processes for one data folder.
type Registry struct {
	Parts
	folder folder
	vault  vault
	logs   *logs
	host   func() (*sandbox.Host, error)

	snapshot atomic.Pointer[snapshot]
	mu       sync.Mutex // held while a new arrangement is made
	closed   bool

	stop    context.CancelFunc
	workers sync.WaitGroup
}

// Open opens the shelf. Modules are loaded when they are first called, or by
// Watch before.
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
		cache = "" // the box could not read what root compiles
	}
	return sandbox.New(context.Background(), sandbox.Options{Cache: cache, Log: s.Log})
}

// Watch loads all plugins in the background, and those that are changed, so that
// no call has to wait for that. It is for the box, which has opened the store.
func (s *Registry) Watch() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.workers.Go(func() {
		if err := s.Tidy(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("cannot look for files that no plugin has", "err", err)
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

// Close ends the shelf. No call may be running.
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
		return nil // it was told to who called
	}
	return h.Close(context.Background())
}

// toolSpace is the name space of the tools' ids: a UUID of no other meaning.
var toolSpace = uuid.MustParse("6f1d3a52-6b0e-5d0c-9a34-2b7f6f6c7a11")

// ToolID is the id of a tool: made of the names, it is the same on every box and
// after every upgrade.
func ToolID(plugin, tool string) string {
	return uuid.NewSHA1(toolSpace, []byte(plugin+"/"+tool)).String()
}

// Running is a plugin that may be called, and what it was granted.
type Running struct {
	store.Plugin
	Manifest manifest.Manifest
	Granted  manifest.Permissions
}

// Running are the plugins that may be called, as they are now, by name.
func (s *Registry) Running(ctx context.Context) ([]Running, error) {
	now, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	return now.running, nil
}

// Sees is what an installed plugin was granted to see of the conversations in
// which it is called. The error is an ErrNotInstalled, or of the store.
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

// readManifest reads the manifest of a row, which was checked as it was entered.
func readManifest(row store.Plugin) (m manifest.Manifest, granted manifest.Permissions, err error) {
	if err = json.Unmarshal([]byte(row.Manifest), &m); err == nil {
		err = json.Unmarshal([]byte(row.Granted), &granted)
	}
	if err != nil {
		err = fmt.Errorf("what the database has of the plugin %s: %w", row.Name, err)
	}
	return m, granted, err
}
