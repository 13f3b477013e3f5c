package appliance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/api"
	"parley/appliance/chat"
	"parley/store"
)

// aheadConfigs is of how many configs the prompts are read ahead: about as many
// as the language model keeps on the disk. Those used longest ago are read when
// somebody comes for them.
const aheadConfigs = 100

// aheadPatience is for how long a prompt waits until no chat is open before it is
// read beside one, where it gives way to it: a screen may keep its chat open all
// day.
const aheadPatience = 10 * time.Minute

// ahead has the prompts of configs read before anybody comes for them: of all
// when the box starts, and of an account's when it changed them.
type ahead struct {
	records *store.Store
	plugins api.Plugins
	log     *slog.Logger

	mu      sync.Mutex
	changed map[string]bool // accounts
	wake    chan struct{}   // holds one signal that there are some
}

func newAhead(records *store.Store, plugins api.Plugins, log *slog.Logger) *ahead {
	return &ahead{
		records: records,
		plugins: plugins,
		log:     log,
		changed: map[string]bool{},
		wake:    make(chan struct{}, 1),
	}
}

// configsChanged says that an account has made or changed a config or a prompt.
func (a *ahead) configsChanged(account string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed[account] = true
	select {
	case a.wake <- struct{}{}:
	default: // it is awake
	}
}

// begin reads beside everything else until stop is called, which waits for it.
func (a *ahead) begin(ctx context.Context, host *chat.Host) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		a.run(ctx, host)
	}()
	return func() {
		cancel()
		<-over
	}
}

// run reads until ctx ends. What was changed comes before what is there since
// the start: whoever makes a config will try it.
func (a *ahead) run(ctx context.Context, host *chat.Host) {
	if err := undisturbed(ctx, host.Occupied, host.PrefillRules); err != nil && ctx.Err() == nil {
		a.log.Warn("the box's rules cannot be read ahead", "err", err)
	}
	configs := api.NewConfigs(a.records, a.plugins)
	list := a.recent(ctx, "")
	for ctx.Err() == nil {
		list = append(a.news(ctx), list...)
		if len(list) == 0 {
			select {
			case <-a.wake:
			case <-ctx.Done():
			}
			continue
		}
		next := list[0]
		list = list[1:]
		config, err := configs.Config(ctx, next.Account, next.ID, nil)
		if err == nil {
			err = undisturbed(ctx, host.Occupied, func(ctx context.Context) error { return host.Prefill(ctx, config) })
		}
		if err != nil && ctx.Err() == nil {
			a.log.Warn("the prompt of a config cannot be read ahead", "config", next.ID, "err", err)
		}
	}
}

// errTalking ends the reading of a prompt, which goes on from there later.
var errTalking = errors.New("somebody has come to talk")

// undisturbed reads while nobody talks with the box. What is broken off when somebody
// comes is read on when all have left, and beside them when it has waited too long.
// occupied reports whether somebody talks, and returns what is closed as soon as that
// has changed.
func undisturbed(ctx context.Context, occupied func() (bool, <-chan struct{}), read func(context.Context) error) error {
	patience := time.NewTimer(aheadPatience)
	defer patience.Stop()
	late := false
	for {
		talking, changes := occupied()
		for talking && !late {
			select {
			case <-changes:
				talking, changes = occupied()
			case <-patience.C:
				late = true
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if late {
			return read(ctx)
		}
		if err := unless(ctx, changes, read); !errors.Is(err, errTalking) {
			return err
		}
	}
}

// unless reads, and breaks it off with errTalking when somebody comes.
func unless(ctx context.Context, comes <-chan struct{}, read func(context.Context) error) error {
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan error, 1)
	go func() { over <- read(reading) }()
	select {
	case err := <-over:
		return err
	case <-comes:
	}
	stop(errTalking)
	if err := <-over; err == nil {
		return nil // it was at its end
	}
	return errTalking
}

// news are the configs of the accounts that changed some, once.
func (a *ahead) news(ctx context.Context) (list []store.ConfigOf) {
	a.mu.Lock()
	accounts := a.changed
	a.changed = map[string]bool{}
	a.mu.Unlock()
	for account := range accounts {
		list = append(list, a.recent(ctx, account)...)
	}
	return list
}

func (a *ahead) recent(ctx context.Context, account string) []store.ConfigOf {
	list, err := a.records.RecentConfigs(ctx, account, aheadConfigs)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("the prompts of configs are not read ahead", "err", err)
	}
	return list
}
