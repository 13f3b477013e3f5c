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
	// prefetchMemory is the free memory that prefetching a voice requires: three times what Kokoro
	// needs, so that a small machine keeps its memory for requests.
	prefetchMemory = 2 << 30
	// prefetchInterval is the interval between attempts while the box is busy, and the delay of the
	// first one: users talk to a box just after its start, and loading uses one core for seconds.
	prefetchInterval = 30 * time.Second
)

// PrefetchVoices loads the voices of the profile before their first use, when nobody talks to the
// box; chats returns the number of conversations. stop waits for the goroutine to end.
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

// prefetchesKokoro reports whether the profile includes Kokoro and it is installed.
func prefetchesKokoro(cfg config.Config) bool {
	chosen, err := packs.Profile(cfg.Profile)
	return err == nil && slices.ContainsFunc(chosen, func(p packs.Pack) bool { return p.Name == voice.KokoroPack }) &&
		slices.ContainsFunc(Library(cfg), func(b voice.Base) bool { return b.Pack == voice.KokoroPack })
}

// waitIdle waits until nobody talks to the box and nothing is computed. It returns false if ctx
// ends first.
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
		leave() // loading does not use the engines, and takes one core
		if chats() == 0 {
			return true
		}
	}
}

// prefetchKokoro loads Kokoro if there is enough memory.
func (e *Set) prefetchKokoro(ctx context.Context) {
	if free := freeMemory(); free < prefetchMemory {
		e.log.Info("memory is short: Kokoro's voices are loaded on their first use", "free", free,
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
		e.log.Warn("loading Kokoro's voices failed", "err", p.err)
		return
	}
	e.log.Info("Kokoro's voices are loaded", "seconds", time.Since(begun).Seconds())
}

// freeMemory returns how many bytes this process may still allocate, on the machine or in its
// container.
func freeMemory() int64 {
	free := machine.Bytes("/proc/meminfo", "MemAvailable")
	limit, err := machine.Number("/sys/fs/cgroup/memory.max")
	used, err2 := machine.Number("/sys/fs/cgroup/memory.current")
	if err == nil && err2 == nil {
		free = min(free, limit-used)
	}
	return free
}
