package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// spoken starts a chat with messages.
func spoken(t testing.TB, s *Store, n NewChat, texts ...string) string {
	t.Helper()
	n.ID, n.GroupID, n.RequestID = uuid.NewString(), uuid.NewString(), "r"
	events := []Event{{
		ID:          uuid.NewString(),
		AtMS:        n.StartedMS,
		Type:        SystemPrompt,
		Role:        System,
		MessageText: "You know of the lighthouse.",
	}}
	for _, text := range texts {
		events = append(events, said(text))
	}
	must(t, s.StartChat(t.Context(), n, events...))
	return n.ID
}

func TestChatsAreFoundByWordsAndTime(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	ann := spoken(t, s, NewChat{
		AccountID:       home,
		StartedMS:       1000,
		CustomSessionID: "ann",
		Config:          ConfigRef{ID: "museum"},
	},
		"Wann öffnet der Bücherladen?", "And the LIGHTHOUSE: 100% sure?")
	bob := spoken(t, s, NewChat{AccountID: home, StartedMS: 2000, CustomSessionID: "bob"}, "Hello",
		"where is the lighthouse", "at the sea")
	eve := spoken(t, s, NewChat{AccountID: home, StartedMS: 3000, Config: ConfigRef{ID: "museum"}},
		"A "+strings.Repeat("very ", 100)+"long road to the ΟΔΟΣ and on "+strings.Repeat("and on ", 100))
	must(t, s.EndChat(t.Context(), eve, Failed, 4000))
	spoken(t, s, NewChat{AccountID: work, StartedMS: 1500}, "the lighthouse of others")

	for name, try := range map[string]struct {
		ChatSearch
		want []string
	}{
		"everything":              {ChatSearch{}, []string{eve, bob, ann}},
		"in any case":             {ChatSearch{Words: []string{"lighthouse"}}, []string{bob, ann}},
		"all words":               {ChatSearch{Words: []string{"sure", "Lighthouse"}}, []string{ann}},
		"in one message":          {ChatSearch{Words: []string{"lighthouse", "sea"}}, nil},
		"what is not a word said": {ChatSearch{Words: []string{"You", "know"}}, nil},
		"beyond ASCII":            {ChatSearch{Words: []string{"ÖFFNET", "büchER"}}, []string{ann}},
		"a last sigma":            {ChatSearch{Words: []string{"οδος"}}, []string{eve}},
		"a sign of LIKE":          {ChatSearch{Words: []string{"0%"}}, []string{ann}},
		"another sign of LIKE":    {ChatSearch{Words: []string{"_"}}, nil},
		"a backslash":             {ChatSearch{Words: []string{`\`}}, nil},
		"session":                 {ChatSearch{CustomSessionID: "bob"}, []string{bob}},
		"config":                  {ChatSearch{ChatFilter: ChatFilter{ConfigID: "museum"}}, []string{eve, ann}},
		"config and status": {
			ChatSearch{ChatFilter: ChatFilter{ConfigID: "museum", Statuses: []Status{Failed, UserEnded}}},
			[]string{eve}},
		"time":    {ChatSearch{FromMS: 1000, UntilMS: 3000}, []string{bob, ann}},
		"nothing": {ChatSearch{Words: []string{"elephant"}}, nil},
		"before":  {ChatSearch{Before: bob}, []string{ann}},
	} {
		found, next, err := s.SearchChats(t.Context(), home, try.ChatSearch, 10)
		must(t, err)
		var got []string
		for _, c := range found {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, try.want) || next != "" {
			t.Errorf("%s: found %v, want %v; next %q", name, got, try.want, next)
		}
	}
	_, _, err := s.SearchChats(t.Context(), work, ChatSearch{Before: bob}, 10)
	wantError(t, err, ErrNotFound)
}

func TestFoundChatHasAnExcerptWithTheWords(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	spoken(t, s, NewChat{AccountID: home}, "First words",
		strings.Repeat("on and ", 500)+"the  lighthouse "+strings.Repeat("and on ", 500))
	spoken(t, s, NewChat{AccountID: home})
	found, _, err := s.SearchChats(t.Context(), home, ChatSearch{Words: []string{"lightHouse"}}, 10)
	must(t, err)
	if len(found) != 1 || !strings.Contains(found[0].Excerpt.MessageText, "and the lighthouse and on") ||
		len([]rune(found[0].Excerpt.MessageText)) > excerptRunes+2 {
		t.Errorf("%+v", found)
	}
	found, _, err = s.SearchChats(t.Context(), home, ChatSearch{}, 10)
	must(t, err)
	if len(found) != 2 || found[0].Excerpt.ChatID != "" || found[1].Excerpt.MessageText != "First words" {
		t.Errorf("%+v", found)
	}
}

// A search continues where the previous one ended, and visits every chat once.
func TestSearchContinuesAfterThePreviousPage(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	var want, got []string
	for i := range 7 {
		id := spoken(t, s, NewChat{AccountID: home, StartedMS: int64(i)}, fmt.Sprint("number ", i%2))
		if i%2 == 1 {
			want = append([]string{id}, want...)
		}
	}
	f := ChatSearch{Words: []string{"1"}}
	for range 10 {
		found, next, err := s.SearchChats(t.Context(), home, f, 1)
		must(t, err)
		for _, c := range found {
			got = append(got, c.ID)
		}
		if f.Before = next; next == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// A search among many chats ends soon, whether or not it finds anything.
func BenchmarkSearchChats(b *testing.B) {
	s := openStore(b, b.TempDir())
	home := newAccount(b, s, "home")
	const chats, messages = 5000, 20
	for i := range chats {
		texts := make([]string, messages)
		for k := range texts {
			texts[k] = fmt.Sprintf("When does the museum open on day %d, and what do %d people pay?", i, k)
		}
		spoken(b, s, NewChat{AccountID: home, StartedMS: time.Now().UnixMilli()}, texts...)
	}
	for b.Loop() {
		if _, _, err := s.SearchChats(b.Context(), home, ChatSearch{Words: []string{"elephant"}}, 20); err != nil {
			b.Fatal(err)
		}
	}
}
