// Package hub is the hub of a fleet: it stores what boxes send up, decides what each box is to run, and rolls changes
// out.
package hub

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"parley/fleet"
	"parley/fleet/bus"
	"parley/store"
)

// Bus is the connection to the NATS server (bus.Hub).
type Bus interface {
	Wait(ctx context.Context) error // until it is connected
	Connected() (is bool, why string)
	Prepare(ctx context.Context, l bus.Limits) error
	Facts(ctx context.Context, after bus.Position, handle func(context.Context, []bus.Received) error) error
	States(ctx context.Context, handle func(s fleet.State, stored time.Time)) error
	Sounds(ctx context.Context, folder string, handle func(context.Context, bus.Sound) error) error
	PutWant(ctx context.Context, box string, w fleet.Want) error
	HasPlugin(ctx context.Context, sha256 string) (bool, error)
	PutPlugin(ctx context.Context, sha256 string, from io.Reader) error
	Forget(ctx context.Context, box string) error
	Figures(ctx context.Context) (bus.Figures, error)
}

// Trust makes and revokes the credentials of boxes.
type Trust interface {
	// Join makes credentials of a box. text is the file with which it joins, and key names them.
	Join(box string) (text, key string, err error)
	// Revoke revokes credentials, and closes the connections that are open with them.
	Revoke(ctx context.Context, key string) error
}

// Plugins are the plugins that are installed on the hub.
type Plugins interface {
	// Plugin returns what boxes need to know of an installed plugin, and its file. The error is a contract.ErrNotFound
	// if there is none.
	Plugin(ctx context.Context, name string) (fleet.Plugin, []byte, error)
}

// Parts are what a hub needs.
type Parts struct {
	Name    string   // of the hub
	Servers []string // URLs at which boxes reach the NATS server
	Inside  bool     // whether that server is part of this program
	Limits  bus.Limits
	Folder  string // for recordings that are being received
	Records *store.Store
	Bus     Bus
	Trust   Trust
	Plugins Plugins
	// CheckSetting returns an error unless a setting may be set from afar to this value.
	CheckSetting func(key, value string) error
	Log          *slog.Logger
}

// Hub is the hub of a fleet. Its methods return errors of package contract.
type Hub struct {
	Parts
	now  func() time.Time
	wake chan struct{} // holds one value when what boxes are to run may have changed

	loading sync.Mutex // held by who reads boxes from the database, so that the newest list is stored last

	mu      sync.Mutex
	boxes   map[string]*liveBox // by name; all boxes of the database
	current map[string]plan     // by box, what it is to run
	rate    rate

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// Open returns a hub that works until Close.
func Open(ctx context.Context, p Parts) (*Hub, error) {
	h := &Hub{
		Parts:   p,
		now:     time.Now,
		wake:    make(chan struct{}, 1),
		boxes:   map[string]*liveBox{},
		current: map[string]plan{},
	}
	if err := h.loadBoxes(ctx); err != nil {
		return nil, err
	}
	ctx, h.stop = context.WithCancel(ctx)
	for doing, work := range map[string]func(context.Context) error{
		"reading facts":                     h.readFacts,
		"reading the states of boxes":       h.readStates,
		"reading recordings":                h.readSounds,
		"planning what boxes are to run":    h.planAll,
		"thinning the history of the boxes": h.thin,
		"watching the keys of clients":      h.watchKeys,
	} {
		h.stopped.Go(func() { h.again(ctx, doing, work) })
	}
	return h, nil
}

// Close ends the work of the hub, and waits for its end.
func (h *Hub) Close() {
	h.stop()
	h.stopped.Wait()
}

// retryAfter is the pause after work that failed: the NATS server may be away, or the disk full.
const retryAfter = 2 * time.Second

// again calls work until ctx ends. An error is logged once, until another one comes.
func (h *Hub) again(ctx context.Context, doing string, work func(context.Context) error) {
	said := ""
	for ctx.Err() == nil {
		err := work(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if said != err.Error() {
			h.Log.Warn("the hub will try again", "doing", doing, "err", err)
			said = err.Error()
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

func (h *Hub) readStates(ctx context.Context) error { return h.Bus.States(ctx, h.sawState) }

func (h *Hub) readSounds(ctx context.Context) error { return h.Bus.Sounds(ctx, h.Folder, h.storeSound) }

// replan has what boxes are to run computed again.
func (h *Hub) replan() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// watchKeys computes what boxes are to run again when a key of a client changes.
func (h *Hub) watchKeys(ctx context.Context) error {
	for {
		select {
		case <-h.Records.KeysChanged():
			h.replan()
		case <-ctx.Done():
			return nil
		}
	}
}

// thinEvery is how often old states of boxes are thinned.
const thinEvery = time.Hour

func (h *Hub) thin(ctx context.Context) error {
	tick := time.NewTicker(thinEvery)
	defer tick.Stop()
	for {
		if _, err := h.Records.ThinHubHealth(ctx, h.now()); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
