package appliance

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/box"
)

// Console is how a box reports to the people who run it. The functions may be nil.
type Console struct {
	Log *slog.Logger
	// Terminal says that Ready shows on a terminal, where secrets may be shown. Logs
	// and pipes would store them.
	Terminal bool
	// Service says that a service manager or a container runs the box, so that nobody reads its
	// errors: when models are missing it goes on serving the console.
	Service bool
	// Loaded is called when the models are loaded. From then on the process must not
	// just exit: end the context of Run.
	Loaded func()
	// Waiting is called when the models are loaded but chats cannot start, as on a full
	// disk. url is where the box listens, and why is for the operator.
	Waiting func(url, why string)
	// Ready is called once, when the first chat can start.
	Ready func(Ready)
}

// Ready is what the operator of a box should know when chats can start.
type Ready struct {
	URL         string // at which other machines reach the box
	Fingerprint string // SHA-256 of the box's own certificate authority, if it has one
	FirstKey    box.FirstKey
	SignIn      string // signs a browser in to the console; empty without a terminal
	// Servers are the URLs at which boxes reach the NATS server of a hub.
	Servers []string
}

// reportLoaded reports that the models are loaded.
func (a *appliance) reportLoaded() {
	if a.console.Loaded != nil {
		a.console.Loaded()
	}
}

// reportWaiting reports why chats cannot start.
func (a *appliance) reportWaiting(why string) {
	if a.console.Waiting != nil {
		a.console.Waiting(box.URL(a.cfg, a.listener.Addr()), why)
	}
}

// reportReady reports that chats can start.
func (a *appliance) reportReady(ctx context.Context) {
	a.log.Info("ready", "seconds", time.Since(a.started).Seconds())
	r := Ready{
		URL:         box.URL(a.cfg, a.listener.Addr()),
		Fingerprint: a.identity.Fingerprint(),
		FirstKey:    a.firstKey(ctx),
		SignIn:      a.signIn(ctx),
	}
	if a.fleet.Hub != nil {
		r.Servers = a.fleet.Servers
	}
	if a.console.Ready != nil {
		a.console.Ready(r)
	}
}

// firstKey makes the first key of a box that has none, and logs the file that holds
// its secrets.
func (a *appliance) firstKey(ctx context.Context) box.FirstKey {
	key, err := box.MakeFirstKey(ctx, a.cfg.Data, a.console.Terminal, a.records)
	switch left := box.LeftFirstKey(a.cfg.Data); {
	case err != nil:
		a.log.Error("cannot make the first key", "err", err)
	case key.File != "":
		a.log.Info(
			"the first API key is in a file that only this user can read: store it elsewhere and delete the file",
			"file", key.File)
	case left != "":
		a.log.Warn(
			"the secrets of the first API key are still in the data folder: store them elsewhere and delete the file",
			"file", left)
	}
	return key
}

// signIn returns the secret that signs a browser in to the console.
func (a *appliance) signIn(ctx context.Context) string {
	if !a.console.Terminal {
		return ""
	}
	secret, err := a.records.StartSignIn(ctx, "", time.Now())
	if err != nil {
		a.log.Error("cannot make a link to the console", "err", err)
		return ""
	}
	return secret
}
