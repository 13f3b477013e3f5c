package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"parley/appliance/contract"
)

const (
	// fleetSeats are the seats of a simulated box: those of a small machine.
	fleetSeats = 4
	// fleetRounds is how often a config is rolled out; the first time does not count.
	fleetRounds = 4
	// fleetChats is how many chats all boxes write together, as fast as they can. A chat has fleetEvents events.
	fleetChats, fleetEvents = 3000, 12
	// fleetCallers is how many sockets the door is to open: more than the hub's processor opens in some seconds.
	fleetCallers = 600
	// fleetParallel is how many clients work at once: as many as keep the cores busy.
	fleetParallel = 16
	// fleetLimit is how long boxes may take to join, to run a config, or to bring their chats to the hub.
	fleetLimit = 5 * time.Minute
)

// Fleet measures a hub with boxes: the hub is a process of its own; the boxes are the real agents with real databases
// and connections in this process, without models, and answer chats as a box does over HTTP.
func Fleet(ctx context.Context, o Options) (Report, error) {
	r := Report{Bench: "fleet", Machine: describe(o.Config)}
	for _, n := range o.Boxes {
		if n < 1 || n > 10_000 {
			return r, &ErrOption{fmt.Sprintf("boxes is %d; allowed are 1 to 10000, several with commas between", n)}
		}
		if err := r.fleet(ctx, o, n); err != nil {
			return r, fmt.Errorf("with %d boxes: %w", n, err)
		}
	}
	return r, nil
}

// fleetRun is one hub with its boxes.
type fleetRun struct {
	o      Options
	report *Report
	prefix string // of the names of the figures
	hub    *fleetHub
	boxes  []*fleetBox
}

// fleet measures a hub with n boxes.
func (r *Report) fleet(ctx context.Context, o Options, n int) (err error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return fmt.Errorf("a data folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f := &fleetRun{o: o, report: r, prefix: fmt.Sprintf("%d_boxes_", n)}
	if f.hub, err = startFleetHub(ctx, o, filepath.Join(dir, "hub")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.hub.stop()) }()
	defer f.stopBoxes()
	for _, step := range []struct {
		doing string
		run   func(context.Context) error
	}{
		{"joining", func(ctx context.Context) error { return f.join(ctx, dir, n) }},
		{"at rest", f.rest},
		{"rolling a config out", f.converge},
		{"sending chats", f.sendChats},
		{"through the door", f.throughDoor},
	} {
		o.announce("%d boxes: %s", n, step.doing)
		limited, cancel := context.WithTimeout(ctx, fleetLimit)
		err := step.run(limited)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w; the hub says: %s", step.doing, err, f.hub.output)
		}
	}
	return nil
}

// figure adds a figure of this size of fleet.
func (f *fleetRun) figure(name string, value float64, unit, note string) {
	f.report.figure(f.prefix+name, value, unit, note)
}

// memory adds the hub's memory.
func (f *fleetRun) memory(name, note string) {
	const perMiB = 1 << 10 // kB
	f.figure(name, kilobytes(fmt.Sprintf("/proc/%d/status", f.hub.pid), "RssAnon")/perMiB, "MiB", note)
}

// join adds the boxes to the hub, starts them, and waits until the hub has seen all.
func (f *fleetRun) join(ctx context.Context, dir string, n int) error {
	f.memory("memory_alone", "of the hub, without file pages, before any box joins")
	f.boxes = make([]*fleetBox, n)
	begun := time.Now()
	var group errgroup.Group
	group.SetLimit(fleetParallel)
	for i := range f.boxes {
		group.Go(func() (err error) {
			name := fmt.Sprintf("box-%d", i+1)
			var added contract.AddedFleetBox
			err = f.hub.ask(ctx, "POST", "/v0/box/fleet/boxes", contract.PostedFleetBox{Name: name}, &added)
			if err != nil {
				return err
			}
			f.boxes[i], err = startFleetBox(ctx, name, filepath.Join(dir, name), added.Join, f.o.Log)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, b := range f.boxes {
		if _, err := b.untilRuns(ctx, func(r running) bool { return r.revision > 0 }); err != nil {
			return err
		}
	}
	f.figure("join", time.Since(begun).Seconds(), "s", "all boxes are added, connected, and run what the hub wants")
	return nil
}

// stopBoxes stops all boxes at once.
func (f *fleetRun) stopBoxes() {
	var all sync.WaitGroup
	for _, b := range f.boxes {
		if b != nil {
			all.Go(b.stop)
		}
	}
	all.Wait()
}

// rest measures the hub while nothing happens but states.
func (f *fleetRun) rest(ctx context.Context) error {
	if f.o.Idle == 0 {
		return nil
	}
	share, err := cpuShare(ctx, f.hub.pid, f.o.Idle)
	if err != nil {
		return err
	}
	f.figure("hub_idle", 100*share, "% of a core", "while boxes tell their states every ten seconds")
	f.memory("memory_joined", "of the hub, without file pages")
	return nil
}

// converge rolls a config out to all boxes, and times when each runs it.
func (f *fleetRun) converge(ctx context.Context) error {
	var took []time.Duration
	var cpu time.Duration
	config, err := f.hub.createConfig(ctx)
	if err != nil {
		return err
	}
	for round := range fleetRounds {
		if round > 0 {
			if err := f.hub.changeConfig(ctx, config, round); err != nil {
				return err
			}
		}
		before, err := cpuTime(f.hub.pid)
		if err != nil {
			return err
		}
		begun := time.Now()
		if err := f.hub.rollOut(ctx, config); err != nil {
			return err
		}
		for _, b := range f.boxes {
			since, err := b.untilRuns(ctx, func(r running) bool { return r.config == config && r.version == round })
			if err != nil {
				return err
			}
			if round > 0 {
				took = append(took, since.Sub(begun))
			}
		}
		if err := f.hub.untilDone(ctx); err != nil {
			return err
		}
		after, err := cpuTime(f.hub.pid)
		if err != nil {
			return err
		}
		if round > 0 {
			cpu += after - before
		}
	}
	note := fmt.Sprintf("from the request until a box runs the config, %d times", fleetRounds-1)
	f.figure("config_p50", quantile(took, 0.5)/float64(time.Millisecond), "ms", note)
	f.figure("config_p95", quantile(took, 0.95)/float64(time.Millisecond), "ms", "")
	f.figure("config_max", quantile(took, 1)/float64(time.Millisecond), "ms", "")
	f.figure("config_cpu", float64(cpu.Milliseconds())/(fleetRounds-1), "ms", "of the hub's processor time, a roll-out")
	return nil
}

// sendChats has all boxes write chats as fast as they can, and times until the hub has all of them.
func (f *fleetRun) sendChats(ctx context.Context) error {
	before, err := cpuTime(f.hub.pid)
	if err != nil {
		return err
	}
	begun := time.Now()
	each := max(fleetChats/len(f.boxes), 1)
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(fleetParallel)
	for _, b := range f.boxes {
		group.Go(func() error { return b.write(writing, each) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	written := time.Since(begun)
	if err := f.hub.untilChats(ctx, each*len(f.boxes)); err != nil {
		return err
	}
	took := time.Since(begun)
	after, err := cpuTime(f.hub.pid)
	if err != nil {
		return err
	}
	chats := float64(each * len(f.boxes))
	f.figure("chats", chats/took.Seconds(), "chats/s", fmt.Sprintf("of %d events each, in the hub's database; the "+
		"boxes, on the same machine, wrote %.0f a second", fleetEvents, chats/written.Seconds()))
	f.figure("events", chats*fleetEvents/took.Seconds(), "events/s", "")
	f.figure("chat_cpu", float64((after-before).Microseconds())/chats, "µs", "of the hub's processor time, a chat")
	f.memory("memory_chats", "of the hub, without file pages, after the chats")
	return nil
}

// throughDoor opens a socket for each seat, or fleetCallers, and counts where they went.
func (f *fleetRun) throughDoor(ctx context.Context) error {
	seats := fleetSeats * len(f.boxes)
	callers := min(seats, fleetCallers)
	before, err := cpuTime(f.hub.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	var mu sync.Mutex
	var open []*websocket.Conn
	var took []time.Duration
	var refused int
	defer func() {
		for _, c := range open {
			_ = c.CloseNow()
		}
	}()
	group, opening := errgroup.WithContext(ctx)
	group.SetLimit(fleetParallel)
	for range callers {
		group.Go(func() error {
			begun := time.Now()
			c, err := f.hub.dial(opening)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, errFull):
				refused++
				return nil
			case err != nil:
				return err
			}
			open = append(open, c)
			took = append(took, time.Since(begun))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	all := time.Since(began)
	after, err := cpuTime(f.hub.pid)
	if err != nil {
		return err
	}
	least, most := math.MaxInt64, 0
	for _, b := range f.boxes {
		n := int(b.opened.Load())
		least, most = min(least, n), max(most, n)
	}
	f.figure("door_opened", float64(len(open)), "sockets", fmt.Sprintf("of %d callers, %d at a time, for %d seats; %d "+
		"were told to wait", callers, fleetParallel, seats, refused))
	f.figure("door_least", float64(least), "chats", "on the box with the fewest")
	f.figure("door_most", float64(most), "chats", fmt.Sprintf("on that with the most; each has %d seats", fleetSeats))
	f.figure("door_p50", quantile(took, 0.5)/float64(time.Millisecond), "ms", "to open a socket through the door")
	f.figure("door_p95", quantile(took, 0.95)/float64(time.Millisecond), "ms", "")
	f.figure("door_rate", float64(len(open))/all.Seconds(), "sockets/s", "")
	f.figure("door_cpu", float64((after-before).Microseconds())/float64(len(open)), "µs",
		"of the hub's processor time, a socket")
	f.memory("memory_sockets", "of the hub, without file pages, with these sockets open")
	return nil
}
