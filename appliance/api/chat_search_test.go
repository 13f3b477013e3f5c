package api

import (
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/store"
)

func TestChatsAreFound(t *testing.T) {
	clients := startRest(t, "home", "work")
	c := clients[0]
	said := func(text string) store.Event {
		return store.Event{
			ID:          contract.NewID(),
			AtMS:        at(1),
			Type:        store.UserMessage,
			Role:        store.User,
			MessageText: text,
		}
	}
	old := c.begin(store.NewChat{StartedMS: at(0), CustomSessionID: "ann"}, said("Is the museum open?"))
	c.end(old.ID, store.UserEnded, at(9))
	live := c.begin(store.NewChat{StartedMS: at(100)}, said("What is the MUSEUM?"))
	clients[1].begin(store.NewChat{StartedMS: at(100)}, said("a museum of others"))

	found := func(query string) string { return idsOn(c.ask("GET", "/v0/box/chats?"+query, "", 200), "chats", "id") }
	for query, want := range map[string]string{
		"":                                live.ID + " " + old.ID,
		"search=museum":                   live.ID + " " + old.ID,
		"search=museum+open":              old.ID,
		"search=elephant":                 "",
		"status=ACTIVE":                   live.ID,
		"custom_session_id=ann":           old.ID,
		"from=1700000050000":              live.ID,
		"until=1700000050000&search=":     old.ID,
		"search=museum&before=" + live.ID: old.ID,
		"search=museum&limit=1":           live.ID,
	} {
		if got := found(query); got != want {
			t.Errorf("%s: found %s, want %s", query, got, want)
		}
	}
	first := c.ask("GET", "/v0/box/chats?search=museum&limit=1", "", 200)
	equal(t, "the first answer", first, record{"next": live.ID})
	equal(t, "the last answer", c.ask("GET", "/v0/box/chats?search=museum&limit=1&before="+live.ID, "", 200),
		record{"next": nil})
	one := c.ask("GET", "/v0/box/chats?custom_session_id=ann", "", 200)["chats"].([]any)[0].(record)
	equal(t, "a chat", one, record{"custom_session_id": "ann", "status": "USER_ENDED", "start_timestamp": at(0),
		"event_count": 1})
	equal(t, "its excerpt", one["excerpt"].(record),
		record{"role": "USER", "text": "Is the museum open?", "timestamp": at(1)})

	for query, want := range map[string]string{
		"status=BUSY":                        "status: ",
		"limit=0":                            "limit: ",
		"from=yesterday":                     `from: "yesterday" is not allowed; expected a time in Unix milliseconds`,
		"until=-1":                           "until: ",
		"before=" + contract.NewID():         "before: ",
		"search=" + strings.Repeat("x", 201): "search: 201 characters; at most 200 are allowed",
		"search=" + strings.Repeat("x+", 17): "search: 17 words; at most 16 are allowed",
	} {
		if got, _ := c.ask("GET", "/v0/box/chats?"+query, "", 400)["message"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
