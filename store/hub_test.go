package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// openHub opens a database with boxes.
func openHub(t *testing.T, boxes ...string) *Store {
	t.Helper()
	s := openStore(t, t.TempDir())
	for _, name := range boxes {
		must(t, s.AddHubBox(t.Context(), HubBox{Name: name, PublicKey: "U" + name, AddedMS: 1}))
	}
	return s
}

// hubChat returns a chat of a box with the events from to until.
func hubChat(id, group string, from, until int64) HubFact {
	c := &HubChat{Account: "home", Chat: Chat{
		ID:         id,
		GroupID:    group,
		Status:     Active,
		StartedMS:  1000,
		RequestID:  "r",
		EventCount: int(until),
	}}
	for seq := from; seq <= until; seq++ {
		c.Events = append(c.Events, Event{
			Seq:         seq,
			ID:          fmt.Sprint("e", seq),
			AtMS:        1000 + seq,
			Type:        UserMessage,
			Role:        User,
			MessageText: fmt.Sprint("words ", seq),
		})
	}
	return HubFact{AtMS: 1000, Chat: c}
}

// hubEvents returns the texts of a chat's events.
func hubEvents(t *testing.T, s *Store, id string) (texts []string) {
	t.Helper()
	events, total, err := s.Events(t.Context(), id, Page{Size: 100})
	must(t, err)
	if total != len(events) {
		t.Errorf("chat %s counts %d events and has %d", id, total, len(events))
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has the place %d", i+1, e.Seq)
		}
		texts = append(texts, e.MessageText)
	}
	return texts
}

func TestFactsOfABoxAreStoredOnceAndInOrder(t *testing.T) {
	s := openHub(t, "a")
	ctx, id, group := t.Context(), uuid.NewString(), uuid.NewString()
	send := func(seq uint64, want bool, facts ...HubFact) {
		t.Helper()
		stored, err := s.StoreFacts(ctx, "a", seq, facts)
		must(t, err)
		if stored != want {
			t.Errorf("message %d: stored %v, want %v", seq, stored, want)
		}
	}
	note := HubFact{AtMS: 5, Other: &HubNote{Kind: HubAct, Key: "7@5", Body: json.RawMessage(`{"num":7}`)}}
	send(3, true, hubChat(id, group, 1, 2), note)
	send(3, false, hubChat(id, group, 1, 2), note)
	amended := hubChat(id, group, 2, 3)
	amended.Chat.Events[0].MessageText = "amended"
	amended.Chat.Status, amended.Chat.EndedMS = UserEnded, 2000
	send(9, true, amended, note)
	if got := fmt.Sprint(hubEvents(t, s, id)); got != "[words 1 amended words 3]" {
		t.Errorf("the chat has %s", got)
	}
	c, err := s.ImportedChat(ctx, id)
	must(t, err)
	if c.Status != UserEnded || c.EndedMS != 2000 || c.EventCount != 3 {
		t.Errorf("the chat is %+v", c)
	}
	if _, total, err := s.HubFacts(ctx, "a", HubAct, Page{Size: 10}); err != nil || total != 1 {
		t.Errorf("%d acts, %v; want the act once", total, err)
	}
	// The box was restored from a backup: it has fewer events than it sent, and another second one.
	again := hubChat(id, group, 2, 2)
	again.Chat.Events[0].MessageText = "after the backup"
	send(12, true, again)
	if got := fmt.Sprint(hubEvents(t, s, id)); got != "[words 1 after the backup]" {
		t.Errorf("the chat has %s", got)
	}
}

func TestABoxCannotTouchChatsOfAnother(t *testing.T) {
	s := openHub(t, "a", "b")
	ctx, id, group := t.Context(), uuid.NewString(), uuid.NewString()
	_, err := s.StoreFacts(ctx, "a", 1, []HubFact{hubChat(id, group, 1, 2)})
	must(t, err)
	other := uuid.NewString()
	_, err = s.StoreFacts(ctx, "b", 2, []HubFact{
		hubChat(id, group, 1, 5), hubChat(other, group, 1, 1), {DeletedChat: id}, {DeletedGroup: group},
	})
	must(t, err)
	if got := fmt.Sprint(hubEvents(t, s, id)); got != "[words 1 words 2]" {
		t.Errorf("the chat has %s", got)
	}
	if _, err := s.ImportedChat(ctx, other); !errors.Is(err, ErrNotFound) {
		t.Errorf("a chat in the group of another box: %v", err)
	}
	if _, total, err := s.HubFacts(ctx, "b", HubRejected, Page{Size: 10}); err != nil || total != 2 {
		t.Errorf("%d rejected facts, %v; want 2", total, err)
	}
}

func TestADeletedChatDoesNotComeBackInPieces(t *testing.T) {
	s := openHub(t, "a")
	ctx, id, group := t.Context(), uuid.NewString(), uuid.NewString()
	_, err := s.StoreFacts(ctx, "a", 1, []HubFact{hubChat(id, group, 1, 2), {DeletedGroup: group}})
	must(t, err)
	must(t, s.emptyTrash(ctx))
	_, err = s.StoreFacts(ctx, "a", 2, []HubFact{hubChat(id, group, 3, 3)})
	must(t, err)
	if _, err := s.ImportedChat(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("the chat: %v", err)
	}
	if _, err := s.ImportedGroup(ctx, group); !errors.Is(err, ErrNotFound) {
		t.Errorf("the group: %v", err)
	}
	account, err := s.Account(ctx, "home")
	must(t, err)
	if _, total, err := s.Chats(ctx, account.ID, ChatFilter{}, Page{Size: 10}); err != nil || total != 0 {
		t.Errorf("%d chats, %v", total, err)
	}
}

func TestChatsOfBoxesGoOnWhenTheHubStarts(t *testing.T) {
	s := openHub(t, "a")
	id := uuid.NewString()
	_, err := s.StoreFacts(t.Context(), "a", 1, []HubFact{hubChat(id, uuid.NewString(), 1, 1)})
	must(t, err)
	ended, err := s.EndOpenChats(t.Context(), time.Now().UnixMilli(), func(string) time.Duration { return 0 })
	must(t, err)
	if len(ended) > 0 {
		t.Errorf("%d chats were ended", len(ended))
	}
	box, live, err := s.BoxOfChat(t.Context(), id)
	if err != nil || box != "a" || !live {
		t.Errorf("the chat is on %q, live %v, %v", box, live, err)
	}
}

func TestSearchFindsTheChatsOfABox(t *testing.T) {
	s := openHub(t, "a", "b")
	ids := map[string]string{"a": uuid.NewString(), "b": uuid.NewString()}
	for name, id := range ids {
		_, err := s.StoreFacts(t.Context(), name, 1, []HubFact{hubChat(id, uuid.NewString(), 1, 1)})
		must(t, err)
	}
	account, err := s.Account(t.Context(), "home")
	must(t, err)
	for box, want := range map[string]int{"": 2, "a": 1, "b": 1, "c": 0} {
		f := ChatSearch{Words: []string{"words"}, Box: box}
		found, _, err := s.SearchChats(t.Context(), account.ID, f, 10)
		must(t, err)
		if len(found) != want || want == 1 && (found[0].ID != ids[box] || found[0].Box != box) {
			t.Errorf("box %q: found %d chats %+v, want %d", box, len(found), found, want)
		}
	}
}

func TestHealthIsThinnedToHours(t *testing.T) {
	s := openHub(t, "a")
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	var facts []HubFact
	add := func(from time.Time, minutes int) {
		for i := range minutes {
			at := from.Add(time.Duration(i) * time.Minute).UnixMilli()
			facts = append(facts, HubFact{AtMS: at, Health: json.RawMessage(`{}`)})
		}
	}
	add(now.Add(-100*24*time.Hour), 60) // is too old
	add(now.Add(-20*24*time.Hour), 600) // ten hours
	add(now.Add(-time.Hour), 60)        // stays
	_, err := s.StoreFacts(t.Context(), "a", 1, facts)
	must(t, err)
	_, err = s.ThinHubHealth(t.Context(), now)
	must(t, err)
	states, err := s.HubHealth(t.Context(), "a", 0, 0)
	must(t, err)
	if len(states) != 10+60 {
		t.Errorf("%d states are left, want 70", len(states))
	}
}

func TestARemovedBoxComesBackWithItsChats(t *testing.T) {
	s := openHub(t, "a")
	id := uuid.NewString()
	_, err := s.StoreFacts(t.Context(), "a", 1, []HubFact{hubChat(id, uuid.NewString(), 1, 1)})
	must(t, err)
	if err := s.AddHubBox(t.Context(), HubBox{Name: "a"}); !errors.Is(err, ErrConflict) {
		t.Errorf("adding it twice: %v", err)
	}
	must(t, s.RemoveHubBox(t.Context(), "a"))
	if all, err := s.HubBoxes(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	must(t, s.AddHubBox(t.Context(), HubBox{Name: "a", AddedMS: 2}))
	b, err := s.HubBox(t.Context(), "a")
	if err != nil || b.FactSeq != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	if chats, err := s.HubChats(t.Context(), "a"); err != nil || chats != 1 {
		t.Errorf("%d chats, %v", chats, err)
	}
}

func TestABoxThatSendsTooMuchPushesOutNothingOfOthers(t *testing.T) {
	s := openHub(t, "a", "b")
	note := func(key int) HubFact {
		return HubFact{AtMS: 5, Other: &HubNote{Kind: HubAct, Key: fmt.Sprint(key), Body: json.RawMessage(`{}`)}}
	}
	_, err := s.StoreFacts(t.Context(), "b", 1, []HubFact{note(1)})
	must(t, err)
	flood := make([]HubFact, maxBoxFacts+2*boxFactsEvery)
	for i := range flood {
		flood[i] = note(i)
	}
	_, err = s.StoreFacts(t.Context(), "a", 2, flood)
	must(t, err)
	if _, total, err := s.HubFacts(t.Context(), "a", "", Page{Size: 1}); err != nil || total < maxBoxFacts ||
		total > maxBoxFacts+boxFactsEvery {
		t.Errorf("%d facts of the box are stored, %v", total, err)
	}
	if _, total, err := s.HubFacts(t.Context(), "b", "", Page{Size: 1}); err != nil || total != 1 {
		t.Errorf("%d facts of the other box are stored, %v", total, err)
	}
}

// A fact that the database does not take must not keep the hub from those behind it.
func TestFactThatTheDatabaseRefusesIsListed(t *testing.T) {
	s := openHub(t, "a")
	deep := strings.Repeat("[", 1500) + strings.Repeat("]", 1500) // SQLite reads 1000 levels, Go more
	bad := hubChat(uuid.NewString(), uuid.NewString(), 1, 2)
	bad.Chat.Events[1].Metadata = deep
	act := HubFact{AtMS: 5, Other: &HubNote{Kind: HubAct, Key: "1", Body: json.RawMessage(deep)}}
	good := hubChat(uuid.NewString(), uuid.NewString(), 1, 2)
	late := HubFact{AtMS: time.Now().Add(48 * time.Hour).UnixMilli(), Health: json.RawMessage(`{}`)}
	large := HubFact{AtMS: 5, Health: json.RawMessage(`"` + strings.Repeat("x", maxHealth) + `"`)}
	stored, err := s.StoreFacts(t.Context(), "a", 1, []HubFact{bad, act, late, large, good})
	must(t, err)
	if !stored {
		t.Error("the message was not stored")
	}
	if got := fmt.Sprint(hubEvents(t, s, good.Chat.ID)); got != "[words 1 words 2]" {
		t.Errorf("the chat behind them has %s", got)
	}
	if _, err := s.ImportedChat(t.Context(), bad.Chat.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("of the refused chat, something is stored: %v", err)
	}
	_, total, err := s.HubFacts(t.Context(), "a", HubRejected, Page{Size: 10})
	must(t, err)
	if total != 4 {
		t.Errorf("%d facts are listed as rejected, want 4", total)
	}
}
