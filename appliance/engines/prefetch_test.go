package engines

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/engine"
)

// Prefetching waits until nothing is computed and nobody talks to the box.
func TestVoicesArePrefetchedWhenTheBoxIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, begun := engine.NewGate(2), time.Now()
		var chats atomic.Int32
		chats.Store(1)
		leave, err := gate.Enter(t.Context(), engine.Live.Urgency(), 1)
		if err != nil {
			t.Fatal(err)
		}
		went := make(chan time.Duration)
		go func() {
			if waitIdle(t.Context(), gate, func() int { return int(chats.Load()) }) {
				went <- time.Since(begun)
			}
		}()
		time.Sleep(prefetchInterval + 5*time.Second)
		leave()                 // the chat is still there
		time.Sleep(time.Second) // the gate lets other work begin a moment after a conversation's
		chats.Store(0)
		want := prefetchInterval + 5*time.Second + prefetchInterval
		if after := <-went; after < want || after > want+time.Second {
			t.Errorf("waitIdle returned after %v, want %v", after, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if waitIdle(ctx, gate, func() int { return 0 }) {
			t.Error("a box that stops is idle")
		}
	})
}

func TestFreeMemoryIsKnown(t *testing.T) {
	if free := freeMemory(); free < 1<<20 || free > 1<<50 {
		t.Errorf("%d bytes are free", free)
	}
}
