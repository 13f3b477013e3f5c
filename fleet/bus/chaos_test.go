package bus_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

// sender sends messages as a box does: it stores which one it sends and after which, and asks for the last one when it
// does not know whether that arrived.
type sender struct {
	last    uint64
	unknown int // how often it did not know
}

func (s *sender) send(ctx context.Context, b *bus.Box, chat string) error {
	f := factsOf(b.Name(), chat)
	for {
		limit, stop := context.WithTimeout(ctx, 2*time.Second)
		seq, err := b.SendFacts(limit, f, s.last)
		stop()
		var last bus.ErrLast
		var away bus.ErrAway
		switch {
		case err == nil:
			s.last = seq
			return nil
		case errors.As(err, &last):
			s.last = last.Seq
			continue
		case errors.As(err, &away):
		default:
			s.unknown++
		}
		select {
		case <-b.Changed():
		case <-time.After(100 * time.Millisecond): // it is connected again already
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Every message of every box reaches the hub once and in order, whatever the network does and however often the server
// is killed.
func TestFactsReachTheHubOnceThroughChaos(t *testing.T) {
	messages, kills := 150, 3
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		messages, kills = 3000, 60
	}
	for _, kind := range []fleettest.Kind{fleettest.Stock, fleettest.Hubs} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			chaos(t, fleettest.StartProcess(t, kind), messages, kills)
		})
	}
}

func chaos(t *testing.T, f *fleettest.Fleet, messages, kills int) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	bad := fleettest.Faults{
		Delay: 10 * time.Millisecond,
		Life:  1500 * time.Millisecond,
		Late:  300 * time.Millisecond,
	}
	const boxes = 4
	var work sync.WaitGroup
	for i := range boxes {
		j := f.Join(t, fmt.Sprintf("museum-%d", i))
		j.Servers = []string{fleettest.NewRelay(t, f.Servers[0], uint64(i), bad).URL}
		b, err := bus.Dial(j, bus.Options{
			Log:     fleettest.Quiet(),
			Soonest: 20 * time.Millisecond,
			Latest:  100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		work.Go(func() {
			var s sender
			for n := range messages {
				if err := s.send(ctx, b, fmt.Sprint(n)); err != nil {
					t.Errorf("box %d, message %d: %v", i, n, err)
					return
				}
			}
			t.Logf("box %d did not know %d times whether a message had arrived", i, s.unknown)
		})
	}

	o := f.HubOptions(t)
	o.Servers = []string{fleettest.NewRelay(t, f.Servers[0], boxes, bad).URL}
	o.Log, o.Soonest, o.Latest = fleettest.Quiet(), 20*time.Millisecond, 100*time.Millisecond
	h, err := bus.DialHub(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	got := map[string][]string{}
	read := make(chan error, 1)
	go func() {
		random := rand.New(rand.NewPCG(1, 2))
		errBusy := errors.New("database is locked")
		var at bus.Position // committed together with what was received
		left := boxes * messages
		for {
			err := h.Facts(ctx, at, func(_ context.Context, group []bus.Received) error {
				if random.IntN(20) == 0 {
					return errBusy
				}
				for _, r := range group {
					got[r.Box] = append(got[r.Box], r.Facts.Facts[0].Chat.ID)
					at = bus.Position{Seq: r.Seq, ID: r.ID}
				}
				if left -= len(group); left <= 0 {
					return context.Canceled
				}
				return nil
			})
			if !errors.Is(err, errBusy) {
				read <- err
				return
			}
		}
	}()

	for range kills {
		select {
		case <-time.After(time.Duration(500+rand.IntN(1500)) * time.Millisecond): // at some moment of the work
		case <-ctx.Done():
		}
		f.Kill(t)
		f.Restart(t)
	}
	work.Wait()
	if err := <-read; !errors.Is(err, context.Canceled) || ctx.Err() != nil {
		t.Errorf("reading ended with %v", err)
	}
	var want []string
	for n := range messages {
		want = append(want, fmt.Sprint(n))
	}
	for i := range boxes {
		name := fmt.Sprintf("museum-%d", i)
		if !slices.Equal(got[name], want) {
			t.Errorf("of %s, the hub has %d messages, want %d in order: %v", name, len(got[name]), messages, got[name])
		}
	}
	if figures, _ := h.Figures(ctx); figures.Lost > 0 {
		t.Errorf("%d messages are lost", figures.Lost)
	}
}
