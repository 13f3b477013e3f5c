package engines

import (
	"context"
	"slices"
	"time"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/voice"
	"parley/firmware/packs"
	"parley/internal/machine"
)

const (
	// prefetchMemory has to be free before a voice is loaded that nobody has asked for
	// yet: three times what Kokoro takes with its work, so that a box on a small
	// machine keeps its memory for what is asked of it.
	prefetchMemory = 2 << 30
	// prefetchInterval is how long after a moment in which the box is busy it is tried
	// again, and how long after the start for the first time: who starts a box
	// talks to it then, and loading takes one core for seconds.
	prefetchInterval = 30 * time.Second
)

// PrefetchVoices loads the voices of the profile that the first request for them would
// have to wait for, at a moment when nobody talks to the box: chats is how many
// conversations there are. stop waits for the end of that.
func (e *Set) PrefetchVoices(ctx context.Context, chats func() int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if prefetchesKokoro(e.cfg) && waitIdle(ctx, e.Gate, chats) {
			e.prefetchKokoro(ctx)
		}
	}()
	return func() {
		cancel()
		<-over
	}
}

// prefetchesKokoro reports whether the profile has Kokoro, and it is here.
func prefetchesKokoro(cfg config.Config) bool {
	chosen, err := packs.Profile(cfg.Profile)
	return err == nil && slices.ContainsFunc(chosen, func(p packs.Pack) bool { return p.Name == voice.KokoroPack }) &&
		slices.ContainsFunc(Library(cfg), func(b voice.Base) bool { return b.Pack == voice.KokoroPack })
}

// waitIdle waits until nobody talks to the box and nothing is computed; false where ctx
// ends before.
func waitIdle(ctx context.Context, gate *engine.Gate, chats func() int) bool {
	for {
		select {
		case <-time.After(prefetchInterval):
		case <-ctx.Done():
			return false
		}
		leave, err := gate.Enter(ctx, engine.Batch.Urgency(), gate.Cores())
		if err != nil {
			return false
		}
		leave() // loading does not compute with the engines, and takes one core
		if chats() == 0 {
			return true
		}
	}
}

// prefetchKokoro loads Kokoro, if there is memory enough.
func (e *Set) prefetchKokoro(ctx context.Context) {
	if free := freeMemory(); free < prefetchMemory {
		e.log.Info("the voices of Kokoro are loaded when they are first asked for, since memory is short", "free", free,
			"wanted", prefetchMemory)
		return
	}
	begun := time.Now()
	p := e.voicePack(voice.KokoroPack)
	select {
	case <-p.loaded:
	case <-ctx.Done():
		return
	}
	if p.err != nil {
		e.log.Warn("the voices of Kokoro cannot be loaded", "err", p.err)
		return
	}
	e.log.Info("the voices of Kokoro are loaded", "seconds", time.Since(begun).Seconds())
}

// freeMemory is how many bytes this process may still take: of the machine, or of
// the container that it is in.
func freeMemory() int64 {
	free := machine.Bytes("/proc/meminfo", "MemAvailable")
	limit, err := machine.Number("/sys/fs/cgroup/memory.max")
	used, err2 := machine.Number("/sys/fs/cgroup/memory.current")
	if err == nil && err2 == nil {
		free = min(free, limit-used)
	}
	return free
}
