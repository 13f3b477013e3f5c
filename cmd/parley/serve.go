package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"

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
	logRemarks(cfg, log)
	// Nothing is lost if a signal ends a box that has no chats yet.
	c.allowInstantExit(interrupted{state: "the box was still loading its models", next: "parley serve starts it again",
		service: true})
	banner := banner{cfg, c.out}
	err := appliance.Run(ctx, cfg, appliance.Console{
		Log:      log,
		Terminal: onTerminal(c.out),
		Service:  isService(c.environ),
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
	if errors.Is(err, appliance.ErrRestart) {
		log.Info("restarting")
		return startAgain(c.environ)
	}
	return err
}

// logRemarks logs what the loader of the settings has to say of them.
func logRemarks(cfg config.Config, log *slog.Logger) {
	for _, n := range cfg.Notes {
		log.Info(n)
	}
	for _, w := range cfg.Warnings {
		log.Warn(w)
	}
}

// isService reports whether systemd or a container runs this process: they set INVOCATION_ID
// (systemd.exec(5)) and container (https://systemd.io/CONTAINER_INTERFACE).
func isService(environ []string) bool {
	return slices.ContainsFunc(environ, func(e string) bool {
		return strings.HasPrefix(e, "INVOCATION_ID=") || strings.HasPrefix(e, "container=")
	})
}

// startAgain replaces the process with the installed program, with the same arguments and
// environment. The process keeps its id, so that a service manager notices nothing.
func startAgain(environ []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// The kernel says so when an update has replaced the file.
	program = strings.TrimSuffix(program, " (deleted)")
	return fmt.Errorf("starting %s again: %w", program, syscall.Exec(program, os.Args, environ))
}
