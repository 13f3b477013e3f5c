package api

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/store"
)

// notAdministrative are the changing routes without an act.
func notAdministrative() []string {
	return []string{
		// conversing
		"POST /v0/evi/chat/{id}/send", "POST /v0/evi/chat/webrtc", "PATCH /v0/evi/chat/webrtc/calls/{id}",
		"DELETE /v0/evi/chat/webrtc/calls/{id}", "POST /v0/evi/twilio", "POST /oauth2-cc/token",
		// speaking
		"POST /v0/tts", "POST /v0/tts/file", "POST /v0/tts/stream/json", "POST /v0/tts/stream/file",
		"POST /v0/tts/voice_conversion/json", "POST /v0/tts/voice_conversion/file",
		// speaking, transcribing and answering for programs
		"POST /v1/audio/speech", "POST /v1/audio/transcriptions", "POST /v1/chat/completions",
		// measuring
		"POST /v0/batch/jobs",
		// read answers and change nothing
		"POST /v0/box/answers/try", "POST /v0/box/answers/check",
		// reads a sheet and changes nothing
		"POST /v0/box/answers/sheet",
		// reads a plugin and changes nothing
		"POST /v0/box/plugin-offers",
		// changes nothing
		"POST /v0/box/setup/check",
	}
}

func TestEveryChangingRouteIsAnActOrIsNotAdministrative(t *testing.T) {
	others, known := notAdministrative(), acts()
	for _, rt := range New(Parts{}).routes() {
		name := rt.method + " " + rt.path
		_, is := known[name]
		delete(known, name)
		if other := slices.Contains(others, name); rt.method != http.MethodGet && is == other {
			t.Errorf("%s: add it to acts, or to the routes that are not administrative", name)
		}
		if rt.access == byOperator && rt.act.what == "" && name != "POST /v0/box/plugin-offers" {
			t.Errorf("%s: refusals for operators' routes are not recorded", name)
		}
	}
	for name := range known {
		t.Errorf("%s is an act, but no route", name)
	}
}

// actsOf returns the acts in the log, oldest first, as who what object outcome.
func actsOf(c client, query string) []string {
	var all []string
	answer := c.ask("GET", "/v0/box/acts?page_size=100&"+query, "", 200)
	for _, one := range page(c.t.(*testing.T), answer, "acts_page") {
		who, object := one["who"].(record), one["object"].(record)
		text := fmt.Sprintf("%v %v [%v] %v", who["kind"], one["what"], object["name"], one["outcome"])
		if times := one["times"].(float64); times != 1 {
			text += fmt.Sprintf(" %v times", times)
		}
		all = append(all, text)
	}
	slices.Reverse(all)
	return all
}

func TestActsHaveWhoWhatAndOnWhat(t *testing.T) {
	c := startRest(t, "home", "museum")
	operator, client := c[0], c[1] // the first key of a box is an operator's
	made := client.ask("POST", "/v0/evi/configs", `{"name":"Guide","evi_version":"4-mini"}`, http.StatusCreated)
	config := "/v0/evi/configs/" + made["id"].(string)
	client.ask("POST", config, `{"evi_version":"4-mini"}`, http.StatusCreated)
	client.send("PATCH", config, "application/json", `{"name":"Guide 2"}`)
	client.ask("DELETE", config, "", 200)
	client.ask("DELETE", config, "", 404)            // changes nothing
	client.ask("POST", "/v0/evi/configs", `{}`, 422) // changes nothing
	key := operator.ask("POST", "/v0/box/keys", `{"account":"museum","label":"Lobby"}`, http.StatusCreated)
	operator.ask("DELETE", "/v0/box/keys/"+key["key_id"].(string), "", 200)
	client.ask("GET", "/v0/box/keys", "", 403)
	operator.ask("GET", "/v0/box/signing-keys/home", "", 200)
	want := []string{
		"key config.create [Guide] done",
		"key config.version [Guide] done",
		"key config.rename [Guide] done",
		"key config.delete [Guide 2] done",
		"key key.create [Lobby] done",
		"key key.revoke [Lobby] done",
		"key box.read [/v0/box/keys] refused",
		"key signing_key.read [home] done",
	}
	if got := actsOf(operator, ""); !slices.Equal(got, want) {
		t.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	rows := page(t, operator.ask("GET", "/v0/box/acts?what=config.version", "", 200), "acts_page")
	who := rows[0]["who"].(record)
	if rows[0]["text"] != "saved version 1 of a config" || rows[0]["from"] != "127.0.0.1" || who["role"] != "client" ||
		who["id"] == "" || rows[0]["object"].(record)["id"] != made["id"] {
		t.Errorf("the act is %v", rows[0])
	}
	if _, err := operator.api.Records.CheckActs(t.Context()); err != nil {
		t.Error(err)
	}
	client.ask("GET", "/v0/box/acts", "", 403)
}

func TestRefusedSignInsAreRecordedAndAFloodIsCounted(t *testing.T) {
	c := startRest(t, "home")[0]
	for range 200 {
		status, _, _ := c.send("POST", "/v0/box/sessions", "application/json", `{"link":"wrong"}`)
		if status != 401 && status != 429 {
			t.Fatalf("answered %d", status)
		}
	}
	single := actsOf(c, "")
	if len(single) != refusedBurst {
		t.Errorf("%d refusals have rows, want %d", len(single), refusedBurst)
	}
	c.api.acts.flush()
	all := actsOf(c, "")
	if want := fmt.Sprintf("unknown session.sign_in [<nil>] refused %d times", 200-refusedBurst); len(all) !=
		refusedBurst+1 || all[refusedBurst] != want {
		t.Errorf("the log ends with %q, want %q", all[len(all)-1], want)
	}

	link, err := c.api.Records.StartSignIn(t.Context(), "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c.api.wrongKeys = newWrongKeys()
	c.ask("POST", "/v0/box/sessions", `{"link":"`+link+`"}`, http.StatusCreated)
	if got := actsOf(c, "what=session&outcome=done"); len(got) != 1 ||
		!strings.HasPrefix(got[0], "session session.sign_in") {
		t.Errorf("signing in is recorded as %q", got)
	}
}

// A program that makes a config for each chat does not push out the rest of the log.
func TestManyActsOfOneCallerAreCounted(t *testing.T) {
	c := startRest(t, "home")[0]
	c.ask("PUT", "/v0/box/lexicon/word", `{"said":"x"}`, http.StatusCreated)
	for range actBurst + 30 - 1 {
		c.ask("PUT", "/v0/box/lexicon/word", `{"said":"x"}`, 200)
	}
	c.api.acts.flush()
	if got := actsOf(c, "what=lexicon"); len(got) != 100 || got[99] != "key lexicon.set [<nil>] done 30 times" {
		t.Errorf("%d acts, the last is %q", len(got), got[len(got)-1])
	}
}

func TestFloodOfManyKindsTakesFewRows(t *testing.T) {
	var rows []store.Act
	now := time.Now()
	l := newActLimiter(func(a store.Act) { rows = append(rows, a) }, func() time.Time { return now })
	single := 0
	for day := range 730 {
		for i := range 1000 {
			one := store.Act{What: fmt.Sprint("x", i), Outcome: store.ActRefused, From: fmt.Sprint(i, day),
				Who: store.Actor{Kind: store.ByKey, ID: fmt.Sprint(i)}}
			if l.allow(one) {
				single++
			} else {
				l.count(one)
			}
			if i%125 == 0 {
				now = now.Add(countFor)
				l.flush()
			}
		}
	}
	l.flush()
	if total := single + len(rows); total > store.MaxActs/2 {
		t.Errorf("a flood of two years takes %d + %d rows", single, len(rows))
	}
	times := 0
	for _, one := range rows {
		times += one.Times
	}
	if times+single != 730*1000 {
		t.Errorf("%d of %d are counted", times+single, 730*1000)
	}
}

func TestAuditLogAsATable(t *testing.T) {
	c := startRest(t, "home")[0]
	c.ask("POST", "/v0/box/keys", `{"account":"home","label":"=1+1"}`, http.StatusCreated)
	status, header, text := c.send("GET", "/v0/box/acts?format=csv", "", "")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if status != 200 || err != nil || len(rows) != 2 || !strings.HasPrefix(header.Get("Content-Type"), "text/csv") {
		t.Fatalf("%d %v %q", status, err, text)
	}
	if name := rows[1][slices.Index(rows[0], "object_name")]; name != "'=1+1" {
		t.Errorf("the name %q is a formula", name)
	}
	for _, wrong := range []string{"since=yesterday", "outcome=perhaps", "format=xml", "page_size=0"} {
		c.ask("GET", "/v0/box/acts?"+wrong, "", 400)
	}
	for query, want := range map[string]int{"since=2020-01-01": 1, "until=2020-01-01T00:00:00Z": 0, "until=1000": 0,
		"search=created": 1, "who=key": 1, "who=nobody": 0} {
		if got := actsOf(c, query); len(got) != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}
