package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/fleet"
	"parley/fleet/agent"
	"parley/fleet/bus"
	"parley/store"
)

// fleetBox is a box without models: the agent, its database and its connection are those of a box, and it answers the
// address of chats as a box does.
type fleetBox struct {
	name    string
	records *store.Store
	account string
	bus     *bus.Box
	agent   *agent.Agent
	http    *httptest.Server
	live    atomic.Int64
	opened  atomic.Int64 // chats

	mu      sync.Mutex
	runs    running
	changed chan struct{}         // closed and replaced when runs changes
	wanted  map[int64]running     // by revision
	since   map[running]time.Time // when the box ran it first
}

// running is what a box runs: the revision of what the hub wants, and the version of its one config.
type running struct {
	revision int64
	config   string
	version  int
}

// watchedBus is the connection to the hub, of which the benchmark learns what a revision is.
type watchedBus struct {
	*bus.Box
	box *fleetBox
}

// Want returns what the box is to run.
func (w watchedBus) Want(ctx context.Context, known int64) (fleet.Want, bool, error) {
	want, changed, err := w.Box.Want(ctx, known)
	if changed {
		r := running{revision: want.Revision}
		for _, a := range want.Accounts {
			for _, c := range a.Configs {
				r.config, r.version = c.ID, c.Version
			}
		}
		w.box.mu.Lock()
		w.box.wanted[want.Revision] = r
		w.box.mu.Unlock()
	}
	return want, changed, err
}

// startFleetBox starts a box in a folder, which joins by the text of its file.
func startFleetBox(ctx context.Context, name, folder, join string, log *slog.Logger) (_ *fleetBox, err error) {
	log = log.With("box", name)
	b := &fleetBox{name: name, changed: make(chan struct{}), wanted: map[int64]running{},
		since: map[running]time.Time{}}
	defer func() {
		if err != nil {
			b.stop()
		}
	}()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, name+".join")
	if err := os.WriteFile(file, []byte(join), 0o600); err != nil {
		return nil, err
	}
	j, err := bus.ReadJoin(file)
	if err != nil {
		return nil, err
	}
	// Its log would say that the system has too few watches for the keys of so many boxes.
	if b.records, err = store.Open(ctx, filepath.Join(folder, "data"), slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	if _, err = b.records.CreateKey(ctx, store.NewKey{Account: "default"}); err != nil {
		return nil, err
	}
	account, err := b.records.Account(ctx, "default")
	if err != nil {
		return nil, err
	}
	b.account = account.ID
	b.http = httptest.NewServer(http.HandlerFunc(b.answer))
	if b.bus, err = bus.Dial(j, bus.Options{Log: log}); err != nil {
		return nil, err
	}
	b.agent, err = agent.Start(ctx, agent.Parts{
		Fleet:   store.Fleet{Box: name, Hub: j.Hub, Chats: true},
		Hub:     watchedBus{b.bus, b},
		Records: b.records,
		State:   b.state,
		Log:     log,
	})
	return b, err
}

// stop stops what runs of the box.
func (b *fleetBox) stop() {
	if b.agent != nil {
		b.agent.Close()
	}
	if b.bus != nil {
		b.bus.Close()
	}
	if b.http != nil {
		b.http.CloseClientConnections()
		b.http.Close()
	}
	if b.records != nil {
		_ = b.records.Close() // the folder is deleted
	}
}

// state is what the box says of itself. The agent asks for it as soon as the box runs something else.
func (b *fleetBox) state(ctx context.Context) fleet.State {
	if f, err := b.records.Fleet(ctx); err == nil {
		b.nowRuns(f.Running)
	}
	return fleet.State{
		Version: "bench",
		Address: b.http.URL,
		Ready:   true,
		Live:    int(b.live.Load()),
		Seats:   fleetSeats,
		Cores:   2,
	}
}

// nowRuns notes that the box runs a revision.
func (b *fleetBox) nowRuns(revision int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.wanted[revision]; r != b.runs {
		b.runs = r
		b.since[r] = time.Now()
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// untilRuns waits until what the box runs satisfies is, and returns since when it does.
func (b *fleetBox) untilRuns(ctx context.Context, is func(running) bool) (time.Time, error) {
	for {
		b.mu.Lock()
		now, since, changed := b.runs, b.since[b.runs], b.changed
		b.mu.Unlock()
		if is(now) {
			return since, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			_, why := b.bus.Connected()
			return time.Time{}, fmt.Errorf("box %s runs revision %d with version %d of config %q (%s): %w", b.name,
				now.revision, now.version, now.config, why, ctx.Err())
		}
	}
}

// answer opens a chat as a box does: 503 if no seat is free, and a socket otherwise, which lasts until the client
// leaves.
func (b *fleetBox) answer(w http.ResponseWriter, r *http.Request) {
	if b.live.Add(1) > fleetSeats {
		b.live.Add(-1)
		w.Header().Set("Retry-After", "5")
		http.Error(w, `{"code":"full"}`, http.StatusServiceUnavailable)
		return
	}
	defer func() {
		b.live.Add(-1)
		b.agent.StateChanged()
	}()
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	b.opened.Add(1)
	b.agent.StateChanged()
	for {
		kind, text, err := c.Read(r.Context())
		if err == nil {
			err = c.Write(r.Context(), kind, text)
		}
		if err != nil {
			return
		}
	}
}

// write stores chats as conversations do: a commit at the beginning, one a turn, and one at the end.
func (b *fleetBox) write(ctx context.Context, chats int) error {
	for range chats {
		now := time.Now().UnixMilli()
		id := contract.NewID()
		event := func(kind store.EventType, role store.Role, text string) store.Event {
			return store.Event{
				ID:          contract.NewID(),
				AtMS:        now,
				Type:        kind,
				Role:        role,
				MessageText: text,
			}
		}
		err := b.records.StartChat(ctx, store.NewChat{
			ID:        id,
			GroupID:   contract.NewID(),
			AccountID: b.account,
			StartedMS: now,
			RequestID: contract.NewID(),
		}, event(store.ChatStart, store.System, ""))
		for range (fleetEvents - 2) / 2 {
			err = errors.Join(err, b.records.AppendEvents(ctx, id, []store.Event{
				event(store.UserMessage, store.User, "When do you open on Sunday, and is there a guided tour?"),
				event(store.AgentMessage, store.Agent, "We open at ten. The guided tour begins at eleven at the desk."),
			}))
		}
		last := event(store.ChatEnd, store.System, "")
		if err = errors.Join(err, b.records.EndChat(ctx, id, store.UserEnded, now+1000, last)); err != nil {
			return fmt.Errorf("box %s writes a chat: %w", b.name, err)
		}
	}
	return nil
}
