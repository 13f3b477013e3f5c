package engines

import (
	"context"
	"sync"
	"time"

	"parley/appliance/config"
	"parley/appliance/engine/remote"
)

// ServerCheck is what a server with engines answered.
type ServerCheck struct {
	Serves string // "language model", "transcriber" or "voice"
	config.Server
	Took   time.Duration
	Models []string // that it has; nil if it does not tell
	Err    error    // it does not answer, or refuses
	// Covered says that an embedded engine or another server of the settings takes over if it fails.
	Covered bool
}

// CheckServers asks all servers of the settings for their models, at the same time. It takes five
// seconds at most.
func CheckServers(ctx context.Context, cfg config.Config) []ServerCheck {
	all := serversOf(ctx, cfg)
	var checks sync.WaitGroup
	for i := range all {
		c := &all[i]
		checks.Go(func() {
			options, err := serverOptions([]config.Server{c.Server})
			if err != nil {
				c.Err = err
				return
			}
			begun := time.Now()
			c.Models, c.Err = remote.Check(ctx, c.Serves, options[0])
			c.Took = time.Since(begun)
		})
	}
	checks.Wait()
	return all
}

// serversOf returns the servers of the settings, each once for all that it serves.
func serversOf(ctx context.Context, cfg config.Config) (all []ServerCheck) {
	add := func(serves string, s config.Server, covered bool) {
		for _, c := range all {
			if c.Serves == serves && c.Server == s {
				return
			}
		}
		all = append(all, ServerCheck{Serves: serves, Server: s, Covered: covered})
	}
	for _, m := range cfg.Models() {
		servers := m.Servers()
		for _, s := range servers {
			add("language model", s, len(servers) > 1 || len(cfg.Fallback) > 0)
		}
	}
	ears := cfg.Engines.TranscriberServers
	for _, s := range ears {
		add("transcriber", s, len(ears) > 1 || isInstalled(ctx, cfg, cfg.Engines.Transcriber))
	}
	for _, s := range cfg.Engines.VoiceServers {
		add("voice", s.Server, len(cfg.Engines.ServersOf(s.Voices[0])) > 1 || len(cfg.Voices()) > 0)
	}
	return all
}
