// Package appliance is the box: Run opens its parts in order, runs them, and stops
// them.
package appliance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"parley/appliance/api"
	"parley/appliance/batch"
	"parley/appliance/box"
	"parley/appliance/certs"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/appliance/expression"
	"parley/appliance/line/ws"
	"parley/appliance/metrics"
	"parley/appliance/plugins"
	"parley/appliance/recording"
	"parley/appliance/voices"
	"parley/firmware/packs"
	"parley/internal/disk"
	"parley/internal/version"
	"parley/store"
)

// Run runs the box until ctx ends, and then stops it. The box answers /healthz before
// its models are loaded, and /readyz with 200 when a chat could start.
//
// The error is ErrRestart when an operator restarts the box from the console.
func Run(ctx context.Context, cfg config.Config, console Console) error {
	return runAs(ctx, cfg, console, "box", (*appliance).run)
}

// runAs runs an appliance with run, as Run and RunHub do. The log calls it by its name.
func runAs(ctx context.Context, cfg config.Config, console Console, name string,
	run func(*appliance, context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a := &appliance{cfg: cfg, console: console, log: console.Log, started: time.Now()}
	a.restart = func() { end(ErrRestart) }
	err := run(a, ctx)
	if !errors.Is(context.Cause(ctx), ErrRestart) {
		return err
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrRestart) {
		a.log.Warn("the "+name+" did not stop cleanly before it restarts", "err", err)
	}
	return ErrRestart
}

// ErrRestart means that the box has stopped to start again, with the settings as they are then.
var ErrRestart = errors.New("the box restarts")

func (a *appliance) run(ctx context.Context) error {
	defer a.close()

	if err := a.openStore(ctx); err != nil {
		return err
	}
	a.startSweeping(ctx)
	if err := a.listen(ctx); err != nil {
		return err
	}
	a.openMetrics()
	a.startWebhooks()
	if err := a.openBatch(ctx); err != nil {
		return err
	}
	a.openAdmission(ctx)
	a.openPlugins(ctx)
	if err := a.openLines(); err != nil {
		return err
	}
	a.openVoices(ctx)
	a.openAnswers()
	a.openAnswerSound()
	a.startHTTP(ctx) // answers 503 where the models are needed
	if err := a.joinFleet(ctx); err != nil {
		return err
	}

	if err := a.openEnginesWithPacks(ctx); err != nil {
		return err
	}
	a.startAnswers(ctx)
	if err := a.startHost(ctx); err != nil {
		return err
	}
	a.startSpeech(ctx)
	a.reportLoaded()
	a.prefill(ctx)
	a.startKiosk()
	a.startPhone()
	a.admit(ctx) // from here on chats can start
	a.startBatch(ctx)
	a.prefetchVoices(ctx)
	a.startAnswerSound(ctx)

	select {
	case err := <-a.served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	return a.stop()
}

// appliance is a running box. Each method that opens or starts a part needs the parts
// that Run opens before it.
type appliance struct {
	cfg     config.Config
	console Console
	log     *slog.Logger
	started time.Time
	restart func()   // stops the box with ErrRestart
	closers []func() // in the order of opening

	records   *store.Store
	listener  net.Listener
	limits    api.Limits
	identity  *certs.Identity
	figures   *metrics.Metrics
	batch     *batch.Service
	admission *admission
	plugins   *plugins.Plugins
	prefetch  *prefetch
	sockets   *ws.Server
	calls     calls
	phone     *telephone
	kiosk     *kiosk
	voices    voices.Voices
	lexicons  *voices.Lexicons
	sound     answerSound
	answers   *approved
	speech    *speechAPI
	stream    *streamAPI
	openAI    *openAIAPI
	health    *box.Health
	fleet     fleetHub               // of a hub
	member    atomic.Pointer[member] // nil in no fleet
	http      *http.Server
	served    chan error // receives the error of http, and is closed

	// These are nil before the models are loaded.
	engines *engines.Set
	meter   *expression.Meter // of chats, jobs and streams
	host    *chat.Host
}

func (a *appliance) onClose(f func()) { a.closers = append(a.closers, f) }

// close closes what is open, the newest first.
func (a *appliance) close() {
	for _, f := range slices.Backward(a.closers) {
		f()
	}
}

// openStore opens the database, and ends the chats that a crash left open. It has no
// time limit: the migration of a large database may take minutes.
func (a *appliance) openStore(ctx context.Context) (err error) {
	if a.records, err = store.Open(ctx, a.cfg.Data, a.log); err != nil {
		return err
	}
	a.onClose(func() { a.records.Close() })
	a.recordSettings(ctx)
	ended, err := a.records.EndOpenChats(ctx, time.Now().UnixMilli(), func(chatID string) time.Duration {
		return recording.Length(a.records, chatID, a.log)
	})
	if err != nil {
		return err
	}
	// The secret is created while there is space for it. Then a request for a link to a
	// recording only reads, also on a full disk.
	if _, err := a.records.Secret(ctx, api.AudioURLKey); err != nil {
		a.log.Warn("cannot create the secret that signs links to recordings", "err", err)
	}
	for _, c := range ended {
		a.log.Warn("ended a chat as an error that a crash left open", "chat", c.ID)
	}
	return nil
}

// startSweeping deletes old data in the background.
func (a *appliance) startSweeping(ctx context.Context) {
	a.onClose(inBackground(ctx, func(ctx context.Context) { sweeping(ctx, a.cfg, a.records, a.log) }))
}

// listen listens for HTTP, and opens the certificate of the box.
func (a *appliance) listen(ctx context.Context) error {
	l, err := net.Listen("tcp", a.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen %s: %w: choose another address with --listen, or stop what uses it",
			a.cfg.Listen, err)
	}
	a.limits = limits(a.cfg, a.log)
	a.listener = api.Listen(l, a.limits, a.log)
	a.onClose(func() { a.listener.Close() }) // the HTTP server closes it too
	options := certOptions(a.cfg)
	options.Made = func(names string) {
		recordBoxAct(a.records, a.log, boxAct("certificate.make", "certificate", names,
			"got a new certificate for connections"))
	}
	if a.identity, err = certs.Open(ctx, options, l.Addr(), a.log); err != nil {
		return err
	}
	a.onClose(a.identity.Close)
	return nil
}

func (a *appliance) openMetrics() {
	a.figures = metrics.New(version.String(), a.log)
	a.figures.WatchStore(a.records.Written)
}

// openAdmission opens admission, which refuses all chats until the models are loaded.
func (a *appliance) openAdmission(ctx context.Context) {
	a.admission = &admission{log: a.log, stop: ctx}
	if a.cfg.Retention.History {
		a.admission.writable = a.records.Writable
	}
}

func (a *appliance) openPlugins(ctx context.Context) {
	a.plugins = plugins.Open(a.cfg, a.records, a.figures, a.log)
	a.onClose(func() { a.plugins.Close() })
	a.onClose(a.plugins.RunEndHooks(ctx, a.records))
	a.prefetch = newPrefetch(a.records, a.plugins, a.log)
}

// openVoices opens the voices of the accounts and how their texts are pronounced.
func (a *appliance) openVoices(ctx context.Context) {
	a.voices = voices.Voices{Config: a.cfg, Records: a.records, StandIns: &voices.StandIns{Log: a.log}}
	a.lexicons = voices.NewLexicons(a.records, a.cfg.Speech.Locale, a.cfg.Lexicon, a.log)
	a.speech = &speechAPI{lines: a.sockets, stop: ctx}
	a.stream = &streamAPI{lines: a.sockets, stop: ctx}
	a.openAI = &openAIAPI{voices: a.voices}
}

// startHTTP serves the API, and announces its address in the data folder.
func (a *appliance) startHTTP(ctx context.Context) {
	reported := a.cfg
	reported.Listen = a.listener.Addr().String()
	a.health = box.NewHealth(box.HealthSources{
		Config:  reported,
		Started: a.started,
		Records: a.records,
		Figures: a.figures,
		Chats:   a.admission,
		Speaker: a.kiosk,
		Leaf:    a.identity.Leaf,
		Fleet:   a.inFleet,
	})
	a.limits.BatchUpload = a.batchBody()
	boxPacks := box.NewPacks(ctx, a.cfg)
	a.onClose(boxPacks.Wait)
	a.serve(api.Parts{
		Keys:           a.records,
		Chats:          control{a.sockets, a.admission},
		Calls:          a.calls.api(),
		Speaker:        a.kiosk.api(),
		PhoneStreams:   a.phone.streams,
		Phone:          a.phone,
		Ready:          a.admission,
		Version:        version.String(),
		Log:            a.log,
		Records:        a.records,
		ConfigsChanged: a.configsChanged,
		LexiconChanged: a.lexiconChanged,
		Voices:         a.voices,
		Aliases:        a.voices,
		Speech:         a.speech,
		SpeechInput:    a.speech,
		OpenAI:         a.openAI,
		ModelStream:    a.stream,
		Batch:          batchAPI{a.batch},
		Models:         engines.Catalogue{Config: a.cfg},
		Plugins:        a.plugins,
		BoxPlugins:     a.plugins.Operator(a.figures),
		BoxWebhooks:    box.Webhooks{Config: a.cfg},
		BoxHealth:      a.health,
		BoxPacks:       boxPacks,
		Answers:        triedAnswers{a.answers, a.admission},
		BoxSetUp:       box.ConsoleSetUp{Config: a.cfg, Records: a.records, Again: a.restart},
		Running:        ctx,
		Origins:        a.cfg.Origins,
		Authority:      a.identity.Authority(),
		Metrics:        a.figures,
		Limits:         a.limits,
	})
}

// serve serves the API of p.
func (a *appliance) serve(p api.Parts) {
	a.http = api.NewServer(api.New(p), a.log)
	a.onClose(box.Announce(a.cfg, a.listener.Addr(), a.log))
	a.served = make(chan error, 1)
	go func() {
		defer close(a.served)
		a.served <- a.identity.Serve(a.http, a.listener, api.RewriteLibraryErrors(a.log))
	}()
	a.onClose(func() { a.http.Close(); <-a.served }) // after an error; stop shuts it down gently before
	a.log.Info("listening", "address", a.listener.Addr().String(), "data", a.cfg.Data)
}

// packsEvery is how often a box whose models are missing looks for them.
const packsEvery = 5 * time.Second

// openEnginesWithPacks loads the models. If packs are missing, a service serves the console until
// they are there: it may be the only way to fetch them. Others end with an error.
func (a *appliance) openEnginesWithPacks(ctx context.Context) error {
	err := a.openEngines(ctx)
	missing, is := errors.AsType[*packs.ErrNotReady](err)
	if !is || !a.console.Service {
		return err
	}
	a.log.Warn("models are missing: set the box up at its console or with parley setup, or fetch them with parley "+
		"packs pull; the box goes on by itself then", "err", missing)
	a.reportWaiting("models are missing")
	tick := time.NewTicker(packsEvery)
	defer tick.Stop()
	for is {
		select {
		case err := <-a.served:
			return fmt.Errorf("serving: %w", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		needed, err := packs.Find(a.cfg.Packs, engines.Needs(a.cfg)...)
		if err != nil {
			return err
		}
		_, is = errors.AsType[*packs.ErrNotReady](packs.Require(ctx, a.cfg.Packs, needed))
	}
	return a.openEngines(ctx)
}

// openEngines loads the models, which takes seconds.
func (a *appliance) openEngines(ctx context.Context) (err error) {
	if a.engines, err = engines.Open(ctx, a.cfg, engines.All, a.log); err != nil {
		return err
	}
	a.onClose(func() { a.engines.Close() })
	a.figures.WatchEngines(a.engines.Gate)
	a.figures.WatchServers(a.engines.Servers)
	a.health.WatchEngines(a.engines.Gate, a.engines.Servers)
	return nil
}

// prefill prefills the default prompt, and starts to prefill those of the
// configs in the background.
func (a *appliance) prefill(ctx context.Context) {
	if err := a.host.PrefillDefault(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("cannot prefill the box's prompt", "err", err)
	}
	a.onClose(inBackground(ctx, func(ctx context.Context) { a.prefetch.run(ctx, a.host) }))
}

// prefetchVoices loads further voices in the background, while no chat is live.
func (a *appliance) prefetchVoices(ctx context.Context) {
	a.onClose(a.engines.PrefetchVoices(ctx, a.host.Running))
}

const (
	// stopLimit is how long the box takes to stop: chats are ended, and requests
	// finished. Service managers wait longer than that.
	stopLimit = 4 * time.Second
	// requestLimit is the part of stopLimit that requests have after the chats.
	requestLimit = 2 * time.Second
)

// stop ends the chats, with a message to their clients, and then all requests.
func (a *appliance) stop() error {
	a.log.Info("stopping")
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	a.phone.stop()
	err := errors.Join(a.host.Stop(ctx), a.sockets.Wait(ctx), a.calls.Close(ctx), a.phone.Close(ctx))
	a.kiosk.Close(ctx)
	ctx, cancel = context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if a.http.Shutdown(ctx) != nil {
		// These clients are idle, or take their answers too slowly.
		a.log.Info("closing the connections that are still open")
		err = errors.Join(err, a.http.Close())
	}
	if err == nil {
		a.log.Info("stopped")
	}
	return err
}

// limits returns what the settings let one account and one address use.
func limits(cfg config.Config, log *slog.Logger) api.Limits {
	l := api.Limits{
		RequestsPerSecond:     cfg.Limits.RequestsPerSecond,
		RequestBurst:          cfg.Limits.RequestBurst,
		Connections:           cfg.Limits.Connections,
		ConnectionsPerAddress: cfg.Limits.ConnectionsPerAddress,
	}
	size, err := disk.Size(cfg.Data)
	if err != nil {
		log.Warn("accounts have no disk limit, since the size of the disk is not known", "err", err)
		return l
	}
	l.DiskPerAccount = cfg.Limits.DiskPerAccount.Of(size)
	return l
}

// certOptions returns the settings of the box's certificate.
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
