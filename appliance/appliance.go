// Package appliance is the box: it opens every part, in order, and runs them
// until it is told to stop.
package appliance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"parley/appliance/api"
	"parley/appliance/certs"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/appliance/line/ws"
	"parley/appliance/metrics"
	"parley/appliance/plugins"
	"parley/appliance/search"
	"parley/appliance/voices"
	"parley/internal/disk"
	"parley/store"
)

const (
	// stopping is how long the box takes to stop: chats are told and ended,
	// requests finished. Service managers wait longer than that.
	stopping = 4 * time.Second
	// finishing is the part of it that requests have after the chats.
	finishing = 2 * time.Second
)

// Console is where a box tells the people who run it what they should know.
type Console struct {
	Log *slog.Logger
	// Out is read by the person who starts the box; Terminal says that it is a
	// terminal, so that secrets may be shown there.
	Out      io.Writer
	Terminal bool
	// Loaded is called when the models are loaded: from then on the box has to
	// be stopped, and cannot simply be ended.
	Loaded func()
}

// Run runs the box until ctx ends, and then stops it. It answers /healthz as
// soon as it listens, /readyz when a conversation could start.
func Run(ctx context.Context, cfg config.Config, c Console) error {
	begun, log := time.Now(), c.Log
	records, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer records.Close()
	defer keepSweeping(ctx, cfg, records, log)()

	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen %s: %w: choose another address with --listen, or stop what uses it", cfg.Listen, err)
	}
	limits := limitsOf(cfg, log)
	listener = api.Listen(listener, limits, log)
	identity, err := certs.Open(ctx, certOptions(cfg), listener.Addr(), log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer identity.Close()
	figures := metrics.New(Version(), log)
	figures.WatchStore(records.Written)
	defer sendWebhooks(cfg, records, figures, log)()
	admission := &admission{log: log, stop: ctx}
	if cfg.Retention.History {
		admission.writable = records.Writable
	}
	lines := ws.NewServer(admission, cfg.Origins, ws.Timing{}, log)
	installed := plugins.Open(cfg, records, figures, log)
	defer installed.Close()
	defer installed.TellEnds(ctx, records)()
	ahead := newAhead(records, installed, log)
	calls, err := openCalls(cfg, listener.Addr(), admission, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer calls.cutOff()
	speakers := voices.Voices{Config: cfg, Records: records, StandIns: &voices.StandIns{Log: log}}
	readings := newReadings(records, cfg.Speech.Locale, cfg.Lexicon, log)
	speaking := speeches{lines: lines, stop: ctx}
	door := &kioskDoor{enabled: cfg.Kiosk.Enabled}
	health := &boxHealth{
		cfg:       cfg,
		begun:     begun,
		records:   records,
		figures:   figures,
		admission: admission,
		identity:  identity,
		speaker:   door,
	}
	health.cfg.Listen = listener.Addr().String()
	packs := newBoxPacks(ctx, cfg)
	defer packs.wait()
	front := api.NewServer(api.New(api.Parts{
		Keys:           records,
		Chats:          control{lines, admission},
		Calls:          calls.api(),
		Speaker:        door.api(),
		Ready:          admission,
		Version:        Version(),
		Log:            log,
		Records:        records,
		ConfigsChanged: ahead.configsChanged,
		LexiconChanged: readings.changed,
		Voices:         speakers,
		Aliases:        speakers,
		Speech:         &speaking,
		SpeechInput:    &speaking,
		Models:         engines.Catalogue{Config: cfg},
		Plugins:        installed,
		BoxPlugins:     installed.Operator(figures),
		BoxWebhooks:    boxWebhooks{cfg},
		BoxHealth:      health,
		BoxPacks:       packs,
		Running:        ctx,
		Origins:        cfg.Origins,
		Authority:      identity.Authority(),
		Metrics:        figures,
		Limits:         limits,
	}), log)
	defer announce(cfg, listener.Addr(), log)()
	served := make(chan error, 1)
	go func() { served <- identity.Serve(front, listener, api.Refusals(log)) }()
	log.Info("listening", "address", listener.Addr().String(), "data", cfg.Data)

	opened, err := engines.Open(ctx, cfg, engines.All, log)
	if err != nil {
		front.Close()
		<-served
		return err
	}
	defer opened.Close()
	figures.WatchEngines(opened.Gate)
	health.gate.Store(opened.Gate)
	feelings, err := openExpression(cfg.Expression)
	if err != nil {
		return err
	}
	history, recordings := kept(cfg.Retention, records)
	host := chat.NewHost(ctx, chat.Parts{
		Detector:        opened.Detector,
		Transcriber:     opened.Transcriber,
		TurnEnd:         opened.TurnEnd,
		Model:           opened.Model,
		Voices:          voices.NewForChats(speakers, opened, log),
		Reading:         readings.of,
		Records:         history,
		Recordings:      recordings,
		Outbox:          records,
		Defaults:        chatDefaults(cfg),
		Log:             log,
		MaxChats:        cfg.MaxChats(),
		MaxAdded:        time.Duration(cfg.Chat.MaxAddedMS) * time.Millisecond,
		ChatsPerAccount: cfg.ChatsPerAccount(),
		Alone:           alone(ctx, cfg, records),
		Configs:         api.NewConfigs(records, installed),
		Models:          opened,
		StrictModels:    cfg.StrictModels,
		Tools:           toolbox{installed, search.Server{URL: cfg.WebSearch}},
		Plugins:         installed,
		Rules:           opened.Rules,
		Expression:      feelings,
		TellFeelings:    tellsFeelings(cfg.Expression),
		Observe:         func(s chat.Stage, took time.Duration) { figures.Turn(string(s), took) },
	})
	installed.Tell(host)
	speakers.WarnOfAliases(ctx, log)
	speaking.service.Store(openSpeech(cfg, opened, speakers, readings.of, figures, log))
	figures.WatchChats(host.Load, cfg.MaxChats())
	c.Loaded()
	if err := host.PrefillOwn(ctx); err != nil && ctx.Err() == nil {
		log.Warn("the box's own prompt cannot be read ahead", "err", err)
	}
	defer ahead.begin(ctx, host)()
	kiosk := openKiosk(cfg, opened, admission, records, c.Terminal, log)
	defer kiosk.cutOff()
	door.Store(kiosk.Speaker)
	banner := banner{cfg, listener.Addr(), identity, c.Out}
	admission.open(host, banner.waiting, func() {
		log.Info("ready", "seconds", time.Since(begun).Seconds())
		banner.ready(c.firstKey(ctx, cfg.Data, records), c.signIn(ctx, records))
	})
	defer admission.wait()
	defer opened.PrefetchVoices(ctx, host.Live)()

	select {
	case err = <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping")
	return stop(log, host, lines, calls, kiosk, front)
}

// firstKey makes the box's first key, and logs where its secrets lie.
func (c Console) firstKey(ctx context.Context, data string, records *store.Store) firstKey {
	key, err := makeFirstKey(ctx, data, c.Terminal, records)
	switch left := leftFirstKey(data); {
	case err != nil:
		c.Log.Error("cannot make the first key", "err", err)
	case key.file != "":
		c.Log.Info(
			"the first API key lies in a file that only this user can read: keep it elsewhere and delete the file",
			"file", key.file)
	case left != "":
		c.Log.Warn(
			"the secrets of the first API key still lie in the data folder: keep them elsewhere and delete the file",
			"file", left)
	}
	return key
}

// signIn makes what signs a browser in to the console, where it may be shown: on a
// terminal. Logs keep what they are told.
func (c Console) signIn(ctx context.Context, records *store.Store) string {
	if !c.Terminal {
		return ""
	}
	link, err := records.StartSignIn(ctx, "", time.Now())
	if err != nil {
		c.Log.Error("cannot make a link to the console", "err", err)
		return ""
	}
	return link
}

// stop ends the chats, which tells their clients, and then the rest.
func stop(log *slog.Logger, host *chat.Host, lines *ws.Server, calls calls, kiosk kiosk, front *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopping)
	defer cancel()
	err := errors.Join(host.Stop(ctx), lines.Wait(ctx), calls.Close(ctx))
	kiosk.Close(ctx)
	ctx, cancel = context.WithTimeout(ctx, finishing)
	defer cancel()
	if front.Shutdown(ctx) != nil {
		// Whoever is left asks for nothing, or takes its answer too slowly.
		log.Info("connections that were still open are cut off")
		err = errors.Join(err, front.Close())
	}
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// limitsOf are what the settings let one account and one address take.
func limitsOf(cfg config.Config, log *slog.Logger) api.Limits {
	l := api.Limits{
		RequestsPerSecond:     cfg.Limits.RequestsPerSecond,
		RequestBurst:          cfg.Limits.RequestBurst,
		Connections:           cfg.Limits.Connections,
		ConnectionsPerAddress: cfg.Limits.ConnectionsPerAddress,
	}
	size, err := disk.Size(cfg.Data)
	if err != nil {
		log.Warn("accounts have no limit on the disk, since its size is not known", "err", err)
		return l
	}
	l.DiskPerAccount = cfg.Limits.DiskPerAccount.Of(size)
	return l
}

// certOptions are what the settings say about certificates.
func certOptions(cfg config.Config) certs.Options {
	host, _, _ := net.SplitHostPort(cfg.Listen) // was checked when it was set
	t := cfg.TLS
	return certs.Options{
		Source:        certs.Source(t.Mode),
		Folder:        cfg.TLSFolder(),
		AuthorityFile: cfg.AuthorityFile(),
		CertFile:      t.Cert,
		KeyFile:       t.Key,
		Names:         t.Names,
		Directory:     t.Directory,
		Email:         t.Email,
		Roots:         t.Roots,
		Host:          host,
	}
}
