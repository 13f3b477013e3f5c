package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/answers"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/store"
)

// finder finds answers by their words, without a judge.
type finder struct{ *answers.Finder }

func (finder) Judge(contract.ReturnConfig) answers.Judge { return nil }

func newFinder(t testing.TB, embedder func() (engine.SentenceEmbedder, error)) finder {
	t.Helper()
	f := answers.New(answers.Parts{Embedder: embedder, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(f.Close)
	return finder{f}
}

func byWords() (engine.SentenceEmbedder, error) { return enginetest.WordEmbedder{}, nil }

const configWithAnswers = `{"name":"desk","evi_version":"4-mini","answers":` + deskAnswers + `}`

func TestATryFindsTheAnswerOfAConfigOrOfWhatIsPosted(t *testing.T) {
	c := startRest(t, "home")[0]
	id := c.ask("POST", "/v0/evi/configs", configWithAnswers, 201)["id"]
	plain := c.ask("POST", "/v0/evi/configs", `{"name":"plain","evi_version":"4-mini"}`, 201)["id"]
	for _, from := range []string{fmt.Sprintf(`"config_id":"%s"`, id), `"config_version":0,` +
		fmt.Sprintf(`"config_id":"%s"`, id), `"answers":` + deskAnswers} {
		got := c.ask("POST", "/v0/box/answers/try", `{`+from+`,"text":"Open, when are you?","before":"When?"}`, 200)
		if score := got["score"].(float64); got["answer_id"] != "hours" || score < 0.9 || score > 1 {
			t.Errorf("%s: %v", from, got)
		}
		got = c.ask("POST", "/v0/box/answers/try", `{`+from+`,"text":"Who painted the entrance?"}`, 200)
		best := got["others"].([]any)[0].(record)
		if got["answer_id"] != nil || best["answer_id"] != "cafe" || best["score"] != got["score"] {
			t.Errorf("%s: %v", from, got)
		}
	}
	for body, want := range map[string]int{
		`{"config_id":"none","text":"When?"}`:                                     404,
		fmt.Sprintf(`{"config_id":"%s","config_version":9,"text":"When?"}`, id):   404,
		fmt.Sprintf(`{"config_id":"%s","text":"When?"}`, plain):                   400,
		`{"answers":{"items":[]},"text":"When?"}`:                                 200,
		`{"answers":{"items":[{"id":"A","ask":["x"],"say":"y"}]},"text":"When?"}`: 400,
		`{"text":"When?"}`:         400,
		`{"answers":{"items":[]}}`: 422,
		`[]`:                       422,
	} {
		if got, _, text := c.send("POST", "/v0/box/answers/try", "application/json", body); got != want {
			t.Errorf("%s: %d %s, want %d", body, got, text, want)
		}
	}
}

func TestABoxWithoutThePackNamesIt(t *testing.T) {
	c := startRest(t, "home")[0]
	why := answers.ErrNoPack
	c.api.Answers = newFinder(t, func() (engine.SentenceEmbedder, error) { return nil, why })
	const try = `{"answers":` + deskAnswers + `,"text":"When?"}`
	got, header, text := c.send("POST", "/v0/box/answers/try", "application/json", try)
	if got != 503 || !strings.Contains(text, "parley packs pull embed") || header.Get("Retry-After") != "" {
		t.Errorf("%d %s", got, text)
	}
	// Ways with the same words are found anyway.
	check := c.ask("POST", "/v0/box/answers/check", `{"answers":{"items":[{"id":"a","ask":["x","When, then?"],`+
		`"say":"y"},{"id":"b","ask":["when then"],"say":"y"}]}}`, 200)
	want := record{"complete": false, "conflicts": []any{record{"score": 1.0, "items": []any{
		record{"answer_id": "a", "ask": "When, then?"}, record{"answer_id": "b", "ask": "when then"}}}}}
	if !reflect.DeepEqual(check, want) {
		t.Errorf("%v, want %v", check, want)
	}
	why = answers.ErrLoading
	got, header, text = c.send("POST", "/v0/box/answers/try", "application/json", try)
	if got != 503 || header.Get("Retry-After") == "" {
		t.Errorf("while the models are loaded: %d %s", got, text)
	}
}

func TestACheckFindsAnswersThatAreAskedForAlike(t *testing.T) {
	c := startRest(t, "home")[0]
	for items, want := range map[string][]any{
		`[]`: {},
		`[{"id":"a","ask":["When are you open?"],"say":"x"},{"id":"b","ask":["Is there a café?"],"say":"y"}]`: {},
		`[{"id":"a","ask":["x","when are you open"],"say":"x"},{"id":"b","ask":["Open when are you?"],"say":"y"}]`: {
			record{"score": 1.0, "items": []any{record{"answer_id": "a", "ask": "when are you open"},
				record{"answer_id": "b", "ask": "Open when are you?"}}}},
	} {
		got := c.ask("POST", "/v0/box/answers/check", `{"answers":{"items":`+items+`}}`, 200)
		conflicts := got["conflicts"].([]any)
		if got["complete"] != true || len(conflicts) != len(want) {
			t.Fatalf("%s: %v", items, got)
		}
		if len(want) > 0 && !reflect.DeepEqual(conflicts[0].(record)["items"], want[0].(record)["items"]) {
			t.Errorf("%s: %v, want %v", items, conflicts, want)
		}
	}
	if got, _, text := c.send("POST", "/v0/box/answers/check", "application/json", `{}`); got != 422 {
		t.Errorf("%d %s", got, text)
	}
}

// slowEmbedder embeds nothing until its context ends.
type slowEmbedder struct{ enginetest.WordEmbedder }

func (slowEmbedder) Embed(ctx context.Context, _ []string, _ *engine.Urgency) ([][]float32, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestATryEndsWhenTheModelsTakeTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := answers.New(answers.Parts{
			Embedder: func() (engine.SentenceEmbedder, error) { return slowEmbedder{}, nil },
			Log:      slog.New(slog.DiscardHandler),
		})
		defer f.Close()
		a := &API{Parts: Parts{Answers: finder{f}}}
		begun := time.Now()
		set, complete, err := a.openAnswers(t.Context(), contract.Answers{Items: []contract.AnswerItem{
			{ID: "a", Ask: []string{"When?"}, Say: "Now."}}})
		if err != nil || complete || time.Since(begun) != answersPatience {
			t.Fatalf("after %s: %v, complete: %v", time.Since(begun), err, complete)
		}
		_, err = a.try(t.Context(), set, contract.PostedTry{Text: "At what time?"}, nil)
		if _, is := errors.AsType[contract.ErrTimedOut](err); !is ||
			time.Since(begun) != answersPatience+judgePatience {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

func TestTheReportHasWhatWasGivenAndWhatWasNot(t *testing.T) {
	c := startRest(t, "home")[0]
	id := c.ask("POST", "/v0/evi/configs", configWithAnswers, 201)["id"].(string)
	var chats []string
	for _, questions := range [][]store.Question{
		{{AtMS: 1000, AnswerID: "hours"}, {AtMS: 2000, Words: "Where is the lift?"}, {AtMS: 3000, AnswerID: "hours"}},
		{{AtMS: 4000, Words: "where is the lift"}, {AtMS: 5000, Words: "Who are you?"}, {AtMS: 6000, AnswerID: "gone"},
			{AtMS: 7000, Words: "Is the lift where?"}, {AtMS: 7500, Words: "Where is the lift?"}},
	} {
		n := store.NewChat{
			ID:        contract.NewID(),
			GroupID:   contract.NewID(),
			AccountID: c.account,
			Config:    store.ConfigRef{ID: id},
			RequestID: "r",
		}
		if err := errors.Join(c.api.Records.StartChat(t.Context(), n),
			c.api.Records.WriteChat(t.Context(), n.ID, store.ChatWrite{Questions: questions})); err != nil {
			t.Fatal(err)
		}
		chats = append(chats, n.ID)
	}
	path := "/v0/box/answers/report?config_id=" + id
	got := c.ask("GET", path, "", 200)
	want := record{
		"config_id": id,
		"given": []any{record{"answer_id": "hours", "count": 2.0, "last_on": 3000.0},
			record{"answer_id": "cafe", "count": 0.0}, record{"answer_id": "gone", "count": 1.0, "last_on": 6000.0}},
		"unanswered_count": 5.0,
		"unanswered": []any{
			record{"text": "Where is the lift?", "texts": []any{"Is the lift where?", "where is the lift"},
				"count": 4.0, "first_on": 2000.0, "last_on": 7500.0, "chat_id": chats[1]},
			record{"text": "Who are you?", "texts": []any{}, "count": 1.0, "first_on": 5000.0, "last_on": 5000.0,
				"chat_id": chats[1]},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	got = c.ask("GET", path+"&from=1970-01-01T00:00:03Z&to=5000", "", 200)
	if given := got["given"].([]any)[0].(record); given["count"] != 1.0 || got["unanswered_count"] != 1.0 ||
		len(got["unanswered"].([]any)) != 1 {
		t.Errorf("from 3000 to 5000: %v", got)
	}
	for query, want := range map[string]int{"": 400, "?config_id=none": 404, "?config_id=" + id + "&from=monday": 400,
		"?config_id=" + id + "&to=later": 400} {
		if status, _, text := c.send("GET", "/v0/box/answers/report"+query, "", ""); status != want {
			t.Errorf("%s: %d %s, want %d", query, status, text, want)
		}
	}
}

// The 500 wordings that a report compares are put together in a moment.
func TestAReportOfManyWordingsIsQuick(t *testing.T) {
	c := startRest(t, "home")[0]
	id := c.ask("POST", "/v0/evi/configs", configWithAnswers, 201)["id"].(string)
	n := store.NewChat{
		ID:        contract.NewID(),
		GroupID:   contract.NewID(),
		AccountID: c.account,
		Config:    store.ConfigRef{ID: id},
		RequestID: "r",
	}
	var many []store.Question
	for i := range 2 * reportedWordings {
		many = append(many, store.Question{AtMS: int64(i), Words: fmt.Sprintf("Question %d about room %d?", i, i%7)})
	}
	if err := errors.Join(c.api.Records.StartChat(t.Context(), n),
		c.api.Records.WriteChat(t.Context(), n.ID, store.ChatWrite{Questions: many})); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	got := c.ask("GET", "/v0/box/answers/report?config_id="+id, "", 200)
	took := time.Since(begun)
	groups, count := got["unanswered"].([]any), 0.0
	for _, g := range groups {
		count += g.(record)["count"].(float64)
		if n := len(g.(record)["texts"].([]any)); n > reportedTexts {
			t.Errorf("%d wordings of a group are shown", n)
		}
	}
	if count != reportedWordings || got["unanswered_count"] != 2.0*reportedWordings ||
		!slices.IsSortedFunc(groups, func(x, y any) int {
			return int(y.(record)["last_on"].(float64) - x.(record)["last_on"].(float64))
		}) {
		t.Errorf("%v questions in %d groups, of %v", count, len(groups), got["unanswered_count"])
	}
	if t.Logf("%d groups in %s", len(groups), took); took > 5*time.Second {
		t.Errorf("the report took %s", took)
	}
}
