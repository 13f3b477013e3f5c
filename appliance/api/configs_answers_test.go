package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

const deskAnswers = `{"mode":"only","unknown":"Please ask at the desk.","items":[{"id":"hours","ask":["When are you ` +
	`open?","opening times"],"say":"We are open from {{opens}} to six."},{"id":"cafe","ask":["Is there a café?"],` +
	`"say":"The café is beside the entrance."}]}`

// answersOf returns the answers in the record of a config as JSON, or "" if it has none.
func answersOf(t *testing.T, config any) string {
	t.Helper()
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var record contract.ReturnConfig
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	if record.Answers == nil {
		if strings.Contains(string(text), `"answers`) {
			t.Errorf("a config without answers tells of them: %s", text)
		}
		return ""
	}
	text, err = json.Marshal(record.Answers)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryVersionOfAConfigHasTheAnswersThatWerePosted(t *testing.T) {
	c := startRest(t, "home")[0]
	const rest = `"evi_version":"4-mini","prompt":{"text":"Be kind."}`
	made := c.ask("POST", "/v0/evi/configs", `{"name":"desk",`+rest+`,"answers":`+deskAnswers+`}`, 201)
	path := fmt.Sprint("/v0/evi/configs/", made["id"])
	plain := c.ask("POST", path, `{`+rest+`}`, 201)
	empty := c.ask("POST", path, `{`+rest+`,"answers":{"items":[]}}`, 201)
	if answersOf(t, made) != deskAnswers || answersOf(t, plain) != "" || answersOf(t, empty) != `{"items":[]}` {
		t.Errorf("posted: %v\n%v\n%v", made, plain, empty)
	}
	c.ask("PATCH", path+"/version/0", `{"version_description":"the first"}`, 200)
	versions := c.ask("GET", path+"?restrict_to_most_recent=false", "", 200)["configs_page"].([]any)
	for i, want := range []string{deskAnswers, "", `{"items":[]}`} {
		if got := c.ask("GET", fmt.Sprint(path, "/version/", i), "", 200); answersOf(t, got) != want {
			t.Errorf("version %d: %v", i, got)
		}
		if answersOf(t, versions[i]) != want {
			t.Errorf("version %d in the list: %v", i, versions[i])
		}
	}
	status, _, text := c.send("POST", path, "application/json", `{`+rest+`,"answers":{"items":[{"id":"A"}]}}`)
	if status != 400 || !strings.Contains(text, "answers.items[0].") {
		t.Errorf("%d %s", status, text)
	}
}

// largest returns a config with the most answers, ways to ask and characters, each of
// which is char.
func largest(char string) string {
	way := `"` + strings.Repeat(char, contract.MaxAskChars) + `"`
	ways := strings.Repeat(way+",", contract.MaxWaysToAsk-1) + way
	say := strings.Repeat(char, contract.MaxSayChars)
	var b strings.Builder
	b.WriteString(`{"name":"largest","evi_version":"4-mini","answers":{"items":[`)
	for i := range contract.MaxAnswerItems {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"%064d","ask":[%s],"say":"%s"}`, i, ways, say)
	}
	b.WriteString(`]}}`)
	return b.String()
}

// answer sends a request without checking the answer against the description, which takes
// long for megabytes.
func (c client) answer(method, path string, body io.Reader) *http.Response {
	c.t.Helper()
	w := httptest.NewRecorder()
	r, err := http.NewRequestWithContext(c.t.Context(), method, path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", c.key)
	c.api.ServeHTTP(w, r)
	return w.Result()
}

func TestTheMostAnswersAreAccepted(t *testing.T) {
	c := startRest(t, "home")[0]
	if n := len(largest("😀")); n > answersBody {
		t.Errorf("in a script of four bytes a character they have %d bytes, and %d are allowed", n, answersBody)
	}
	posted := largest("a")
	// a body without a length
	got := c.answer("POST", "/v0/evi/configs", io.MultiReader(strings.NewReader(posted)))
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != 201 {
		t.Fatalf("%d %.300s %v", got.StatusCode, text, err)
	}
	if n := bytes.Count(text, []byte("a")); n < strings.Count(posted, "a")-10 {
		t.Errorf("%d characters came back", n)
	}
	larger := c.answer("POST", "/v0/evi/configs", strings.NewReader(strings.Repeat(" ", answersBody+1)))
	if larger.StatusCode != 413 {
		t.Errorf("a larger body: %d", larger.StatusCode)
	}
}

func TestAPageOfConfigsWithManyAnswersIsBounded(t *testing.T) {
	c := startRest(t, "home")[0]
	const each = 2 << 20
	answers := `{"items":[{"id":"a","ask":["b"],"say":"` + strings.Repeat("c", each) + `"}]}`
	for i := range contract.MaxPageSize {
		_, err := c.api.Records.AddVersions(t.Context(), c.account, store.NewVersion{
			Kind:    store.KindConfig,
			ID:      contract.NewID(),
			Name:    fmt.Sprint("config ", i),
			Content: `{"evi_version":"4-mini"}`,
			Answers: answers,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	text, err := io.ReadAll(c.answer("GET", "/v0/evi/configs?page_size=100", nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a page takes %s", time.Since(begun))
	var page contract.ReturnPagedConfigs
	if err := json.Unmarshal(text, &page); err != nil {
		t.Fatal(err)
	}
	with, omitted := 0, 0
	for _, config := range page.ConfigsPage {
		switch {
		case config.Answers != nil && !config.AnswersOmitted:
			with++
		case config.AnswersOmitted:
			omitted++
		}
	}
	if want := maxPageAnswers / len(answers); with != want || omitted != contract.MaxPageSize-want {
		t.Errorf("%d configs have their answers, want %d; %d are marked", with, want, omitted)
	}
	last := page.ConfigsPage[contract.MaxPageSize-1]
	whole := c.ask("GET", fmt.Sprintf("/v0/evi/configs/%s/version/0", last.ID), "", 200)
	if answersOf(t, whole) != answers || whole["answers_omitted"] != nil {
		t.Error("a config by itself has not all its answers")
	}
}

func TestOneLargeBodyOfAnAccountIsHandledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{largeBodies: newLargeBodies()}
		running := map[string]*atomic.Int32{"one": {}, "two": {}, "three": {}}
		handle := a.oneLarge(func(_ http.ResponseWriter, _ *http.Request, by caller) error {
			if n := running[by.AccountID].Add(1); n > 1 || a.largeBodies.Active() > maxLargeBodies {
				t.Errorf("%d of account %s are handled, %d of all", n, by.AccountID, a.largeBodies.Active())
			}
			time.Sleep(time.Second)
			running[by.AccountID].Add(-1)
			return nil
		})
		var failed atomic.Int32
		for _, account := range []string{"one", "one", "one", "one", "one", "two", "three"} {
			go func() {
				r := &http.Request{ContentLength: jsonBody + 1, Body: http.NoBody}
				by := caller{Grant: store.Grant{AccountID: account}}
				if handle(nil, r.WithContext(t.Context()), by) != nil {
					failed.Add(1)
				}
			}()
		}
		synctest.Wait()
		if n := failed.Load(); n != 1 {
			t.Errorf("%d of five bodies of an account are refused, want those beyond %d", n, maxLargeBodiesInLine)
		}
		small := &http.Request{ContentLength: -1, Body: io.NopCloser(strings.NewReader("{}"))}
		was := a.largeBodies.Active()
		err := a.oneLarge(func(_ http.ResponseWriter, r *http.Request, _ caller) error {
			if text, err := io.ReadAll(r.Body); string(text) != "{}" || err != nil || a.largeBodies.Active() != was {
				t.Errorf("a small body: %s, %v", text, err)
			}
			return nil
		})(nil, small.WithContext(t.Context()), caller{Grant: store.Grant{AccountID: "one"}})
		if err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if a.largeBodies.Active() != 0 || failed.Load() != 1 {
			t.Errorf("%d are left, %d failed", a.largeBodies.Active(), failed.Load())
		}
	})
}
