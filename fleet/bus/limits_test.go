package bus_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

// bulky returns facts of some 800 KB.
func bulky(box string) fleet.Facts { return factsOf(box, strings.Repeat("x", 800_000)) }

// A stream that is full loses its oldest messages, not the newest, and the hub says how many it has not seen.
func TestFullStreamLosesTheOldestAndSaysSo(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx := bounded(t)
		// The smallest stream that there is.
		if err := h.Prepare(ctx, bus.Limits{Age: time.Hour, Bytes: 1, Sound: 1}); err != nil {
			t.Fatal(err)
		}
		first := factsOf("museum-1", "first")
		last, err := b.SendFacts(ctx, first, 0)
		if err != nil {
			t.Fatal(err)
		}
		const messages = 30 // of which 16 MB hold some twenty
		for range messages {
			if last, err = b.SendFacts(ctx, bulky("museum-1"), last); err != nil {
				t.Fatal(err)
			}
		}
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		got := 0
		err = h.Facts(reading, bus.Position{Seq: 1, ID: first.ID}, func(_ context.Context, group []bus.Received) error {
			size := 0
			for _, r := range group {
				size += len(r.Facts.Facts[0].Chat.ID)
			}
			if size > 9<<20 {
				t.Errorf("the hub holds %d bytes at once", size)
			}
			if got += len(group); group[len(group)-1].Seq == last {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		figures, err := h.Figures(ctx)
		if err != nil || figures.Lost == 0 || int(figures.Lost)+got != messages || figures.Pending != 0 ||
			figures.Messages != uint64(got) {
			t.Errorf("the hub got %d of %d messages, and its figures are %+v (%v)", got, messages, figures, err)
		}
		if _, err := b.SendFacts(ctx, bulky("museum-1"), last); err != nil {
			t.Errorf("after that: %v", err)
		}
	})
}

// Recordings for which there is no room stay on the box until the hub has fetched others.
func TestRecordingsWaitForRoom(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx := bounded(t)
		if err := h.Prepare(ctx, bus.Limits{Age: time.Hour, Bytes: 1, Sound: 1}); err != nil {
			t.Fatal(err)
		}
		sound := bytes.Repeat([]byte("la"), 2<<20)
		sent, full := 0, bus.ErrFull{}
		for !errors.As(b.SendSound(ctx, uuid.NewString(), bytes.NewReader(sound)), &full) {
			if sent++; sent > 8 {
				t.Fatal("16 MB hold 8 recordings of 4 MB")
			}
		}
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		got := 0
		if err := h.Sounds(reading, t.TempDir(), func(context.Context, bus.Sound) error {
			if got++; got == sent {
				cancel()
			}
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := b.SendSound(ctx, uuid.NewString(), bytes.NewReader(sound)); err != nil {
			t.Errorf("after the hub has fetched %d: %v", got, err)
		}
	})
}

// A hub whose disk is slow gets everything once, and nobody waits for it.
func TestSlowHubDelaysNobody(t *testing.T) {
	t.Parallel()
	f := fleettest.Start(t)
	b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
	ctx := bounded(t)
	const messages = 600 // more than two requests of the hub
	busy, sent := make(chan struct{}), make(chan struct{})
	got, blocked := []string{}, false
	reading := make(chan error, 1)
	go func() {
		reading <- h.Facts(ctx, bus.Position{}, func(_ context.Context, group []bus.Received) error {
			if !blocked {
				blocked = true
				close(busy)
				<-sent
				time.Sleep(5 * time.Second) // longer than the server's heartbeat may be missed
			}
			for _, r := range group {
				got = append(got, r.ID)
			}
			if len(got) == messages {
				return context.Canceled
			}
			return nil
		})
	}()
	var want []string
	last := uint64(0)
	for n := range messages {
		m := factsOf("museum-1", "a")
		want = append(want, m.ID)
		var err error
		if last, err = b.SendFacts(ctx, m, last); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			<-busy
		}
	}
	close(sent)
	if err := <-reading; !errors.Is(err, context.Canceled) || ctx.Err() != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the hub has other messages than were sent, or in another order")
	}
}

// However often the hub changes its mind, and whatever the network does, a box gets a want whole or not at all.
func TestWantIsNeverHalf(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		h := f.Hub(t)
		j := f.Join(t, "museum-1")
		j.Servers = []string{fleettest.NewRelay(t, f.Servers[0], 7, fleettest.Faults{
			Delay: 3 * time.Millisecond,
			Life:  time.Second,
		}).URL}
		b, err := bus.Dial(j, bus.Options{
			Log:     fleettest.Quiet(),
			Soonest: 10 * time.Millisecond,
			Latest:  50 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		ctx := bounded(t)
		const revisions = 6
		go func() {
			for n := range int64(revisions) {
				if err := h.PutWant(ctx, "museum-1", wantOf(t, n+1, 600<<10)); err != nil { // of two parts
					t.Error(err)
				}
				time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // sometimes before the box has read it
			}
		}()
		known, failed, seen := int64(0), 0, 0
		for known < revisions {
			w, changed, err := b.Want(ctx, known)
			switch {
			case ctx.Err() != nil:
				t.Fatalf("the box is at %d", known)
			case err != nil:
				failed++
				if strings.Contains(err.Error(), "is not complete") {
					t.Errorf("after %d: %v", known, err)
				}
			case changed:
				if c := w.Accounts[0].Configs[0]; c.Version != int(w.Revision) || len(c.Content) < 600<<10 ||
					w.Revision < known {
					t.Errorf("revision %d after %d has version %d and %d bytes", w.Revision, known, c.Version,
						len(c.Content))
				}
				known = w.Revision
				seen++
				continue
			}
			select { // the box has this one, or is not connected
			case <-b.Changed():
			case <-time.After(50 * time.Millisecond):
			}
		}
		t.Logf("the box saw %d revisions; %d times it got none", seen, failed)
	})
}
