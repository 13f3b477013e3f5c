package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/store"
)

// However the records of a chat lie in files, the chat has each event once, in the order in
// which they happened, though many have the same time.
func TestEventsAreInOrderHoweverTheyWereSaved(t *testing.T) {
	list := func(from, to int) string {
		var all []string
		for n := from; n != to; n += map[bool]int{true: 1, false: -1}[from < to] {
			all = append(all, eventRecord(1, n))
		}
		return strings.Join(all, ",")
	}
	page := func(direction, events string) string {
		return `{"pagination_direction":"` + direction + `","events_page":[` + events + `],` + chatRecord(1, 9)[1:]
	}
	others := `{"generation_id":"g","job":{"job_id":"j"},"x":[`
	cutPage := strings.Trim(chatRecord(1, 9), "}") + `,"events_page":[`
	for name, all := range map[string]map[string]string{
		"pages, the last first":      {"1": page("ASC", list(7, 10)), "2": page("ASC", list(0, 7))},
		"newest first":               {"1": page("DESC", list(9, 3)), "2": page("DESC", list(3, -1))},
		"a page of two at once":      {"1": page("DESC", list(9, 1)), "2": page("DESC", list(1, -1))},
		"twice":                      {"1": page("ASC", list(0, 7)), "2": page("ASC", list(0, 10))},
		"one array":                  {"a": "[" + chatRecord(1, 9) + "]", "events": "[" + list(0, 10) + "]"},
		"a record a line":            {"a": strings.ReplaceAll(list(0, 10), "},{", "}\n{") + "\n" + chatRecord(1, 9)},
		"pages in an array":          {"a": "[" + page("ASC", list(0, 4)) + "," + page("ASC", list(4, 10)) + "]"},
		"under names":                {"a": `{"x":{"y":[` + list(9, -1) + `]},"z":{"one":` + chatRecord(1, 9) + `}}`},
		"with others":                {"a": others + list(0, 10) + "," + chatRecord(1, 9) + "]}"},
		"camelCase":                  {"a": camel("[" + list(0, 10) + "," + chatRecord(1, 9) + "]")},
		"with a byte order mark":     {"a": "\ufeff[" + list(0, 10) + "," + chatRecord(1, 9) + "]"},
		"in UTF-16":                  {"a": utf16("[" + list(0, 10) + "," + chatRecord(1, 9) + "]")},
		"the events without a chat":  {"a": `{"id":"` + id(9) + `","events_page":[` + list(0, 10) + `]}`},
		"an array that is cut":       {"a": "[" + chatRecord(1, 9) + "," + list(0, 10) + `,{"id":"x","chat`},
		"a cut page":                 {"a": cutPage + list(0, 10) + `,{`},
		"a line that is broken":      {"a": chatRecord(1, 9) + "\n{\"id\": oops}\n[" + list(0, 10) + "]"},
		"with numbers as Python has": {"a": "[" + chatRecord(1, 9) + `,{"score": NaN},` + list(0, 10) + "]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			folder := files(t, all)
			r := b.load(folder)
			b.want(r, kindChat, 1)
			b.want(r, kindEvent, 10)
			if got := b.texts(1); !slices.Equal(got, strings.Split("0123456789", "")) {
				t.Errorf("the order is %v", got)
			}
			c, err := b.Store.ImportedChat(t.Context(), id(1))
			if err != nil || c.GroupID != id(9) || c.Status != store.UserEnded {
				t.Errorf("the chat is %+v, %v", c, err)
			}
			if again := b.load(folder); again.New() != 0 || len(again.Differs) > 0 {
				t.Errorf("the second import:\n%s", lines(again))
			}
		})
	}
}

// camel returns JSON with names as the TypeScript client writes them.
func camel(text string) string {
	for _, name := range []string{"chat_group_id", "start_timestamp", "end_timestamp", "chat_id", "message_text",
		"emotion_features"} {
		words := strings.Split(name, "_")
		for i := range words[1:] {
			words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
		}
		text = strings.ReplaceAll(text, `"`+name+`"`, `"`+strings.Join(words, "")+`"`)
	}
	return text
}

// utf16 returns a text as PowerShell writes it.
func utf16(text string) string {
	b := []byte{0xff, 0xfe}
	for _, r := range text { // ASCII
		b = append(b, byte(r), 0)
	}
	return string(b)
}

// An import that is stopped anywhere is completed by the next one.
func TestAnInterruptedImportIsCompleted(t *testing.T) {
	var all []string
	for c := range 2 {
		all = append(all, chatRecord(c, 50))
		for n := range 2*eventsAtOnce + 20 {
			all = append(all, eventRecord(c, n))
		}
	}
	folder := files(t, map[string]string{"a.json": "[" + strings.Join(all, ",") + "]"})
	b := newBox(t)
	stopped := errors.New("stopped")
	for tries := 1; ; tries++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		b.From = folder
		im, err := Read(ctx, b.Options)
		b.must(err)
		im.Store = b.Store
		writes := 0
		w := &work{Import: im, apply: true, report: newReport(), seen: map[string]bool{}}
		w.wrote = func() {
			if writes++; writes == 2 {
				cancel(stopped)
			}
		}
		err = w.chats(ctx)
		b.must(im.Close())
		if err == nil {
			if tries < 3 {
				t.Errorf("it was complete after %d tries", tries)
			}
			break
		}
		if ctx.Err() == nil || tries > 50 {
			t.Fatal(err)
		}
	}
	for c := range 2 {
		got := b.texts(c)
		if len(got) != 2*eventsAtOnce+20 || !slices.IsSortedFunc(got, func(a, b string) int {
			return len(a)*10_000 - len(b)*10_000 + strings.Compare(a, b)
		}) {
			t.Errorf("chat %d has %d events, in this order: %.200v", c, len(got), got)
		}
	}
	if r := b.load(folder); r.New() != 0 {
		t.Errorf("there is still something new:\n%s", lines(r))
	}
}

// What was saved later is added, also in the middle of a chat; what differs stays.
func TestMoreEventsAreAdded(t *testing.T) {
	b := newBox(t)
	odd := "[" + chatRecord(1, 9) + "," + eventRecord(1, 2) + "," + eventRecord(1, 6) + "]"
	b.want(b.load(files(t, map[string]string{"a": odd})), kindEvent, 2)
	even := "[" + chatRecord(1, 9) + "," + eventRecord(1, 0) + "," + eventRecord(1, 2) + "," + eventRecord(1, 4) + "," +
		eventRecord(1, 6) + "]"
	b.want(b.load(files(t, map[string]string{"a": even})), kindEvent, 2)
	if got := b.texts(1); !slices.Equal(got, []string{"0", "2", "4", "6"}) {
		t.Errorf("the chat has %v", got)
	}
	changed := strings.Replace(even, "number 4", "number five", 1)
	r := b.load(files(t, map[string]string{"a": changed}))
	b.want(r, kindEvent, 0)
	b.wantLine(r, "1 of its events are other ones on the box")
}

// Imported chats come before the chats of the box, in the order of their times, in
// whichever order they are imported.
func TestImportedChatsComeFirstInOrderOfTime(t *testing.T) {
	b := newBox(t)
	live := store.NewChat{ID: id(900), GroupID: id(901), AccountID: b.Account.ID, StartedMS: began * 2, RequestID: "r"}
	b.must(b.Store.StartChat(t.Context(), live))
	for _, n := range []int{5, 3, 8} {
		b.load(files(t, map[string]string{"a": chatRecord(n, 70)}))
	}
	live.ID, live.GroupID = id(902), id(903)
	b.must(b.Store.StartChat(t.Context(), live))
	chats, total, err := b.Store.Chats(t.Context(), b.Account.ID, store.ChatFilter{}, store.Page{Size: 10})
	b.must(err)
	var got []string
	for _, c := range chats {
		got = append(got, c.ID)
	}
	if want := []string{id(3), id(5), id(8), id(900), id(902)}; !slices.Equal(got, want) || total != 5 {
		t.Errorf("the chats are %v, want %v", got, want)
	}
	g, _, n, err := b.Store.ChatGroup(t.Context(), b.Account.ID, id(70), nil, store.Page{Size: 10})
	if b.must(err); g.LastChatID != id(8) || g.FirstStartMS != began+3*60_000 || n != 3 {
		t.Errorf("the group is %+v with %d chats", g, n)
	}
	// An imported group can be resumed.
	live.ID, live.GroupID, live.Resume = id(904), id(70), true
	b.must(b.Store.StartChat(t.Context(), live))
	b.load(files(t, map[string]string{"a": chatRecord(4, 70)}))
	g, _, _, err = b.Store.ChatGroup(t.Context(), b.Account.ID, id(70), nil, store.Page{Size: 10})
	if b.must(err); g.LastChatID != id(904) || g.NumChats != 5 {
		t.Errorf("the resumed group is %+v", g)
	}
	// A box whose only chats are imported numbers its own after them.
	other := newBox(t)
	other.load(files(t, map[string]string{"a": chatRecord(5, 70)}))
	live.ID, live.GroupID, live.Resume, live.AccountID = id(905), id(906), false, other.Account.ID
	other.must(other.Store.StartChat(t.Context(), live))
	other.load(files(t, map[string]string{"a": chatRecord(6, 71)}))
	chats, _, err = other.Store.Chats(t.Context(), other.Account.ID, store.ChatFilter{}, store.Page{Size: 10})
	if other.must(err); chats[2].ID != id(905) {
		t.Errorf("the newest chat is %s", chats[2].ID)
	}
}

// What belongs to another account is neither changed nor shown.
func TestAnotherAccountIsNotTouched(t *testing.T) {
	b := newBox(t)
	folder := files(t, map[string]string{"a": "[" + chatRecord(1, 9) + "," + chatRecord(2, 9) + "," +
		promptRecord(1, 0, "Guide") + "]"})
	b.load(folder)
	b.Account = b.account("other")
	r := b.load(folder)
	if r.New() != 0 || r.count(kindChat).LeftOut != 2 || r.count(kindPrompt).LeftOut != 1 {
		t.Errorf("the other account:\n%s", lines(r))
	}
	r = b.load(files(t, map[string]string{"a": chatRecord(3, 9)})) // a group of the first
	if r.count(kindChat).New != 0 {
		t.Errorf("a foreign group:\n%s", lines(r))
	}
}

// Chats that were live, or ended in ways that the box does not know, are over.
func TestImportedChatsAreOver(t *testing.T) {
	b := newBox(t)
	chat := func(n int, more string) string {
		return fmt.Sprintf(`{"id":"%s","chat_group_id":"%s","start_timestamp":%d%s}`, id(n), id(n+50), began, more)
	}
	r := b.load(files(t, map[string]string{"a": "[" + strings.Join([]string{
		chat(1, `,"status":"ACTIVE"`), chat(2, `,"status":"SILENCE_TIMEOUT"`), chat(3, ``), eventRecord(1, 8),
		chat(4, `,"status":"ERROR","end_timestamp":"2025-10-09T08:53:20.5Z","metadata":{"a":1},"event_count":2`),
		chat(5, `,"status":"USER_ENDED","metadata":"not JSON"`),
		`{"id":"../../x","chat_group_id":"y","start_timestamp":1}`,
	}, ",") + "]"}))
	b.want(r, kindChat, 5)
	for n, want := range map[int]string{
		1: "USER_ENDED 1760000060004 ", 2: "INACTIVITY_TIMEOUT 1760000000000 ", 3: "USER_ENDED 1760000000000 ",
		4: `ERROR 1760000000500 {"a":1}`, 5: "USER_ENDED 1760000000000 ",
	} {
		c, err := b.Store.ImportedChat(t.Context(), id(n))
		if got := fmt.Sprint(c.Status, " ", c.EndedMS, " ", c.Metadata); err != nil || got != want {
			t.Errorf("chat %d: %s, %v; want %s", n, got, err, want)
		}
	}
	b.wantLine(r, "its id is not a UUID")
	b.wantLine(r, "0 of its 2 events were saved")
}

// The report says what the settings of the box will delete.
func TestTheReportSaysWhatWillBeDeleted(t *testing.T) {
	b := newBox(t)
	b.Settings.KeepDays = 30
	r := b.load(files(t, map[string]string{"a": chatRecord(1, 9)}))
	b.wantLine(r, "1 of the new chats ended more than 30 days ago")
}
