package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/store"
)

// begin starts a chat of the account, which may resume a group.
func (c client) begin(n store.NewChat, said ...store.Event) store.NewChat {
	c.t.Helper()
	n.ID, n.AccountID, n.RequestID = contract.NewID(), c.account, contract.NewID()
	if n.Resume = n.GroupID != ""; !n.Resume {
		n.GroupID = contract.NewID()
	}
	if err := c.api.Records.StartChat(c.t.Context(), n, said...); err != nil {
		c.t.Fatal(err)
	}
	return n
}

func (c client) end(id string, status store.Status, atMS int64) {
	c.t.Helper()
	if err := c.api.Records.EndChat(c.t.Context(), id, status, atMS); err != nil {
		c.t.Fatal(err)
	}
}

// at returns a time of the history, so many seconds after its beginning.
func at(seconds int64) int64 { return 1_700_000_000_000 + 1000*seconds }

// eventsOfAllTypes returns a chat with every type of event.
func eventsOfAllTypes() []store.Event {
	var all []store.Event
	for i, e := range []store.Event{
		{Type: store.ChatStart, Role: store.System},
		{Type: store.SystemPrompt, Role: store.System, MessageText: "You guide."},
		{Type: store.SessionSettings, Role: store.System, Metadata: `{"type":"session_settings"}`},
		{Type: store.UserRecordingStart, Role: store.User}, {
			Type:            store.UserMessage,
			Role:            store.User,
			MessageText:     "Hi <you> & me",
			EmotionFeatures: `{"Joy":0.5}`,
		},
		{Type: store.FunctionCall, Role: store.Agent, MessageText: `{"day":"Monday"}`},
		{Type: store.FunctionCallResponse, Role: store.Tool, MessageText: "closed"},
		{Type: store.AgentMessage, Role: store.Agent, MessageText: "We are closed."},
		{Type: store.AssistantProsody, Role: store.Agent, EmotionFeatures: `{"Joy":0.1}`},
		{Type: store.UserInterruption, Role: store.User}, {Type: store.PauseOnset, Role: store.System},
		{Type: store.ResumeOnset, Role: store.System},
		{Type: store.ChatEnd, Role: store.System},
	} {
		e.ID, e.AtMS = contract.NewID(), at(int64(i))
		if e.Type == store.AssistantProsody {
			e.RelatedEventID = all[i-1].ID
		}
		all = append(all, e)
	}
	return all
}

// equal compares fields of a record; nil means absent.
func equal(t testing.TB, what string, got record, want record) {
	t.Helper()
	for name, v := range want {
		w, _ := json.Marshal(v)
		if g, _ := json.Marshal(got[name]); string(g) != string(w) {
			t.Errorf("%s: %s is %s, want %s", what, name, g, w)
		}
	}
}

// idsOn returns the ids on a page, or another field of its entries.
func idsOn(list record, page, field string) string {
	var all []string
	for _, v := range list[page].([]any) {
		all = append(all, fmt.Sprint(v.(record)[field]))
	}
	return strings.Join(all, " ")
}

func TestAChatIsReturnedAsItHappened(t *testing.T) {
	c := startRest(t, "home")[0]
	said := eventsOfAllTypes()
	chat := c.begin(store.NewChat{StartedMS: at(0), Config: store.ConfigRef{ID: contract.NewID(), Version: 3},
		Metadata: `{"twilio":{"caller_number":"+1555"}}`}, said...)
	path := "/v0/evi/chats/" + chat.ID

	want := record{
		"id": chat.ID, "chat_group_id": chat.GroupID, "status": "ACTIVE", "start_timestamp": at(0),
		"end_timestamp": nil,
		"config":        record{"id": chat.Config.ID, "version": 3}, "metadata": chat.Metadata,
	}
	got := c.ask("GET", path+"?page_size=100", "", 200)
	equal(t, "a live chat", got, want)
	equal(t, "its page", got,
		record{"page_number": 0, "page_size": 100, "total_pages": 1, "pagination_direction": "ASC"})
	events := got["events_page"].([]any)
	if len(events) != len(said) {
		t.Fatalf("%d events, want %d", len(events), len(said))
	}
	for i, e := range said {
		equal(t, string(e.Type), events[i].(record), record{
			"id": e.ID, "chat_id": chat.ID, "timestamp": e.AtMS, "type": e.Type, "role": e.Role,
			"message_text":     orNil(e.MessageText),
			"emotion_features": orNil(e.EmotionFeatures), "metadata": orNil(e.Metadata),
			"related_event_id": orNil(e.RelatedEventID),
		})
	}
	c.end(chat.ID, store.InactivityTimeout, at(99))
	want["status"], want["end_timestamp"] = "INACTIVITY_TIMEOUT", at(99)
	equal(t, "an ended chat", c.ask("GET", path, "", 200), want)
	list := c.ask("GET", "/v0/evi/chats", "", 200)
	want["event_count"] = len(said)
	equal(t, "the list's", list["chats_page"].([]any)[0].(record), want)

	plain := c.begin(store.NewChat{StartedMS: at(200)})
	equal(t, "a plain chat", c.ask("GET", "/v0/evi/chats/"+plain.ID, "", 200),
		record{"config": nil, "metadata": nil, "events_page": []any{}, "total_pages": 0})

	for query, want := range map[string]string{
		"page_size=3&page_number=1":                           ids(said[3:6]),
		"page_size=3&page_number=0&ascending_order=false":     reversed(said[10:13]),
		"page_size=3&page_number=4&ascending_order=false":     reversed(said[0:1]),
		"page_size=3&page_number=5":                           "",
		"page_size=3&page_number=9007199254740992":            "",
		"page_size=&page_number=&ascending_order=&more=param": ids(said[:10]),
	} {
		got := c.ask("GET", path+"?"+query, "", 200)
		if idsOn(got, "events_page", "id") != want {
			t.Errorf("%s: %v", query, idsOn(got, "events_page", "type"))
		}
		if direction := got["pagination_direction"]; strings.Contains(query, "false") != (direction == "DESC") {
			t.Errorf("%s: direction %v", query, direction)
		}
	}
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func ids(events []store.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, e.ID)
	}
	return strings.Join(all, " ")
}

func reversed(events []store.Event) string {
	all := strings.Fields(ids(events))
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return strings.Join(all, " ")
}

// threeGroups stores three groups: one of three chats, one whose chat failed, and
// one whose chat is live. The configs are a, b, none, a, b.
func threeGroups(c client) (chats []store.NewChat) {
	a, b := store.ConfigRef{ID: "a"}, store.ConfigRef{ID: "b", Version: 1}
	chats = append(chats, c.begin(store.NewChat{StartedMS: at(0), Config: a}, eventsOfAllTypes()...))
	c.end(chats[0].ID, store.UserEnded, at(1))
	chats = append(chats, c.begin(store.NewChat{StartedMS: at(2), GroupID: chats[0].GroupID, Config: b},
		eventsOfAllTypes()[:4]...))
	c.end(chats[1].ID, store.InactivityTimeout, at(3))
	chats = append(chats, c.begin(store.NewChat{StartedMS: at(4)}, eventsOfAllTypes()[:1]...))
	c.end(chats[2].ID, store.Failed, at(5))
	chats = append(chats, c.begin(store.NewChat{StartedMS: at(6), GroupID: chats[0].GroupID, Config: a},
		eventsOfAllTypes()[:2]...))
	c.end(chats[3].ID, store.UserEnded, at(7))
	return append(chats, c.begin(store.NewChat{StartedMS: at(8), Config: b}, eventsOfAllTypes()[:3]...))
}

func TestListsOfChatsAreFiltered(t *testing.T) {
	c := startRest(t, "home")[0]
	chats := threeGroups(c)
	for query, want := range map[string][]int{
		"":                          {0, 1, 2, 3, 4},
		"ascending_order=true":      {0, 1, 2, 3, 4},
		"ascending_order=false":     {4, 3, 2, 1, 0},
		"page_size=2&page_number=1": {2, 3},
		"page_size=2&page_number=0&ascending_order=False": {4, 3},
		"page_size=2&page_number=3":                       {},
		"config_id=a":                                     {0, 3},
		"config_id=b":                                     {1, 4},
		"config_id=none":                                  {},
		"status=ACTIVE":                                   {4},
		"status=USER_ENDED":                               {0, 3},
		"status=USER_ENDED&status=ERROR":                  {0, 2, 3},
		"status=USER_ENDED&status=USER_ENDED":             {0, 3},
		"status=USER_ENDED,ERROR&status=ACTIVE":           {0, 2, 3, 4},
		"status=":                                         {0, 1, 2, 3, 4},
		"status=USER_TIMEOUT":                             {},
		"status=USER_ENDED&status=ACTIVE&config_id=a&ascending_order=false": {3, 0},
		"status=ACTIVE&status=USER_ENDED&status=USER_TIMEOUT&status=MAX_DURATION_TIMEOUT&status=INACTIVITY_TIMEOUT&" +
			"status=ERROR&page_size=3": {0, 1, 2},
	} {
		var ids []string
		for _, i := range want {
			ids = append(ids, chats[i].ID)
		}
		got := c.ask("GET", "/v0/evi/chats?"+query, "", 200)
		if idsOn(got, "chats_page", "id") != strings.Join(ids, " ") {
			t.Errorf("%s: %s", query, idsOn(got, "chats_page", "start_timestamp"))
		}
	}
	equal(t, "pages", c.ask("GET", "/v0/evi/chats?page_size=2&page_number=9", "", 200),
		record{"total_pages": 3, "page_number": 9, "page_size": 2, "chats_page": []any{}})
}

func TestChatGroupsListTheirChats(t *testing.T) {
	c := startRest(t, "home")[0]
	chats := threeGroups(c)
	list := c.ask("GET", "/v0/evi/chat_groups", "", 200)
	groups := list["chat_groups_page"].([]any)
	if len(groups) != 3 {
		t.Fatalf("groups: %v", list)
	}
	equal(t, "the list", list,
		record{"page_number": 0, "page_size": 10, "total_pages": 1, "pagination_direction": "ASC"})
	equal(t, "the resumed group", groups[0].(record), record{
		"id": chats[0].GroupID, "first_start_timestamp": at(0), "most_recent_start_timestamp": at(6),
		"most_recent_chat_id": chats[3].ID,
		"most_recent_config":  record{"id": "a", "version": 0}, "num_chats": 3, "active": false,
	})
	equal(t, "the group without a config", groups[1].(record),
		record{"most_recent_config": nil, "num_chats": 1, "active": false})
	equal(t, "the live group", groups[2].(record),
		record{"most_recent_config": record{"id": "b", "version": 1}, "active": true})
	for query, want := range map[string]string{
		"config_id=a": chats[0].GroupID, "config_id=b": chats[4].GroupID, "config_id=none": "",
		"page_size=1&page_number=1": chats[2].GroupID, "page_size=1&ascending_order=false": chats[4].GroupID,
	} {
		if got := idsOn(c.ask("GET", "/v0/evi/chat_groups?"+query, "", 200), "chat_groups_page", "id"); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	path := "/v0/evi/chat_groups/" + chats[0].GroupID
	got := c.ask("GET", path, "", 200)
	equal(t, "a group", got, record{"id": chats[0].GroupID, "first_start_timestamp": at(0),
		"most_recent_start_timestamp": at(6), "num_chats": 3, "active": false, "total_pages": 1})
	for query, want := range map[string][]int{
		"": {0, 1, 3}, "ascending_order=false": {3, 1, 0}, "status=USER_ENDED": {0, 3}, "status=ERROR": {},
		"page_size=1&page_number=1": {1},
		"status=USER_ENDED&status=INACTIVITY_TIMEOUT&page_size=2&ascending_order=false": {3, 1},
	} {
		var ids []string
		for _, i := range want {
			ids = append(ids, chats[i].ID)
		}
		if got := idsOn(c.ask("GET", path+"?"+query, "", 200), "chats_page", "id"); got != strings.Join(ids, " ") {
			t.Errorf("%s: %s", query, got)
		}
	}

	// Its events: 13 of the first chat, 4 of the second, 2 of the third.
	events := c.ask("GET", path+"/events?page_size=100", "", 200)
	all := strings.Fields(idsOn(events, "events_page", "id"))
	if len(all) != 19 || idsOn(events, "events_page",
		"chat_id") != strings.TrimSpace(strings.Repeat(chats[0].ID+" ", 13)+strings.Repeat(chats[1].ID+" ", 4)+
		strings.Repeat(chats[3].ID+" ", 2)) {
		t.Fatalf("events: %v", events)
	}
	equal(t, "events", events, record{"id": chats[0].GroupID, "page_number": 0, "page_size": 100, "total_pages": 1,
		"pagination_direction": "ASC"})
	for query, want := range map[string][]string{"page_size=5&page_number=2": all[10:15],
		"page_size=5&page_number=3": all[15:], "page_size=5&page_number=4": nil,
		"page_size=2&ascending_order=false": {all[18], all[17]}} {
		if got := idsOn(c.ask("GET", path+"/events?"+query, "", 200), "events_page", "id"); got != strings.Join(want,
			" ") {
			t.Errorf("%s: %s", query, got)
		}
	}
}

func TestADeletedGroupIsGoneOverREST(t *testing.T) {
	c := startRest(t, "home")[0]
	chats := threeGroups(c)
	if got := c.ask("DELETE", "/v0/evi/chat_groups/"+chats[4].GroupID, "", 409); got["code"] != "conflict" ||
		!strings.Contains(got["message"].(string), "live") {
		t.Errorf("deleting a live group: %v", got)
	}
	path := "/v0/evi/chat_groups/" + chats[0].GroupID
	c.ask("DELETE", path, "", 200)
	for _, gone := range [][2]string{{"DELETE", path}, {"GET", path}, {"GET", path + "/events"},
		{"GET", path + "/audio"},
		{"GET", "/v0/evi/chats/" + chats[0].ID}, {"GET", "/v0/evi/chats/" + chats[1].ID + "/audio"}} {
		c.ask(gone[0], gone[1], "", 404)
	}
	if got := idsOn(c.ask("GET", "/v0/evi/chats", "", 200), "chats_page", "id"); got != chats[2].ID+" "+chats[4].ID {
		t.Errorf("left are %s", got)
	}
}

func TestNothingOfAnotherAccountsHistoryIsVisible(t *testing.T) {
	clients := startRest(t, "home", "work")
	home, work := clients[0], clients[1]
	chats := threeGroups(home)
	id, group := chats[0].ID, chats[0].GroupID
	for _, way := range [][2]string{
		{"GET", "/v0/evi/chats/" + id}, {"GET", "/v0/evi/chats/" + id + "/audio"},
		{"GET", "/v0/evi/chat_groups/" + group},
		{"GET", "/v0/evi/chat_groups/" + group + "/events"}, {"GET", "/v0/evi/chat_groups/" + group + "/audio"},
		{"DELETE", "/v0/evi/chat_groups/" + group},
	} {
		mine := work.ask(way[0], way[1], "", 404)["message"]
		none := work.ask(way[0], strings.NewReplacer(id, contract.NewID(), group, contract.NewID()).Replace(way[1]), "",
			404)["message"]
		if len(mine.(string)) != len(none.(string)) {
			t.Errorf("%s tells that there is one: %q, else %q", way[1], mine, none)
		}
	}
	for _, list := range [][2]string{{"/v0/evi/chats?config_id=a", "chats_page"}, {"/v0/evi/chats", "chats_page"},
		{"/v0/evi/chat_groups", "chat_groups_page"}} {
		if got := work.ask("GET", list[0], "", 200); idsOn(got, list[1], "id") != "" || got["total_pages"] != 0.0 {
			t.Errorf("%s: %v", list[0], got)
		}
	}
	home.ask("GET", "/v0/evi/chats/"+id, "", 200)
}

func TestErrorsNameTheQueryParameterOfTheHistory(t *testing.T) {
	c := startRest(t, "home")[0]
	chats := threeGroups(c)
	for _, path := range []string{"/v0/evi/chats", "/v0/evi/chats/" + chats[0].ID, "/v0/evi/chat_groups",
		"/v0/evi/chat_groups/" + chats[0].GroupID,
		"/v0/evi/chat_groups/" + chats[0].GroupID + "/events", "/v0/evi/chat_groups/" + chats[0].GroupID + "/audio"} {
		for _, query := range []string{"page_size=0", "page_size=101", "page_size=x", "page_number=-1",
			"ascending_order=maybe"} {
			got := c.ask("GET", path+"?"+query, "", 400)
			if name, _, _ := strings.Cut(query, "="); !strings.HasPrefix(got["message"].(string), name+":") {
				t.Errorf("%s?%s: %v", path, query, got)
			}
		}
		c.ask("GET", path+"?page_size=1", "", 200)
		c.ask("GET", path+"?page_size=100", "", 200)
		c.ask("POST", path, "{}", 405)
	}
	for _, path := range []string{"/v0/evi/chats", "/v0/evi/chat_groups/" + chats[0].GroupID} {
		if got := c.ask("GET", path+"?status=ACTIVE&status=asleep", "", 400); !strings.Contains(got["message"].(string),
			"INACTIVITY_TIMEOUT") || !strings.Contains(got["message"].(string), "asleep") {
			t.Errorf("%s: %v", path, got)
		}
	}
	c.key = ""
	for _, path := range []string{"/v0/evi/chats", "/v0/evi/chat_groups", "/v0/evi/chats/" + chats[0].ID + "/audio"} {
		c.ask("GET", path, "", 401)
	}
}

// addSound writes one side of a chat: a tone that begins at a time.
func (c client) addSound(chatID string, side store.Side, rateHz int, hz float64, from, to float64) {
	c.t.Helper()
	f, err := c.api.Records.CreateRecording(chatID, side)
	if err != nil {
		c.t.Fatal(err)
	}
	w, err := audio.NewOggOpusWriter(f, rateHz, 1, 1)
	if err != nil {
		c.t.Fatal(err)
	}
	pcm := make([]float32, int(to*float64(rateHz)))
	for i := int(from * float64(rateHz)); i < len(pcm); i++ {
		pcm[i] = float32(0.4 * math.Sin(2*math.Pi*hz*float64(i)/float64(rateHz)))
	}
	for _, err := range []error{w.Write(pcm), w.Close(), f.Close()} {
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// fetch requests a link without a key.
func (c client) fetch(method, url string, header ...string) (*http.Response, []byte) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, url, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := c.http.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer, data
}

func TestALinkServesARecordingUntilItExpires(t *testing.T) {
	c := startRest(t, "home")[0]
	chat := c.begin(store.NewChat{StartedMS: at(0), Recorded: true})
	ask := func() record { return c.ask("GET", "/v0/evi/chats/"+chat.ID+"/audio", "", 200) }
	equal(t, "before anybody spoke", ask(),
		record{"id": chat.ID, "user_id": c.account, "status": "QUEUED", "signed_audio_url": nil})
	c.addSound(chat.ID, store.UserSide, 16000, 500, 0, 2)
	equal(t, "while it is live", ask(), record{"status": "IN_PROGRESS", "signed_audio_url": nil, "filename": nil})
	c.addSound(chat.ID, store.AssistantSide, 48000, 900, 1, 25.5)
	c.end(chat.ID, store.UserEnded, at(26))

	now := time.Now()
	c.api.now = func() time.Time { return now }
	got := ask()
	equal(t, "ended", got, record{"id": chat.ID, "user_id": c.account, "status": "COMPLETE",
		"filename":                               chat.ID + ".wav",
		"modified_at":                            at(26),
		"signed_url_expiration_timestamp_millis": now.Add(time.Hour).UnixMilli()})
	url := got["signed_audio_url"].(string)
	if !strings.HasPrefix(url, c.http.URL+"/v0/evi/chats/") {
		t.Fatalf("the link is %s, not at %s", url, c.http.URL)
	}
	answer, whole := c.fetch("GET", url)
	if want := 44 + 2*24000*51/2; answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "audio/wav" ||
		len(whole) != want ||
		answer.Header.Get("Accept-Ranges") != "bytes" || bytes.Count(whole, []byte("RIFF")) != 1 {
		t.Fatalf("%d, %v, %d bytes, want %d", answer.StatusCode, answer.Header, len(whole), want)
	}
	pcm, err := audio.DecodeAll(whole, 24000)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ from, to, hz500, hz900 float64 }{{0.1, 0.9, 0.2, 0}, {1.1, 1.9, 0.2, 0.2},
		{2.1, 9.9, 0, 0.2}, {10.1, 25.3, 0, 0.2}} {
		part := pcm[int(x.from*24000):int(x.to*24000)]
		a, b := amplitudeAt(part, 500), amplitudeAt(part, 900)
		if math.Abs(a-x.hz500) > 0.05 || math.Abs(b-x.hz900) > 0.05 {
			t.Errorf("from %g to %g s the user is heard with %.2f and the assistant with %.2f, want %g and %g", x.from,
				x.to, a, b, x.hz500, x.hz900)
		}
	}
	checkRanges(t, c, url, whole, answer.Header.Get("ETag"))
	checkLinkIsSafe(t, c, url, &now)
}

// amplitudeAt returns half the amplitude of a tone in pcm.
func amplitudeAt(pcm []float32, hz float64) float64 {
	var re, im float64
	for i, v := range pcm {
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / 24000)
		re, im = re+float64(v)*c, im+float64(v)*s
	}
	return math.Hypot(re, im) / float64(len(pcm))
}

func checkRanges(t *testing.T, c client, url string, whole []byte, etag string) {
	t.Helper()
	last := len(whole) - 1
	for _, x := range []struct {
		ask      string
		from, to int
	}{
		{"bytes=0-0", 0, 0}, {"bytes=0-43", 0, 43}, {"bytes=40-50", 40, 50}, {"bytes=1001-", 1001, last},
		{"bytes=-10", last - 9, last},
		{"bytes=480040-480050", 480040, 480050}, {"bytes=480045-960100", 480045, 960100},
		{fmt.Sprintf("bytes=%d-%d", last, last+1000), last, last},
	} {
		answer, part := c.fetch("GET", url, "Range", x.ask)
		if answer.StatusCode != 206 || !bytes.Equal(part, whole[x.from:x.to+1]) ||
			answer.Header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", x.from, x.to, len(whole)) {
			t.Errorf("%s: %d, %d bytes, %s", x.ask, answer.StatusCode, len(part), answer.Header.Get("Content-Range"))
		}
	}
	for _, past := range []string{fmt.Sprintf("bytes=%d-", len(whole)), "bytes=5-2", "bytes=x", "lines=0-1"} {
		answer, body := c.fetch("GET", url, "Range", past)
		if answer.StatusCode != 416 || answer.Header.Get("Content-Type") != "application/json" ||
			!strings.Contains(string(body), `"code":"range_not_satisfiable"`) {
			t.Errorf("%s: %d %s", past, answer.StatusCode, body)
		}
	}
	if answer, all := c.fetch("GET", url, "Range", "bytes=0-1,900-901,4-5"); answer.StatusCode != 200 ||
		!bytes.Equal(all, whole) {
		t.Errorf("many ranges: %d, %d bytes", answer.StatusCode, len(all))
	}
	if answer, body := c.fetch("HEAD", url); answer.StatusCode != 200 || answer.ContentLength != int64(len(whole)) ||
		len(body) != 0 {
		t.Errorf("HEAD: %d, %d", answer.StatusCode, answer.ContentLength)
	}
	if answer, _ := c.fetch("GET", url, "If-None-Match", etag); etag == "" || answer.StatusCode != 304 {
		t.Errorf("If-None-Match %s: %d", etag, answer.StatusCode)
	}
}

func checkLinkIsSafe(t *testing.T, c client, url string, now *time.Time) {
	t.Helper()
	path, query, _ := strings.Cut(url, "?")
	other := c.begin(store.NewChat{Recorded: true})
	c.end(other.ID, store.UserEnded, at(1))
	parts := strings.Split(path, "/")
	elsewhere := strings.Replace(path, parts[len(parts)-2], other.ID, 1)
	for name, wrong := range map[string]string{
		"no signature": path, "no query": path + "?", "another chat": elsewhere + "?" + query,
		"no chat":                strings.Replace(url, parts[len(parts)-2], "none", 1),
		"a later time":           strings.Replace(url, "expires=", "expires=9", 1),
		"another time":           strings.Replace(url, "expires=", "expires=0", 1),
		"a shorter signature":    url[:len(url)-2],
		"another signature":      url[:len(url)-1] + string('0'+(url[len(url)-1]+1)%10),
		"a word for a signature": strings.Replace(url, "signature=", "signature=x", 1),
		"a key of the API":       path + "?api_key=" + c.key,
	} {
		answer, body := c.fetch("GET", wrong, "Range", "bytes=0-10")
		if answer.StatusCode != 403 || answer.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", name, answer.StatusCode, body)
		}
	}
	begun := *now
	*now = begun.Add(time.Hour - time.Millisecond)
	if answer, _ := c.fetch("HEAD", url); answer.StatusCode != 200 {
		t.Errorf("just before its time: %d", answer.StatusCode)
	}
	*now = begun.Add(time.Hour)
	if answer, body := c.fetch("GET", url); answer.StatusCode != 403 || !strings.Contains(string(body), "expired") {
		t.Errorf("at its time: %d %s", answer.StatusCode, body)
	}
	*now = begun
}

func TestALinkHasTheAddressThatTheClientUses(t *testing.T) {
	c := startRest(t, "home")[0]
	chat := c.begin(store.NewChat{Recorded: true})
	c.end(chat.ID, store.UserEnded, at(1))
	for proto, want := range map[string]string{"": "http://box.example:8443/", "https": "https://box.example:8443/",
		"ftp": "http://box.example:8443/", "HTTPS, http": "https://box.example:8443/"} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", c.http.URL+"/v0/evi/chats/"+chat.ID+"/audio", nil)
		r.Host = "box.example:8443"
		r.Header.Set("X-Service-Api-Key", c.key)
		r.Header.Set("X-Forwarded-Proto", proto)
		answer, err := c.http.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var got record
		if err := json.NewDecoder(answer.Body).Decode(&got); err != nil ||
			!strings.HasPrefix(fmt.Sprint(got["signed_audio_url"]), want) {
			t.Errorf("through %q: %v, %v", proto, got, err)
		}
	}
}

// HTTP/1.0 does not require a Host header.
func TestALinkIsCompleteWithoutAHostHeader(t *testing.T) {
	c := startRest(t, "home")[0]
	chat := c.begin(store.NewChat{Recorded: true})
	c.end(chat.ID, store.UserEnded, at(1))
	address := strings.TrimPrefix(c.http.URL, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v0/evi/chats/%s/audio HTTP/1.0\r\nX-Service-Api-Key: %s\r\n\r\n", chat.ID, c.key)
	answer, err := io.ReadAll(conn)
	if want := `"signed_audio_url":"http://` + address + "/"; err != nil || !strings.Contains(string(answer), want) {
		t.Errorf("%v, want %s in %s", err, want, answer)
	}
}

func TestEveryStatusOfARecording(t *testing.T) {
	c := startRest(t, "home")[0]
	unrecorded := c.begin(store.NewChat{StartedMS: at(0)})
	c.end(unrecorded.ID, store.UserEnded, at(1))
	failed := c.begin(store.NewChat{GroupID: unrecorded.GroupID, StartedMS: at(2), Recorded: true})
	c.addSound(failed.ID, store.UserSide, 16000, 500, 0, 1)
	if err := c.api.Records.FailRecording(t.Context(), failed.ID); err != nil {
		t.Fatal(err)
	}
	c.end(failed.ID, store.Failed, at(3))
	silent := c.begin(store.NewChat{GroupID: unrecorded.GroupID, StartedMS: at(4), Recorded: true})
	c.end(silent.ID, store.UserEnded, at(5))

	path := "/v0/evi/chat_groups/" + unrecorded.GroupID + "/audio"
	got := c.ask("GET", path, "", 200)
	equal(t, "the page", got, record{"id": unrecorded.GroupID, "user_id": c.account, "num_chats": 3,
		"page_number": 0,
		"page_size":   10, "total_pages": 1, "pagination_direction": "ASC"})
	if ids, status := idsOn(got, "audio_reconstructions_page", "id"),
		idsOn(got, "audio_reconstructions_page", "status"); ids != unrecorded.ID+" "+failed.ID+" "+silent.ID ||
		status != "CANCELLED ERROR COMPLETE" {
		t.Errorf("%s: %s", ids, status)
	}
	if got := idsOn(c.ask("GET", path+"?page_size=1&page_number=1&ascending_order=false", "", 200),
		"audio_reconstructions_page", "id"); got != failed.ID {
		t.Errorf("the second from the end is %s", got)
	}
	all := got["audio_reconstructions_page"].([]any)
	if all[0].(record)["signed_audio_url"] != nil {
		t.Error("what was not recorded has a link")
	}
	if answer, data := c.fetch("GET", all[1].(record)["signed_audio_url"].(string)); answer.StatusCode != 200 ||
		len(data) != 44+2*24000 {
		t.Errorf("what is there of a failed recording: %d, %d bytes", answer.StatusCode, len(data))
	}
	url := all[2].(record)["signed_audio_url"].(string)
	if answer, data := c.fetch("GET", url); answer.StatusCode != 200 || len(data) != 44 {
		t.Errorf("a chat without a sound: %d, %d bytes", answer.StatusCode, len(data))
	}
	c.ask("DELETE", "/v0/evi/chat_groups/"+unrecorded.GroupID, "", 200)
	if answer, _ := c.fetch("GET", url); answer.StatusCode != 404 {
		t.Errorf("the link to a deleted chat: %d", answer.StatusCode)
	}
}

// damage changes a part of a recording on the disk.
func (c client) damage(chatID string, side store.Side, change func(data []byte) []byte) {
	c.t.Helper()
	f, err := c.api.Records.OpenRecording(chatID, side)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(f.Name(), change(data), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// The recording is an ERROR from then on.
func TestTheRestOfADamagedRecordingIsServed(t *testing.T) {
	garbage := func([]byte) []byte { return []byte("no sound at all, and long enough to be a header of one") }
	for name, damage := range map[string]struct {
		side   store.Side
		change func([]byte) []byte
		lost   store.Side // the side that cannot be decoded
	}{
		"one side is garbage": {store.UserSide, garbage, store.UserSide},
		"the other side is":   {store.AssistantSide, garbage, store.AssistantSide},
		"a head is broken":    {store.UserSide, func(b []byte) []byte { b[30] ^= 0xff; return b }, ""},
		"a page is broken":    {store.AssistantSide, func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b }, ""},
	} {
		c := startRest(t, "home")[0]
		chat := c.begin(store.NewChat{StartedMS: at(0), Recorded: true})
		c.addSound(chat.ID, store.UserSide, 16000, 500, 0, 5)
		c.addSound(chat.ID, store.AssistantSide, 48000, 500, 5, 10)
		c.end(chat.ID, store.UserEnded, at(10))
		c.damage(chat.ID, damage.side, damage.change)
		got := c.ask("GET", "/v0/evi/chats/"+chat.ID+"/audio", "", 200)
		answer, body := c.fetch("GET", got["signed_audio_url"].(string))
		if answer.StatusCode != 200 {
			t.Errorf("%s: %d %s", name, answer.StatusCode, body)
			continue
		}
		pcm, err := audio.DecodeAll(body, 16000)
		if err != nil {
			t.Fatal(err)
		}
		for side, second := range map[store.Side]int{store.UserSide: 1, store.AssistantSide: 9} {
			if second*16000 >= len(pcm) {
				pcm = append(pcm, make([]float32, 10*16000-len(pcm))...)
			}
			loud := slices.Max(pcm[second*16000 : (second+1)*16000])
			if (loud > 0.2) == (side == damage.lost) {
				t.Errorf("%s: the %s is as loud as %.2f", name, side, loud)
			}
		}
		equal(t, name, c.ask("GET", "/v0/evi/chats/"+chat.ID+"/audio", "", 200), record{"status": "ERROR"})
	}
}

// The answer does not name the file.
func TestAnUnreadableRecordingIs500(t *testing.T) {
	c := startRest(t, "home")[0]
	chat := c.begin(store.NewChat{Recorded: true})
	f, err := c.api.Records.CreateRecording(chat.ID, store.UserSide)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Name(), []byte("no sound at all, and long enough to be a header of one"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_ = f.Close() // was not written to
	c.end(chat.ID, store.UserEnded, at(1))
	url := c.ask("GET", "/v0/evi/chats/"+chat.ID+"/audio", "", 200)["signed_audio_url"].(string)
	if answer, body := c.fetch("GET", url); answer.StatusCode != 500 || strings.Contains(string(body), "opus") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	equal(t, "afterwards", c.ask("GET", "/v0/evi/chats/"+chat.ID+"/audio", "", 200), record{"status": "ERROR"})
}
