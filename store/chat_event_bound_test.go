package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
)

// insertRaw stores an event without limits, as an older Parley may have done.
func insertRaw(t *testing.T, s *Store, chatID string, e Event) {
	t.Helper()
	must(t, s.change(t.Context(), "inserting", func(ctx context.Context, c conn) error {
		_, err := c.ExecContext(ctx, `
			INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text, emotion_features, metadata)
			SELECT num, event_count + 1, ?, 1, ?, 'USER', ?, ?, ? FROM chat WHERE id = ?`,
			uuid.NewString(), e.Type, e.MessageText, orNull(e.EmotionFeatures), orNull(e.Metadata), chatID)
		if err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, `UPDATE chat SET event_count = event_count + 1 WHERE id = ?`, chatID)
		return err
	}))
}

func truncatedBytes(t *testing.T, e Event) int {
	t.Helper()
	var m struct {
		Truncated int    `json:"truncated"`
		Kept      string `json:"kept"`
	}
	if err := json.Unmarshal([]byte(e.Metadata), &m); err != nil || m.Kept != "yes" && e.Type == UserMessage {
		t.Fatalf("the metadata are %.100s (%v)", e.Metadata, err)
	}
	return m.Truncated
}

// A text that is too long is cut between two characters, and marked; cut JSON stays valid
// JSON.
func TestLongEventIsTruncated(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	long := said("a" + strings.Repeat("é", maxEventText))
	long.Metadata = `{"kept":"yes"}`
	settings := Event{
		ID:          uuid.NewString(),
		Type:        SessionSettings,
		Role:        System,
		MessageText: `{"a":"` + strings.Repeat("x", maxEventText) + `"}`,
	}
	heavy := said("hi")
	heavy.Metadata, heavy.EmotionFeatures = `{"x":"`+strings.Repeat("x", maxEventJSON)+`"}`,
		`{"x":"`+strings.Repeat("x", maxEventJSON)+`"}`
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{long, settings, heavy}))
	amended := long
	amended.MessageText += "more"
	must(t, s.WriteChat(t.Context(), chat.ID, ChatWrite{Amended: []Event{amended}}))

	events, _, err := s.Events(t.Context(), chat.ID, Page{Size: 3})
	must(t, err)
	text := events[0].MessageText
	if len(text) > maxEventText || len(text) < maxEventText-8 || !utf8.ValidString(text) ||
		!strings.HasSuffix(text, "é"+cutMark) {
		t.Errorf("of %d bytes %d are stored, ending in %q", len(long.MessageText), len(text), text[len(text)-8:])
	}
	if got := truncatedBytes(t, events[0]); got != len(amended.MessageText) {
		t.Errorf("it says that there were %d bytes, want %d", got, len(amended.MessageText))
	}
	if want := fmt.Sprintf(`{"truncated":%d}`, len(settings.MessageText)); events[1].MessageText != want {
		t.Errorf("the settings are %.100s, want %s", events[1].MessageText, want)
	}
	if events[2].Metadata != fmt.Sprintf(`{"truncated":%d}`, len(heavy.Metadata)) || events[2].EmotionFeatures != "" {
		t.Errorf("stored %.100s and %.100s", events[2].Metadata, events[2].EmotionFeatures)
	}
}

// A page of the longest events stays within its limit, whatever an older Parley has
// stored, and a smaller page shows them whole.
func TestPageOfLongEventsIsBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := startChat(t, s, home)
	whole := strings.Repeat("long ", maxEventText/5)
	for range 60 {
		insertRaw(t, s, chat.ID, Event{Type: UserMessage, MessageText: whole, Metadata: `{"kept":"yes"}`})
		insertRaw(t, s, chat.ID, Event{
			Type:            SessionSettings,
			MessageText:     `{"a":"` + whole + `"}`,
			Metadata:        `{"b":"` + whole + `"}`,
			EmotionFeatures: `{"c":"` + whole + `"}`,
		})
	}
	page := func(size int, group bool) (events []Event) {
		t.Helper()
		var total int
		var err error
		if group {
			events, total, err = s.GroupEvents(t.Context(), home, chat.GroupID, Page{Size: size})
		} else {
			events, total, err = s.Events(t.Context(), chat.ID, Page{Size: size})
		}
		must(t, err)
		if total != 120 || len(events) != size {
			t.Fatalf("%d of %d events, want %d of 120", len(events), total, size)
		}
		return events
	}
	for _, group := range []bool{false, true} {
		bytes := 0
		for i, e := range page(100, group) {
			bytes += len(e.MessageText) + len(e.Metadata) + len(e.EmotionFeatures)
			if i%2 == 0 && (truncatedBytes(t, e) != len(whole) || !strings.HasSuffix(e.MessageText, cutMark)) {
				t.Fatalf("event %d ends in %q and has metadata %s", i, e.MessageText[len(e.MessageText)-5:], e.Metadata)
			}
			if i%2 == 1 && !json.Valid([]byte(e.MessageText)) {
				t.Fatalf("event %d is %.80s", i, e.MessageText)
			}
		}
		if bytes > 3*pageBytes {
			t.Errorf("a page of 100 has %d bytes", bytes)
		}
		if e := page(4, group)[0]; e.MessageText != whole || e.Metadata != `{"kept":"yes"}` {
			t.Errorf("of a small page the event has %d bytes of %d, metadata %s", len(e.MessageText), len(whole),
				e.Metadata)
		}
	}
}

// A resumed conversation gets the newest messages that fit, and nothing else.
func TestResumptionIsBoundedInBytes(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	long := strings.Repeat("x", resumedBytes/4)
	for i := range 12 {
		insertRaw(t, s, chat.ID, Event{Type: SessionSettings, MessageText: `{"a":"` + long + `"}`})
		insertRaw(t, s, chat.ID, Event{Type: AgentMessage, MessageText: fmt.Sprint(i, " ", long[:len(long)-8])})
	}
	events, err := s.GroupHistory(t.Context(), chat.GroupID, 300)
	must(t, err)
	if len(events) != 4 || !strings.HasPrefix(events[0].MessageText, "8 ") ||
		!strings.HasPrefix(events[3].MessageText, "11 ") {
		t.Fatalf("%d events, want the 4 newest messages", len(events))
	}
	if events, err = s.GroupHistory(t.Context(), chat.GroupID, 4); err != nil || len(events) != 2 {
		t.Errorf("of the 4 newest events %d are messages (%v), want 2", len(events), err)
	}
	insertRaw(t, s, chat.ID, Event{Type: UserMessage, MessageText: strings.Repeat("y", 4*resumedBytes)})
	events, err = s.GroupHistory(t.Context(), chat.GroupID, 300)
	must(t, err)
	if len(events) != 1 || len(events[0].MessageText) != resumedBytes {
		t.Errorf("%d events; one that is too long alone is cut", len(events))
	}
}
