package appliance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"parley/appliance/config"
	"parley/fleet"
	"parley/fleet/agent"
	"parley/fleet/bus"
	"parley/internal/layout"
	"parley/plugins/registry"
	"parley/store"
)

// member is the part of the box that belongs to a fleet. The agent calls it to check and to
// apply what the hub wants.
type member struct {
	*appliance
	agent    *agent.Agent
	link     *bus.Box
	settings chan struct{}          // holds one signal when the hub's settings may have changed
	waits    atomic.Pointer[string] // what the settings wait for
}

// joinFleet joins the fleet of the settings, or leaves the one of before. A box whose join file
// cannot be read serves nevertheless, and is still a member.
func (a *appliance) joinFleet(ctx context.Context) error {
	if a.cfg.Fleet.Join == "" {
		if err := a.records.LeaveFleet(ctx); err != nil {
			return err
		}
		return errors.Join(config.WriteHubSettings(a.cfg.Data, nil),
			os.RemoveAll(filepath.Join(a.cfg.Data, layout.FleetPlugins)))
	}
	m := &member{appliance: a, settings: make(chan struct{}, 1)}
	m.waits.Store(new(string))
	if err := m.writeSettings(ctx); err != nil {
		return err
	}
	join, err := bus.ReadJoin(a.cfg.Fleet.Join)
	if err != nil {
		a.log.Error("the box cannot reach its fleet, and works alone", "err", err)
		return nil
	}
	if m.link, err = bus.Dial(join, bus.Options{Log: a.log}); err != nil {
		a.log.Error("the box cannot reach its fleet, and works alone", "err", err)
		return nil
	}
	a.onClose(m.link.Close)
	m.agent, err = agent.Start(ctx, agent.Parts{
		Fleet: store.Fleet{
			Box:        join.Box,
			Hub:        join.Hub,
			Chats:      a.cfg.Fleet.Chats && a.cfg.Retention.History,
			Recordings: a.cfg.Fleet.Recordings && a.cfg.Retention.Audio,
		},
		Hub:       m.link,
		Records:   a.records,
		State:     m.state,
		Host:      m,
		Folder:    filepath.Join(a.cfg.Data, layout.FleetPlugins),
		OpenSound: m.openSound,
		Log:       a.log.With("fleet", join.Hub),
	})
	if err != nil {
		return err
	}
	a.member.Store(m)
	a.onClose(m.agent.Close)
	a.onClose(inBackground(ctx, m.restartForSettings))
	a.log.Info("the box is in a fleet", "box", join.Box, "hub", join.Hub)
	return nil
}

// stateChanged tells the hub soon that the state of the box has changed.
func (a *appliance) stateChanged() {
	if m := a.member.Load(); m != nil {
		m.agent.StateChanged()
	}
}

// pluginsChanged tells the live chats that the plugins have changed. A want of the hub may be
// possible now.
func (a *appliance) pluginsChanged() {
	a.host.PluginsChanged()
	if m := a.member.Load(); m != nil {
		m.agent.TryAgain()
	}
}

// Stage implements agent.Host.
func (m *member) Stage(ctx context.Context, all []agent.Staged) ([]store.WantedPlugin, func(), error) {
	wanted := make([]registry.Wanted, len(all))
	for i, s := range all {
		f, err := os.Open(s.File)
		if err != nil {
			return nil, nil, err
		}
		p, err := registry.ReadFrom(f, "")
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, nil, fmt.Errorf("plugin %q: %w", s.Name, err)
		}
		if p.Manifest.Name != s.Name || p.Manifest.Version != s.Version {
			return nil, nil, fmt.Errorf("plugin %q: version: the hub wants %s, and the file has %s %s", s.Name,
				s.Version, p.Manifest.Name, p.Manifest.Version)
		}
		wanted[i] = registry.Wanted{Package: p, Granted: s.Granted, Settings: s.Settings}
	}
	return m.plugins.Stage(ctx, wanted)
}

// Applied implements agent.Host.
func (m *member) Applied(ctx context.Context, w fleet.Want) {
	accounts, err := m.records.Accounts(ctx)
	if err != nil {
		m.log.Warn("cannot list the accounts", "err", err)
	}
	for _, account := range accounts {
		m.configsChanged(account.ID)
		m.lexiconChanged(account.ID)
	}
	if err := m.writeSettings(ctx); err != nil && ctx.Err() == nil {
		m.log.Error("the settings of the hub hold from the next start on", "err", err)
		return
	}
	select {
	case m.settings <- struct{}{}:
	default: // one is there
	}
}

// writeSettings writes the settings of the hub from the database to their file, from which the
// next start reads them. After a crash between the two, the start does it.
func (m *member) writeSettings(ctx context.Context) error {
	settings, err := m.records.FleetSettings(ctx)
	if err != nil {
		return err
	}
	return config.WriteHubSettings(m.cfg.Data, settings)
}

// restartForSettings restarts the box when the hub has changed settings, as soon as no chat is
// live.
func (m *member) restartForSettings(ctx context.Context) {
	for {
		next, err := m.cfg.Reload()
		if err != nil {
			m.log.Error("the settings of the box cannot be read; it goes on with those of its start", "err", err)
		}
		changed := m.cfg.Differences(next)
		if err != nil || len(changed) == 0 {
			m.wait("")
			select {
			case <-m.settings:
				continue
			case <-ctx.Done():
				return
			}
		}
		busy, changes := m.occupied()
		if !busy {
			m.log.Info("restarting for settings of the hub", "changed", strings.Join(changed, ", "))
			m.restart()
			return
		}
		m.wait("the end of all live chats, to restart with other settings: " + strings.Join(changed, ", "))
		select {
		case <-changes:
		case <-m.settings:
		case <-ctx.Done():
			return
		}
	}
}

// occupied reports whether a chat is live, and returns a channel that is closed when that
// changes.
func (m *member) occupied() (bool, <-chan struct{}) {
	host := m.admission.host.Load()
	if host == nil {
		return false, nil
	}
	return host.Occupied()
}

func (m *member) wait(why string) {
	m.waits.Store(&why)
	m.agent.StateChanged()
}

// address returns the URL at which others reach the box; empty if nobody does.
func (m *member) address() string {
	if m.cfg.Fleet.Address != "" {
		return m.cfg.Fleet.Address
	}
	at, ok := m.listener.Addr().(*net.TCPAddr)
	if !ok || at.IP.IsLoopback() {
		return ""
	}
	scheme, host := "https", at.IP.String()
	if m.cfg.TLS.Off() {
		scheme = "http"
	}
	if at.IP.IsUnspecified() {
		host = reachable(m.cfg.TLS.Names)
	}
	if host == "" {
		return ""
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprint(at.Port))
}

// readyLimit bounds the time for reading the state of the box.
const readyLimit = 5 * time.Second
