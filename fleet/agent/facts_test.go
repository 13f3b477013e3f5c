package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/fleet"
	"parley/fleet/bus"
	"parley/store"
)

// errLost is the answer of a stream that does not answer: the message is stored or it is not.
var errLost = errors.New("no answer")

// errKilled ends the box before it can record an answer.
var errKilled = errors.New("killed")

// stream is what a hub's stream has of one box. fate decides what becomes of the next message.
type stream struct {
	Hub
	messages []fleet.Facts
	from     uint64 // number of the first message
	fate     string
	late     []func() // messages that are on their way
}

func (s *stream) Connected() (bool, string) { return true, "" }

func (s *stream) last() bus.ErrLast {
	if len(s.messages) == 0 {
		return bus.ErrLast{}
	}
	return bus.ErrLast{Seq: s.from + uint64(len(s.messages)), ID: s.messages[len(s.messages)-1].ID}
}

func (s *stream) SendFacts(_ context.Context, f fleet.Facts, after uint64) (uint64, error) {
	store := func() error {
		if last := s.last(); last.Seq != after {
			return last
		}
		s.messages = append(s.messages, f)
		return nil
	}
	fate := s.fate
	s.fate = ""
	switch fate {
	case "lost":
		return 0, errLost
	case "late":
		s.late = append(s.late, func() { _ = store() })
		return 0, errLost
	case "killed":
		_ = store()
		return 0, errKilled
	case "answer lost":
		_ = store()
		return 0, errLost
	}
	return s.last().Seq + 1, store()
}

// hubSide is what a hub makes of the messages of a stream.
type hubSide struct {
	chats map[string]fleet.Chat
	acts  map[string]int // by number and time: how often
	times map[string]int // how often each event came, by chat and place
}

func (s *stream) hubSide(t testing.TB) hubSide {
	h := hubSide{chats: map[string]fleet.Chat{}, acts: map[string]int{}, times: map[string]int{}}
	for _, m := range s.messages {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 800_000 || len(m.Facts) > 501 {
			t.Fatalf("a message has %d facts and %d bytes", len(m.Facts), len(text))
		}
		for _, f := range m.Facts {
			switch {
			case f.Chat != nil:
				h.take(*f.Chat)
			case f.Deleted != nil:
				for id, c := range h.chats {
					if c.GroupID == f.Deleted.GroupID {
						delete(h.chats, id)
					}
				}
			case f.Act != nil:
				var act struct {
					Num int64 `json:"id"`
					At  int64 `json:"created_on"`
				}
				if err := json.Unmarshal(f.Act, &act); err != nil || act.Num == 0 {
					t.Fatalf("act %s: %v", f.Act, err)
				}
				h.acts[fmt.Sprint(act)]++
			}
		}
	}
	return h
}

func (h hubSide) take(c fleet.Chat) {
	events := h.chats[c.ID].Events
	for _, e := range c.Events {
		for int64(len(events)) < e.Seq {
			events = append(events, fleet.Event{})
		}
		events[e.Seq-1] = e
		h.times[fmt.Sprint(c.ID, " ", e.Seq)]++
	}
	c.Events = events[:min(len(events), c.EventCount)]
	h.chats[c.ID] = c
}

// boxSide is a box whose agent a test runs step by step.
type boxSide struct {
	dir     string
	copy    string // an older copy of the database; empty: none
	records *store.Store
	agent   *Agent
	account string
	live    []string // chats
	groups  []string
	spoken  int // sentences
}

func (b *boxSide) open(t testing.TB, hub Hub) {
	ctx := context.Background()
	var err error
	log := slog.New(slog.DiscardHandler)
	if b.records, err = store.Open(ctx, b.dir, log); err != nil {
		t.Fatal(err)
	}
	of := store.Fleet{Box: "museum-3", Hub: "museum", Chats: true}
	check(t, b.records.JoinFleet(ctx, of))
	b.agent = &Agent{Parts: Parts{Fleet: of, Hub: hub, Records: b.records, Log: log}}
	if b.account == "" {
		_, err := b.records.CreateKey(ctx, store.NewKey{Account: "home"})
		check(t, err)
		a, err := b.records.Account(ctx, "home")
		check(t, err)
		b.account = a.ID
	}
	_, err = b.records.EndOpenChats(ctx, time.Now().UnixMilli(), func(string) time.Duration { return 0 })
	check(t, err)
	b.live = nil
}

func (b *boxSide) close(t testing.TB) { check(t, b.records.Close()) }

// restart ends the box as a crash does: nothing that is in memory survives.
func (b *boxSide) restart(t testing.TB, hub Hub) {
	b.close(t)
	b.open(t, hub)
}

func (b *boxSide) event() store.Event {
	b.spoken++
	return store.Event{
		ID:          uuid.NewString(),
		AtMS:        time.Now().UnixMilli(),
		Type:        store.UserMessage,
		Role:        store.User,
		MessageText: fmt.Sprint("sentence ", b.spoken),
	}
}

// drain sends all that waits.
func (b *boxSide) drain(t testing.TB) {
	for range 1000 {
		more, err := b.agent.sendMessage(context.Background())
		if err != nil && !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		if err == nil && !more {
			return
		}
	}
	t.Fatal("there is no end of what the box sends")
}

// differences returns what differs between the chats of the box and those of the hub.
func (b *boxSide) differences(t testing.TB, h hubSide) (list []string) {
	ctx := context.Background()
	on := map[string]bool{}
	page, _, err := b.records.Chats(ctx, b.account, store.ChatFilter{}, store.Page{Size: 100_000})
	check(t, err)
	for _, c := range page {
		on[c.ID] = true
		events, err := b.records.ImportedEvents(ctx, c.ID, 0, 100_000)
		check(t, err)
		want, got := *chatOf(store.FleetChat{Chat: c, Account: "home", Events: events}), h.chats[c.ID]
		if !reflect.DeepEqual(got, want) {
			list = append(list, fmt.Sprintf("chat %s\n box: %.2000s\n hub: %.2000s", c.ID, fmt.Sprint(want),
				fmt.Sprint(got)))
		}
	}
	for id := range h.chats {
		if !on[id] {
			list = append(list, "the box does not have the chat "+id)
		}
	}
	return list
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHubGetsEachChatOnce runs random sequences of what happens on a box: chats, changes,
// deletions, messages that are lost, late or unanswered, and ends of the process between any
// two steps. In the end the hub has exactly the chats and acts of the box, and got each event
// once, and again only when it was amended.
func TestHubGetsEachChatOnce(t *testing.T) {
	walks, steps := 6, 60
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		walks, steps = 400, 300
	}
	for seed := range walks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel() // most of the time it waits for the disk
			w := newWalk(t, uint64(seed))
			for range steps {
				w.step(t, w.dice.IntN(18))
			}
			h := w.finish(t)
			for _, d := range w.box.differences(t, h) {
				t.Error(d)
			}
			for event, times := range h.times {
				if times > 1+w.amended[event] {
					t.Errorf("the hub got event %s %d times, and it was amended %d times", event, times,
						w.amended[event])
				}
			}
			for act, times := range h.acts {
				if times != 1 {
					t.Errorf("the hub got act %s %d times", act, times)
				}
			}
			if len(h.acts) != w.acts {
				t.Errorf("the hub has %d acts of %d", len(h.acts), w.acts)
			}
		})
	}
}

// TestHubHasTheChatsOfARestoredBox also restores older copies of the database. What the box
// lost by that may stay on the hub; what the box has is there as the box has it.
func TestHubHasTheChatsOfARestoredBox(t *testing.T) {
	walks, steps := 6, 60
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		walks, steps = 400, 300
	}
	for seed := range walks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel() // most of the time it waits for the disk
			w := newWalk(t, 1_000_000+uint64(seed))
			for range steps {
				w.step(t, w.dice.IntN(20))
			}
			h := w.finish(t)
			for id := range h.chats {
				if w.lost[id] {
					delete(h.chats, id)
				}
			}
			for _, d := range w.box.differences(t, h) {
				t.Error(d)
			}
		})
	}
}

// walk is a random sequence.
type walk struct {
	dice    *rand.Rand
	hub     *stream
	box     boxSide
	acts    int
	amended map[string]int  // by chat and place
	lost    map[string]bool // chats that a restore took from the box, or brought back
	copied  map[string]bool // chats in the older copy
}

func newWalk(t *testing.T, seed uint64) *walk {
	w := &walk{
		dice:    rand.New(rand.NewPCG(seed, 1)),
		hub:     &stream{},
		amended: map[string]int{},
		lost:    map[string]bool{},
	}
	w.box.dir = t.TempDir()
	w.box.open(t, w.hub)
	t.Cleanup(func() { w.box.close(t) })
	return w
}

func (w *walk) step(t *testing.T, kind int) {
	ctx, b := t.Context(), &w.box
	live := ""
	if len(b.live) > 0 {
		live = b.live[w.dice.IntN(len(b.live))]
	}
	switch {
	case kind < 2:
		b.start(t, w.dice)
	case kind < 6 && live != "":
		check(t, b.records.AppendEvents(ctx, live, []store.Event{b.event(), b.event()}))
	case kind == 6 && live != "": // of these, two fit into a message
		e := b.event()
		e.MessageText = strings.Repeat("<", 40<<10+w.dice.IntN(20<<10))
		check(t, b.records.AppendEvents(ctx, live, []store.Event{e, b.event(), repeated(e), repeated(e), repeated(e)}))
	case kind == 7:
		w.amend(t)
	case kind == 8 && live != "":
		check(t, b.records.EndChat(ctx, live, store.UserEnded, time.Now().UnixMilli()))
		b.live = slices.DeleteFunc(b.live, func(id string) bool { return id == live })
	case kind == 9 && len(b.live) == 0 && len(b.groups) > 0:
		i := w.dice.IntN(len(b.groups))
		err := b.records.DeleteChatGroup(ctx, b.account, b.groups[i])
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		b.groups = slices.Delete(b.groups, i, i+1)
	case kind == 10:
		w.acts++
		check(t, b.records.RecordAct(ctx, store.Act{What: "key.create", Text: "created a key"}))
	case kind == 11:
		b.restart(t, w.hub)
	case kind < 16:
		w.hub.fate = []string{"", "", "lost", "late", "answer lost", "killed"}[w.dice.IntN(6)]
		if _, err := b.agent.sendMessage(ctx); errors.Is(err, errKilled) {
			b.restart(t, w.hub)
		}
		w.hub.fate = ""
	case kind < 18:
		for _, arrives := range w.hub.late {
			arrives()
		}
		w.hub.late = nil
	case kind == 18 && b.copy == "":
		b.copy = filepath.Join(t.TempDir(), "copy.db")
		_, err := store.Backup(ctx, b.dir, b.copy, nil)
		check(t, err)
		w.copied = b.chats(t)
	case kind == 19 && b.copy != "":
		w.restore(t)
	}
}

// amend changes the text of an event of any chat, also of one that has ended.
func (w *walk) amend(t *testing.T) {
	chats := slices.Sorted(maps.Keys(w.box.chats(t)))
	if len(chats) == 0 {
		return
	}
	id := chats[w.dice.IntN(len(chats))]
	events, err := w.box.records.ImportedEvents(t.Context(), id, 0, 1000)
	check(t, err)
	if len(events) == 0 {
		return
	}
	e := events[w.dice.IntN(len(events))]
	e.MessageText = w.box.event().MessageText
	check(t, w.box.records.WriteChat(t.Context(), id, store.ChatWrite{Amended: []store.Event{e}}))
	w.amended[fmt.Sprint(id, " ", e.Seq)]++
}

// restore puts the older copy in place of the database.
func (w *walk) restore(t *testing.T) {
	had := w.box.chats(t)
	w.box.close(t)
	file := filepath.Join(w.box.dir, "parley.db")
	text, err := os.ReadFile(w.box.copy)
	check(t, err)
	check(t, os.WriteFile(file, text, 0o600))
	w.box.copy = ""
	w.box.open(t, w.hub)
	now := w.box.chats(t)
	for id := range had {
		w.lost[id] = w.lost[id] || !now[id]
	}
	for id := range now { // deleted since the copy
		if c, err := w.box.records.Chat(t.Context(), w.box.account, id); !had[id] && err == nil {
			check(t, w.box.records.DeleteChatGroup(t.Context(), w.box.account, c.GroupID))
		}
	}
}

// finish sends all that waits.
func (w *walk) finish(t *testing.T) hubSide {
	w.hub.late = nil
	w.box.drain(t)
	return w.hub.hubSide(t)
}

func (b *boxSide) start(t *testing.T, dice *rand.Rand) {
	n := store.NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: b.account,
		StartedMS: time.Now().UnixMilli(),
		RequestID: "r",
		Metadata:  `{"a":1}`,
	}
	if len(b.groups) > 0 && dice.IntN(2) == 0 {
		n.GroupID, n.Resume = b.groups[dice.IntN(len(b.groups))], true
	}
	err := b.records.StartChat(t.Context(), n, b.event())
	if errors.Is(err, store.ErrActive) || errors.Is(err, store.ErrNotFound) {
		return
	}
	check(t, err)
	b.live = append(b.live, n.ID)
	if !n.Resume {
		b.groups = append(b.groups, n.GroupID)
	}
}

// chats returns the ids of all chats.
func (b *boxSide) chats(t testing.TB) map[string]bool {
	ids := map[string]bool{}
	page, _, err := b.records.Chats(context.Background(), b.account, store.ChatFilter{}, store.Page{Size: 100_000})
	check(t, err)
	for _, c := range page {
		ids[c.ID] = true
	}
	return ids
}

func repeated(e store.Event) store.Event {
	e.ID = uuid.NewString()
	return e
}
