package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestChatIsReadAsItWasWritten(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := NewChat{
		ID:              uuid.NewString(),
		GroupID:         uuid.NewString(),
		AccountID:       newAccount(t, s, "home"),
		Config:          ConfigRef{ID: "c", Version: 0},
		StartedMS:       1234,
		RequestID:       "r",
		CustomSessionID: "mine",
		Metadata:        `{"twilio":{"caller_number":"+1555"}}`,
	}
	must(t, s.StartChat(t.Context(), n, Event{
		ID:   "e1",
		AtMS: 1234,
		Type: ChatStart,
		Role: System,
	}))
	got, err := s.Chat(t.Context(), n.AccountID, n.ID)
	must(t, err)
	want := Chat{
		ID:              n.ID,
		GroupID:         n.GroupID,
		AccountID:       n.AccountID,
		Config:          n.Config,
		Status:          Active,
		StartedMS:       1234,
		RequestID:       "r",
		CustomSessionID: "mine",
		Metadata:        n.Metadata,
		EventCount:      1,
	}
	if got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{CustomSessionID: "another"}))
	want.CustomSessionID = "another"
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{Metadata: `{}`}))
	want.Metadata = `{}`
	end := Event{
		ID:              "e2",
		AtMS:            99,
		Type:            ChatEnd,
		Role:            System,
		MessageText:     "bye \x00 'é",
		EmotionFeatures: `{"Joy":0.5}`,
		Metadata:        "[]",
		RelatedEventID:  "e1",
	}
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, 5678, end))
	got, err = s.Chat(t.Context(), n.AccountID, n.ID)
	must(t, err)
	want.Status, want.EndedMS, want.EventCount = UserEnded, 5678, 2
	if got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
	events, _, err := s.Events(t.Context(), n.ID, Page{Size: 10})
	must(t, err)
	end.ChatID, end.Seq = n.ID, 2
	if len(events) != 2 || events[1] != end {
		t.Errorf("read %+v, want %+v", events, end)
	}
}

func TestChatOfAnotherAccountIsNotFound(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	chat := startChat(t, s, home)
	_, err := s.Chat(t.Context(), work, chat.ID)
	wantError(t, err, ErrNotFound)
	must(t, s.EndChat(t.Context(), chat.ID, UserEnded, 2000))
	other := NewChat{
		ID:        uuid.NewString(),
		GroupID:   chat.GroupID,
		Resume:    true,
		AccountID: work,
		RequestID: "r",
	}
	wantError(t, s.StartChat(t.Context(), other), ErrNotFound, chat.GroupID)
	other.Resume = false // nor can its group be taken by starting anew
	wantError(t, s.StartChat(t.Context(), other), ErrConflict)
}

func TestChatThatCannotStartLeavesNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	there := startChat(t, s, home)
	for name, c := range map[string]struct {
		chat NewChat
		kind error
	}{
		"unknown account": {NewChat{ID: "1", GroupID: "g1", AccountID: "nobody"}, ErrNotFound},
		"unknown group": {NewChat{
			ID:        "1",
			GroupID:   "g1",
			AccountID: home,
			Resume:    true,
		}, ErrNotFound},
		"group in use": {NewChat{
			ID:        "1",
			GroupID:   there.GroupID,
			AccountID: home,
			Resume:    true,
		}, ErrActive},
		"chat id taken":  {NewChat{ID: there.ID, GroupID: "g1", AccountID: home}, ErrConflict},
		"group id taken": {NewChat{ID: "1", GroupID: there.GroupID, AccountID: home}, ErrConflict},
		"metadata not JSON": {NewChat{
			ID:        "1",
			GroupID:   "g1",
			AccountID: home,
			Metadata:  "{",
		}, ErrNotAllowed},
		"first event broken": {NewChat{ID: "2", GroupID: "g1", AccountID: home}, ErrNotAllowed},
	} {
		var first []Event
		if c.chat.ID == "2" {
			first = []Event{said("fine"), {
				ID:              "e",
				Type:            UserMessage,
				Role:            User,
				EmotionFeatures: "joy",
			}}
		}
		if err := s.StartChat(t.Context(), c.chat, first...); !errors.Is(err, c.kind) {
			t.Errorf("%s: error is %v, want %v", name, err, c.kind)
		}
	}
	for table, want := range map[string]int{"chat": 1, "chat_group": 2, "chat_event": 0} {
		if n, err := value[int](t.Context(), s.read, "SELECT count(*) FROM "+table); err != nil || n != want {
			t.Errorf("%s has %d rows (%v), want %d", table, n, err, want)
		}
	}
}

func TestOnlyOneChatResumesAGroup(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := startChat(t, s, home)
	must(t, s.EndChat(t.Context(), chat.ID, UserEnded, 2000))
	var mu sync.Mutex
	var won []string
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			n := NewChat{
				ID:        uuid.NewString(),
				GroupID:   chat.GroupID,
				Resume:    true,
				AccountID: home,
				RequestID: "r",
			}
			err := s.StartChat(t.Context(), n)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, n.ID)
			} else if !errors.Is(err, ErrActive) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Errorf("%d chats of one group are active, want 1", len(won))
	}
}

func TestStoredEventsCanBeAmended(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat, other := startChat(t, s, home), startChat(t, s, home)
	events := []Event{said("The museum opens at ten."), said("It closes at six."), said("Wait.")}
	must(t, s.AppendEvents(t.Context(), chat.ID, events))
	events[0].MessageText, events[0].Metadata = "The museum…", `{"interrupted":true}`
	events[1].MessageText = ""
	must(t, s.WriteChat(t.Context(), chat.ID, ChatWrite{Amended: events[:2]}))
	must(t, s.WriteChat(t.Context(), chat.ID, ChatWrite{Metadata: `{"order":7}`}))

	stored, _, err := s.Events(t.Context(), chat.ID, Page{Size: 10})
	must(t, err)
	for i, e := range events {
		if got := stored[len(stored)-len(events)+i]; got.MessageText != e.MessageText || got.Metadata != e.Metadata ||
			got.ID != e.ID {
			t.Errorf("event %d is %+v, want %+v", i, got, e)
		}
	}
	if c, err := s.Chat(t.Context(), home, chat.ID); err != nil || c.Metadata != `{"order":7}` {
		t.Errorf("the chat has the metadata %q (%v)", c.Metadata, err)
	}
	wantError(t, s.WriteChat(t.Context(), other.ID, ChatWrite{Amended: events[:1]}), ErrNotFound)
	wantError(t, s.WriteChat(t.Context(), "none", ChatWrite{Metadata: `{}`}), ErrNotFound)
}

func TestChatEndsOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := startChat(t, s, home)
	wantError(t, s.EndChat(t.Context(), chat.ID, Active, 2000), ErrNotAllowed)
	wantError(t, s.EndChat(t.Context(), chat.ID, "SLEPT", 2000), ErrNotAllowed, "status")
	must(t, s.EndChat(t.Context(), chat.ID, InactivityTimeout, 2000))
	wantError(t, s.EndChat(t.Context(), chat.ID, UserEnded, 3000, said("late")), ErrConflict, chat.ID)
	wantError(t, s.EndChat(t.Context(), "none", UserEnded, 3000), ErrNotFound)
	got, err := s.Chat(t.Context(), home, chat.ID)
	must(t, err)
	if got.Status != InactivityTimeout || got.EndedMS != 2000 || got.EventCount != 0 {
		t.Errorf("chat is %+v, want as it first ended", got)
	}
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("measured later")}))
	wantError(t, s.AppendEvents(t.Context(), "none", []Event{said("x")}), ErrNotFound)
}

func TestCrashEndsOpenChatsAtTheirLastActivity(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	silent := startChat(t, s, home)             // at 1000
	talked := startChat(t, s, home, said("hi")) // until 2000
	future := startChat(t, s, home, Event{
		ID:   "e",
		AtMS: 1e12,
		Type: UserMessage,
		Role: User,
	})
	spoke := startChat(t, s, home, said("hi"))  // its sound goes on to 4200
	paused := startChat(t, s, home, said("hi")) // its sound is over at 1700
	lead := startChat(t, s, home)               // sound was sent faster than it is played
	heard := map[string]time.Duration{spoke.ID: 3200 * time.Millisecond, paused.ID: 700 * time.Millisecond,
		lead.ID: time.Hour}
	lengths := func(id string) time.Duration { return heard[id] }
	ended := startChat(t, s, home)
	must(t, s.EndChat(t.Context(), ended.ID, UserEnded, 1500))

	open, err := s.OpenChats(t.Context())
	must(t, err)
	got, err := s.EndOpenChats(t.Context(), 500_000, lengths)
	must(t, err)
	if len(open) != 6 || len(got) != 6 {
		t.Fatalf("%d were open and %d ended, want 6", len(open), len(got))
	}
	for i, want := range []struct {
		id string
		at int64
	}{{silent.ID, 1000}, {talked.ID, 2000}, {future.ID, 500_000}, {spoke.ID, 4200}, {paused.ID, 2000},
		{lead.ID, 500_000}} {
		stored, err := s.Chat(t.Context(), home, want.id)
		must(t, err)
		if got[i] != stored || stored.Status != Failed || stored.EndedMS != want.at {
			t.Errorf("returned %+v, stored %+v, want ERROR at %d", got[i], stored, want.at)
		}
		last, _, err := s.Events(t.Context(), want.id, Page{Size: 1, Descending: true})
		must(t, err)
		if len(last) != 1 || last[0].Type != ChatEnd || last[0].AtMS != want.at || last[0].MessageText != "ERROR" {
			t.Errorf("its last event is %+v, want its end", last)
		}
	}
	again, err := s.EndOpenChats(t.Context(), 600_000, lengths)
	must(t, err)
	if len(again) != 0 {
		t.Errorf("%d chats ended twice", len(again))
	}
	resumed := NewChat{
		ID:        uuid.NewString(),
		GroupID:   talked.GroupID,
		Resume:    true,
		AccountID: home,
		RequestID: "r",
	}
	must(t, s.StartChat(t.Context(), resumed))
}

// Pages of every size, in both directions, are the parts of the whole list.
func TestPagesJoinToTheWholeList(t *testing.T) {
	s := openStore(t, t.TempDir())
	var all []Event
	for i := range 25 {
		all = append(all, said(fmt.Sprint(i)))
	}
	chat := startChat(t, s, newAccount(t, s, "home"), all...)
	startChat(t, s, newAccount(t, s, "home"), all...) // another, not to be seen
	rapid.Check(t, func(rt *rapid.T) {
		page := Page{
			Number:     rapid.OneOf(rapid.IntRange(0, 30), rapid.Int()).Draw(rt, "number"),
			Size:       rapid.OneOf(rapid.IntRange(1, 30), rapid.Int()).Draw(rt, "size"),
			Descending: rapid.Bool().Draw(rt, "descending"),
		}
		events, total, err := s.Events(t.Context(), chat.ID, page)
		if err != nil || total != len(all) {
			rt.Fatalf("%d events, %v", total, err)
		}
		want := slices.Clone(all)
		if page.Descending {
			slices.Reverse(want)
		}
		if page.Number < 0 || page.Size < 1 || page.Number > len(all)/page.Size {
			want = nil
		} else {
			from := page.Number * page.Size
			want = want[min(from, len(want)):]
			want = want[:min(page.Size, len(want))]
		}
		if !slices.EqualFunc(events, want, func(a, b Event) bool { return a.ID == b.ID }) {
			rt.Fatalf("page %+v has %d events, want %d", page, len(events), len(want))
		}
	})
	_, _, err := s.Events(t.Context(), "none", Page{Size: 1})
	wantError(t, err, ErrNotFound)
}

func TestGroupReturnsItsNewestEvents(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := startChat(t, s, home, said("1"), said("2"))
	startChat(t, s, home, said("another group"))
	must(t, s.EndChat(t.Context(), chat.ID, UserEnded, 2000))
	next := NewChat{
		ID:        uuid.NewString(),
		GroupID:   chat.GroupID,
		Resume:    true,
		AccountID: home,
		RequestID: "r",
	}
	must(t, s.StartChat(t.Context(), next, said("3"), said("4"), said("5")))
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("2b")})) // late, of the first chat
	for limit, want := range map[int]string{0: "", 1: "5", 3: "3 4 5", 5: "2 2b 3 4 5", 300: "1 2 2b 3 4 5"} {
		events, err := s.GroupHistory(t.Context(), chat.GroupID, limit)
		must(t, err)
		var texts []string
		for _, e := range events {
			texts = append(texts, e.MessageText)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("the newest %d are %q, want %q", limit, got, want)
		}
	}
	if events, err := s.GroupHistory(t.Context(), "none", 10); err != nil || len(events) != 0 {
		t.Errorf("an unknown group remembers %v, %v", events, err)
	}
}

// tableScan matches a step of a query plan that reads a whole table, and not rows that
// another step has found.
var tableScan = regexp.MustCompile(`^SCAN (c|e|g|k|chat|chat_event|chat_group|key|account)\b`)

// The queries during conversations find their rows with an index and sort nothing.
func TestQueriesOfALiveChatUseIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	for name, question := range map[string]string{
		"history": groupHistory,
		"events": `SELECT` + eventColumns + `FROM chat c CROSS JOIN chat_event e ON e.chat = c.num WHERE c.id = ?2 ` +
			`AND e.seq BETWEEN ?3 AND ?4 ORDER BY e.seq`,
		"open": selectChat + `WHERE c.ended_ms IS NULL ORDER BY c.num`,
		"key": `SELECT a.id FROM key k JOIN account a ON a.num = k.account WHERE k.api_hash = ? AND k.revoked_ms ` +
			`IS NULL`,
		"active": `SELECT EXISTS (SELECT 1 FROM chat WHERE chat_group = ? AND status = 'ACTIVE')`,
	} {
		args := make([]any, placeholders(question))
		plan, err := query(t.Context(), s.read, func(row scanner) (detail string, err error) {
			var skip any
			return detail, row.Scan(&skip, &skip, &skip, &detail)
		}, "EXPLAIN QUERY PLAN "+question, args...)
		must(t, err)
		for _, detail := range plan {
			scans := tableScan.MatchString(detail) && !strings.Contains(detail, "chat_open")
			// of a handful, of a page
			sorts := strings.Contains(detail, "TEMP B-TREE") && name != "open" && name != "history"
			if scans || sorts {
				t.Errorf("%s: %s", name, strings.Join(plan, "; "))
			}
		}
	}
}
