package main

import (
	"context"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/config"
)

// serveCmd runs the box. All settings are flags.
type serveCmd struct {
	Settings kong.Plugins `embed:"" settings:"*"`
}

func (serveCmd) Help() string {
	return `Example:

  parley serve --data /var/lib/parley --listen 127.0.0.1:8080

The box answers GET /healthz at once and GET /readyz with 200 when a conversation can start. SIGTERM stops it ` +
		`within five seconds. Each flag is also a variable (--max-chats is PARLEY_MAX_CHATS) and a key of ` +
		`parley.yaml: see docs/configuration.md.`
}

// Run runs the box until ctx ends.
func (*serveCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	log := c.logger(cfg.Log)
	if cfg.File != "" {
		log.Info("settings read", "file", cfg.File)
	}
	for _, n := range cfg.Notes {
		log.Info(n)
	}
	for _, w := range cfg.Warnings {
		log.Warn(w)
	}
	// Nothing is lost if a signal ends a box that has no chats yet.
	c.allowInstantExit(interrupted{state: "the box was still loading its models", next: "parley serve starts it again",
		service: true})
	banner := banner{cfg, c.out}
	return appliance.Run(ctx, cfg, appliance.Console{
		Log:      log,
		Terminal: onTerminal(c.out),
		Loaded:   c.forbidInstantExit,
		Waiting: func(url, why string) {
			banner.waiting(url, why)
			c.notifyStarted(log, "no conversation can start: "+why)
		},
		Ready: func(r appliance.Ready) {
			banner.ready(r)
			c.notifyStarted(log, "answers at "+r.URL)
		},
	})
}
