package bus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

// A box and a hub stand in one network, their server in another. The cable between them is pulled, and loses what goes
// in one direction.
func TestFactsReachTheHubOnceThroughPartitions(t *testing.T) {
	t.Parallel()
	if !fleettest.InNetwork(t) {
		return
	}
	lasts := 2 * time.Second
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		lasts = 100 * time.Second // longer than both ends wait for a sign of the other
	}
	f, network := fleettest.StartAcross(t, fleettest.Stock)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()

	b := f.Box(t, f.Join(t, "museum-1"))
	var sent, total atomic.Int64 // total is known when the box has stopped
	sending, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	var s sender
	go func() {
		defer close(done)
		for sending.Err() == nil {
			if err := s.send(ctx, b, fmt.Sprint(sent.Load())); err != nil {
				t.Error(err)
				return
			}
			sent.Add(1)
			time.Sleep(5 * time.Millisecond) // a message of a box that is busy
		}
	}()
	var got []string
	read := make(chan error, 1)
	h := f.Hub(t)
	go func() {
		read <- h.Facts(ctx, bus.Position{}, func(_ context.Context, group []bus.Received) error {
			for _, r := range group {
				got = append(got, r.Facts.Facts[0].Chat.ID)
			}
			if int64(len(got)) == total.Load() {
				return context.Canceled
			}
			return nil
		})
	}()

	for _, fault := range []struct {
		name       string
		begin, end func(testing.TB)
	}{
		{"the cable is pulled", network.Pull, network.Plug},
		{"nothing comes from the server", network.Deafen, network.Hear},
		{"nothing comes to the server", network.Mute, network.Speak},
	} {
		before := sent.Load()
		time.Sleep(300 * time.Millisecond)
		if sent.Load() == before {
			t.Errorf("before %s, the box sends nothing", fault.name)
		}
		fault.begin(t)
		time.Sleep(lasts) // the fault that is tested
		during := sent.Load()
		fault.end(t)
		ended := time.Now()
		for sent.Load() == during {
			select {
			case <-b.Changed():
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("when this has ended, the box sends nothing: %s", fault.name)
			}
		}
		t.Logf("%s for %v; %v later, the box sends again", fault.name, lasts, time.Since(ended).Round(time.Millisecond))
	}
	stop()
	<-done
	total.Store(sent.Load() + 1)
	if err := s.send(ctx, b, fmt.Sprint(sent.Load())); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, context.Canceled) || ctx.Err() != nil {
		t.Error(err)
	}
	var want []string
	for n := range total.Load() {
		want = append(want, fmt.Sprint(n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the hub has %d messages, want %d in order: %v", len(got), total.Load(), got)
	}
	t.Logf("%d messages; the box did not know %d times whether one had arrived", len(got), s.unknown)
}
