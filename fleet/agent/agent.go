// Package agent is the part of a box that belongs to a fleet: it tells the hub what happens
// on the box and how the box is, and applies what the hub wants it to run.
package agent

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"parley/fleet"
	"parley/store"
)

// Hub is the connection to the hub.
type Hub interface {
	// Changed receives a value when the connection came or went, or there is a new want.
	Changed() <-chan struct{}
	Connected() (is bool, why string)
	// SendFacts returns the number of the message in the stream, or bus.ErrLast.
	SendFacts(ctx context.Context, f fleet.Facts, after uint64) (seq uint64, err error)
	SendState(ctx context.Context, s fleet.State) error
	// Want returns what the box is to run, unless its revision is known.
	Want(ctx context.Context, known int64) (w fleet.Want, changed bool, err error)
	// Plugin writes the plugin file with a SHA-256, which it checks.
	Plugin(ctx context.Context, sha256 string, to io.Writer) error
	SendSound(ctx context.Context, chatID string, from io.ReadSeeker) error
}

// Parts are what an Agent needs.
type Parts struct {
	Fleet   store.Fleet // what the settings say of the fleet
	Hub     Hub
	Records *store.Store
	// State returns what the box says of itself. The agent adds the name, the time, what the
	// box runs, and what waits.
	State func(context.Context) fleet.State
	// Host checks and applies what the hub wants; nil: only the database does.
	Host Host
	// Folder is where the files of wanted plugins lie.
	Folder string
	// OpenSound opens recordings; nil: none are sent.
	OpenSound OpenSound
	Log       *slog.Logger
	// Every is how often a state is sent that has not changed, and Health how often a state is
	// stored for the hub's history; 0 for ten seconds and a minute.
	Every, Health time.Duration
}

const (
	// everyState and everyHealth are the defaults of Parts. A hub takes a box for lost after
	// two states and a half.
	everyState  = 10 * time.Second
	everyHealth = time.Minute
	// stateGap is the least time between two states, so that a busy door does not flood the hub.
	stateGap = 500 * time.Millisecond
	// sendLimit is how long the hub may take for a message: JetStream answers when its disk
	// has it, and a link of a phone network takes seconds for a megabyte.
	sendLimit = 30 * time.Second
	// firstRetry and lastRetry bound the pause after a failure; each is twice the one before.
	firstRetry, lastRetry = time.Second, time.Minute
)

// Agent runs until it is closed.
type Agent struct {
	Parts
	stop    context.CancelFunc
	workers sync.WaitGroup

	facts, state, wants, sounds wake

	wanted  atomic.Int64           // the newest revision that the box has seen
	running atomic.Int64           // the revision that it runs
	why     atomic.Pointer[string] // why it does not run the newest
}

// wake holds one signal for one goroutine.
type wake chan struct{}

func (w wake) up() {
	select {
	case w <- struct{}{}:
	default: // is awake
	}
}

// Start joins the fleet in the database, and starts the agent.
func Start(ctx context.Context, p Parts) (*Agent, error) {
	if p.Every == 0 {
		p.Every = everyState
	}
	if p.Health == 0 {
		p.Health = everyHealth
	}
	if err := p.Records.JoinFleet(ctx, p.Fleet); err != nil {
		return nil, err
	}
	now, err := p.Records.Fleet(ctx)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	a := &Agent{
		Parts:  p,
		stop:   stop,
		facts:  make(wake, 1),
		state:  make(wake, 1),
		wants:  make(wake, 1),
		sounds: make(wake, 1),
	}
	a.wanted.Store(now.Running)
	a.running.Store(now.Running)
	a.setWhy("")
	a.workers.Go(func() { a.listen(ctx) })
	a.workers.Go(func() { a.sendFacts(ctx) })
	a.workers.Go(func() { a.sendStates(ctx) })
	a.workers.Go(func() { a.applyWants(ctx) })
	if p.OpenSound != nil && p.Fleet.Recordings {
		a.workers.Go(func() { a.sendSounds(ctx) })
	}
	return a, nil
}

// Close stops the agent. What is not sent waits for the next start.
func (a *Agent) Close() {
	a.stop()
	a.workers.Wait()
}

// StateChanged sends the state soon if it differs from the one that was sent.
func (a *Agent) StateChanged() { a.state.up() }

// Status returns the revision that the box runs, the newest that it has seen, and why these differ.
func (a *Agent) Status() (running, wanted int64, why string) {
	return a.running.Load(), a.wanted.Load(), *a.why.Load()
}

// listen wakes all others when something changed at the hub.
func (a *Agent) listen(ctx context.Context) {
	for {
		a.facts.up()
		a.state.up()
		a.wants.up()
		a.sounds.up()
		select {
		case <-a.Hub.Changed():
		case <-ctx.Done():
			return
		}
	}
}

func (a *Agent) connected() bool {
	is, _ := a.Hub.Connected()
	return is
}
