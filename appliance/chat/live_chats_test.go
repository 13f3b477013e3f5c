package chat

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// The host lists live chats with account and origin, from beginning to end.
func TestTheHostListsLiveChats(t *testing.T) {
	f := newFakes()
	f.closed = make(chan int, 3)
	h := hostOf(f, func(p *Parts) { p.MaxChats = 3 })
	var all []*Session
	for _, account := range []string{"a", "b", "a"} {
		all = append(all, begin(t, h, connection.Opening{
			Account:   account,
			RequestID: "r",
			Kind:      "websocket",
			Client:    "192.0.2.7",
			Line:      f,
		}))
	}
	if chats, accounts, most := h.Load(); chats != 3 || accounts != 2 || most != 2 {
		t.Errorf("%d chats of %d accounts, one of which has %d", chats, accounts, most)
	}
	live := h.Chats()
	if len(live) != 3 || !slices.IsSortedFunc(live, func(a, b Info) int { return a.Since.Compare(b.Since) }) {
		t.Fatalf("live: %+v", live)
	}
	for _, c := range all {
		found, ok := h.Find(c.ID())
		if !ok || found != c {
			t.Fatalf("%s is not found", c.ID())
		}
		about := c.Info()
		if about.ChatID != c.ID() || about.GroupID == "" || about.RequestID != "r" || about.Line != "websocket" ||
			about.Client != "192.0.2.7" || time.Since(about.Since) > time.Minute {
			t.Errorf("about it: %+v", about)
		}
	}
	if all[1].Info().Account != "b" {
		t.Errorf("the second is of %q", all[1].Info().Account)
	}
	all[1].HangUp()
	<-all[1].Done()
	if _, ok := h.Find(all[1].ID()); ok || len(h.Chats()) != 2 {
		t.Errorf("a chat is live after its end: %+v", h.Chats())
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(h.Chats()) != 0 {
		t.Errorf("a host that stopped has %+v", h.Chats())
	}
}

// An observer finds a chat, listens and writes into it. Occupancy signals only the first conversation and the
// end of the last one.
func TestTheHostSignalsOccupancy(t *testing.T) {
	f := newFakes()
	h := hostOf(f, func(p *Parts) { p.MaxChats = 2 })
	signaled := func(changes <-chan struct{}) bool {
		select {
		case <-changes:
			return true
		default:
			return false
		}
	}
	occupied, changes := h.Occupied()
	if occupied || signaled(changes) {
		t.Fatal("a host without a conversation is occupied")
	}
	var slots []*Slot
	for range 2 {
		slot, err := h.Reserve("a")
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, slot)
	}
	if occupied, _ := h.Occupied(); !occupied || !signaled(changes) {
		t.Error("the first conversation was not signaled")
	}
	_, changes = h.Occupied()
	slots[0].Release()
	slots[0].Release()
	if occupied, _ := h.Occupied(); !occupied || signaled(changes) {
		t.Error("the end of one of two conversations was signaled")
	}
	slots[1].Release()
	if occupied, _ := h.Occupied(); occupied || !signaled(changes) {
		t.Error("the end of the last conversation was not signaled")
	}
}

func TestAnObserverListensAndWrites(t *testing.T) {
	f := newFakes()
	h, c := open(t, f)
	if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	found, ok := h.Find(c.ID())
	if !ok {
		t.Fatal("not found")
	}
	l, err := found.Listen(true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := found.Receive(contract.UserInput{Text: "And on Mondays?"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for ends := 0; ends < 2; {
		heard, err := l.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case heard.Cut: // the first answer was still playing
			continue
		case heard.Sound != nil:
			got = append(got, "sound")
		default:
			got = append(got, heard.Message.MessageType())
		}
		if got[len(got)-1] == "assistant_end" {
			ends++
		}
	}
	// without sound, which came before
	want := "chat_metadata user_message assistant_message assistant_message assistant_end " +
		"user_interruption user_message assistant_message sound assistant_message sound assistant_end"
	if strings.Join(got, " ") != want {
		t.Errorf("heard %v", got)
	}
	c.HangUp()
	for err == nil {
		_, err = l.Next(t.Context())
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("the listener ends with %v", err)
	}
	<-c.Done()
	if _, err := c.Listen(false); !errors.Is(err, ErrOver) {
		t.Errorf("listening to what is over: %v", err)
	}
	if err := c.Receive(contract.UserInput{Text: "Anybody?"}); !errors.Is(err, ErrOver) {
		t.Errorf("writing into what is over: %v", err)
	}
}

// Listeners that come and go, or do not listen, have no effect on the chat.
func TestListenersDoNotSlowAChat(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range 15 {
		all.Go(func() {
			for ctx.Err() == nil {
				l, err := c.Listen(n%2 == 0)
				if err != nil {
					return
				}
				if n%3 == 0 { // it never takes anything
					<-ctx.Done()
				}
				_, _ = l.Next(ctx)
				l.Close()
				<-time.After(time.Millisecond)
			}
		})
	}
	var some []*Listener
	for range 20 {
		if l, err := c.Listen(false); err == nil {
			some = append(some, l)
		} else if _, full := errors.AsType[contract.ErrTooMany](err); !full {
			t.Error(err)
		}
		if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
	}
	f.until(t, "assistant_end")
	cancel()
	all.Wait()
	if len(some) > 16 {
		t.Errorf("%d listen at once", len(some))
	}
	for _, l := range some {
		l.Close()
	}
	if _, err := c.Listen(false); err != nil {
		t.Errorf("after all have left: %v", err)
	}
}
