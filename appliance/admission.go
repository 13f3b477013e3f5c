package appliance

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/api"
	"parley/appliance/chat"
	"parley/appliance/chat/record"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/config"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/expression"
	"parley/appliance/line"
	"parley/appliance/plugins"
	"parley/appliance/recording"
	"parley/appliance/search"
	"parley/appliance/voices"
	"parley/store"
)

// admission decides whether a new chat may start, and reports the reason when it may
// not. Lines are open before the models are loaded; until then it refuses their chats.
type admission struct {
	host atomic.Pointer[chat.Host] // nil before the models are loaded
	// writable returns why chats cannot be written; nil where no history is stored.
	writable func(context.Context) error
	log      *slog.Logger

	mu       sync.Mutex
	watching bool // a goroutine waits until chats can start
	watchers sync.WaitGroup
	stop     context.Context // ends with the box
}

const (
	// loadingRetry is after how long a refused client should try again while the models
	// are loaded, which takes a few seconds.
	loadingRetry = 2 * time.Second
	// probeLimit is how long a write to the disk, and a query for the accounts, may take.
	probeLimit = 2 * time.Second
	// recheckEvery is how often a full or failing disk is checked until it can be
	// written again. A disk that works is not checked.
	recheckEvery = 5 * time.Second
)

// errLoading refuses a request that needs the models.
var errLoading = contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: loadingRetry}

// open lets chats of the host start. open calls ready as soon as a chat can start.
// Until then it calls waiting with the reason, and again when the reason changes.
func (a *admission) open(h *chat.Host, waiting func(why string), ready func()) {
	a.host.Store(h)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch(recheckEvery, waiting, ready)
}

// watch waits on a goroutine until chats can start, and logs the reasons why they
// cannot. a.mu is held.
func (a *admission) watch(every time.Duration, waiting func(why string), ready func()) {
	a.watching = true
	a.watchers.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for reported := ""; ; {
			_, all := a.missing(a.stop)
			why := strings.Join(all, "; ")
			if why == "" || a.stop.Err() != nil {
				break
			}
			if why != reported {
				reported = why
				a.log.Error("not ready: no conversation can start", "why", why)
				waiting(why)
			}
			select {
			case <-tick.C:
			case <-a.stop.Done():
			}
		}
		a.mu.Lock()
		a.watching = false
		a.mu.Unlock()
		if a.stop.Err() == nil {
			ready()
		}
	})
}

// wait waits for the goroutine of watch, after stop has ended.
func (a *admission) wait() { a.watchers.Wait() }

// Missing returns the reasons why chats cannot start. When it is the first to find a
// fault, it has the fault and its end logged.
func (a *admission) Missing(ctx context.Context) []string {
	missing, _ := a.missing(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(missing) > 0 && a.host.Load() != nil && !a.watching && a.stop.Err() == nil {
		a.watch(recheckEvery, func(string) {}, func() { a.log.Info("ready again") })
	}
	return missing
}

// missing returns the reasons why chats cannot start: in public words, and with
// all details for the log.
func (a *admission) missing(ctx context.Context) (public, full []string) {
	if a.host.Load() == nil {
		public = append(public, errLoading.Why)
	}
	full = slices.Clone(public)
	if a.writable != nil {
		ctx, cancel := context.WithTimeout(ctx, probeLimit)
		defer cancel()
		if err := a.writable(ctx); err != nil {
			public, full = append(public, publicReason(err)), append(full, err.Error())
		}
	}
	return public, full
}

// publicReason returns the public description of a fault of the disk.
func publicReason(err error) string {
	for _, kind := range []error{store.ErrFull, store.ErrReadOnly, store.ErrDamaged, store.ErrBusy, store.ErrClosed} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "the data folder cannot be written; the box's log says why"
}

// Live counts the live chats, and the accounts that have them.
func (a *admission) Live() (chats, accounts int) {
	if host := a.host.Load(); host != nil {
		chats, accounts, _ = host.Load()
	}
	return chats, accounts
}

// Reserve reserves a slot for a chat of an account, or returns why the chat cannot
// start: its client learns that before the line is open. It implements line.Host.
func (a *admission) Reserve(account string) (line.Slot, error) {
	host := a.host.Load()
	if host == nil {
		return nil, errLoading
	}
	if missing := a.Missing(a.stop); len(missing) > 0 {
		return nil, contract.ErrUnavailable{Why: strings.Join(missing, "; "), RetryAfter: recheckEvery}
	}
	s, err := host.Reserve(account)
	if err != nil {
		return nil, err
	}
	return slot{s}, nil
}

// slot is a chat.Slot with the types of package line.
type slot struct{ *chat.Slot }

// Open starts the chat.
func (s slot) Open(ctx context.Context, o connection.Opening) (line.Session, error) {
	c, err := s.Slot.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// startHost starts the host of the chats. No chat can start before admission is open.
func (a *appliance) startHost(ctx context.Context) error {
	var err error
	if a.meter, err = expression.New(); err != nil {
		return err
	}
	history, recordings := chatRecords(a.cfg.Retention, a.records)
	a.host = chat.NewHost(ctx, chat.Parts{
		Detector:        a.engines.Detector,
		Transcriber:     a.engines.Transcriber,
		TurnEnd:         a.engines.TurnEnd,
		Model:           a.engines.Model,
		Voices:          voices.NewForChats(a.voices, a.engines, a.log),
		Pronunciation:   a.lexicons.Options,
		StoredSound:     a.sound.store,
		Answers:         a.answers,
		Records:         history,
		Recordings:      recordings,
		Outbox:          a.records,
		Defaults:        chatDefaults(a.cfg),
		Log:             a.log,
		MaxChats:        a.cfg.MaxChats(),
		MaxAddedDelay:   time.Duration(a.cfg.Chat.MaxAddedMS) * time.Millisecond,
		ChatsPerAccount: a.cfg.ChatsPerAccount(),
		SoleAccount:     alone(ctx, a.cfg, a.records),
		Configs:         api.NewConfigs(a.records, a.plugins),
		Models:          a.engines,
		StrictModels:    a.cfg.StrictModels,
		Tools:           toolbox{a.plugins, search.Server{URL: a.cfg.WebSearch}},
		Plugins:         a.plugins,
		Rules:           chat.RulesOf(a.engines.Rules),
		Expression:      chatExpression(a.cfg.Expression, a.meter),
		TellFeelings:    engines.FeelingsInPrompt(a.cfg.Expression),
		Changed:         a.stateChanged,
		Observe:         func(s chat.Stage, took time.Duration) { a.figures.Turn(string(s), took) },
	})
	a.plugins.OnChange(a.pluginsChanged)
	a.figures.WatchChats(a.host.Load, a.cfg.MaxChats())
	return nil
}

// admit lets chats start, and reports to the operator when the first one can.
func (a *appliance) admit(ctx context.Context) {
	a.admission.open(a.host, a.reportWaiting, func() { a.reportReady(ctx); a.stateChanged() })
	a.onClose(a.admission.wait)
}

// chatRecords returns where chats are written and recorded. Without a history only
// webhooks are written, and without audio nothing is recorded.
func chatRecords(r config.Retention, records *store.Store) (chat.Records, chat.Recordings) {
	switch {
	case !r.History:
		return record.Unrecorded{Outbox: records}, nil
	case !r.Audio:
		return records, nil
	}
	return records, recorders{records, recording.NewSyncer()}
}

// recorders makes the recorders of chats, which write into files of the store.
type recorders struct {
	*store.Store
	syncer *recording.Syncer
}

// Recorder returns the recorder of a chat. clock returns the time since the chat
// started.
func (r recorders) Recorder(chatID string, clock func() time.Duration, log *slog.Logger) chat.Recorder {
	return recording.New(chatID, r.Store, r.syncer, clock, log)
}

// chatDefaults returns the settings of a chat where neither its config nor its client
// sets them.
func chatDefaults(cfg config.Config) turn.Settings {
	s := chat.DefaultSettings()
	s.Semantic = cfg.TurnDetection.Mode == string(contract.TurnSemantic)
	if cfg.Tools.TimeoutS > 0 {
		s.ToolLimit = time.Duration(cfg.Tools.TimeoutS) * time.Second
	}
	if cfg.Chat.SoundLeadS > 0 {
		s.Lead = time.Duration(cfg.Chat.SoundLeadS) * time.Second
	}
	s.Plugins = cfg.Plugins
	s.Filler = time.Duration(cfg.Tools.FillerMS) * time.Millisecond
	return s
}

// alone returns a function that reports whether an account is the only one of the
// box, and so need not leave slots to others. It returns nil if the operator has set
// the number of chats per account.
func alone(ctx context.Context, cfg config.Config, records *store.Store) func(account string) bool {
	if cfg.Limits.ChatsPerAccount > 0 {
		return nil
	}
	return func(account string) bool {
		ctx, cancel := context.WithTimeout(ctx, probeLimit)
		defer cancel()
		all, err := records.Accounts(ctx)
		return err == nil && !slices.ContainsFunc(all, func(a store.Account) bool { return a.ID != account })
	}
}

// toolbox runs the tools that the box runs for chats: those of plugins, and
// web_search.
type toolbox struct {
	plugins *plugins.Plugins
	search  search.Server
}

// RunTool implements reply.Toolbox.
func (t toolbox) RunTool(ctx context.Context, r reply.ToolRun) (string, error) {
	if r.Tool.Plugin != "" {
		return t.plugins.Run(ctx, r)
	}
	return t.search.RunTool(ctx, r.Tool.Name, r.Arguments)
}
