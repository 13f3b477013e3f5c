package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/appliance/contract"
	"parley/store"
)

// library has the voices and models of the box under test.
type library struct{}

func (library) FindVoice(_ context.Context, _ string, ref contract.VoiceRef) (contract.ReturnVoice, error) {
	if ref.ID == "voice-joe" || ref.Name == "joe" {
		return contract.ReturnVoice{ID: "voice-joe", Name: "joe", Provider: contract.VoiceLibrary}, nil
	}
	return contract.ReturnVoice{}, contract.ErrNotFound{What: "voice", ID: ref.ID + ref.Name}
}

func (library) SaveVoice(_ context.Context, _ string, p contract.PostedVoice) (contract.ReturnVoice, error) {
	return contract.ReturnVoice{ID: p.GenerationID, Name: p.Name, Provider: contract.VoiceCustom}, nil
}

func (library) DeleteVoice(_ context.Context, _, name string) error {
	return contract.ErrNotFound{What: "voice", ID: name}
}

func (library) ListAliases(context.Context) ([]contract.ReturnVoiceAlias, error) { return nil, nil }

func (library) SetAlias(_ context.Context, name, voice string) (contract.ReturnVoiceAlias, error) {
	if name == "taken" {
		return contract.ReturnVoiceAlias{}, contract.ErrConflict{Why: "the settings say what stands in for it"}
	}
	return contract.ReturnVoiceAlias{Name: name, Voice: voice, From: contract.AliasOfBox}, nil
}

func (library) DeleteAlias(_ context.Context, name string) error {
	return contract.ErrNotFound{What: "alias", ID: name}
}

func (library) ListVoices(_ context.Context, account string, from contract.VoiceProvider) ([]contract.ReturnVoice,
	error) {
	if from == contract.VoiceCustom {
		return []contract.ReturnVoice{{ID: "own-" + account, Name: "Mine", Provider: from}}, nil
	}
	var all []contract.ReturnVoice
	for _, name := range []string{"Joe", "Jenny", "Alan"} {
		v := contract.ReturnVoice{
			ID:       "voice-" + strings.ToLower(name),
			Name:     name,
			Provider: from,
			Tags:     map[contract.VoiceTag][]string{contract.TagGender: {"Male"}, contract.TagLocale: {"en-GB"}},
		}
		if name == "Jenny" {
			v.Tags[contract.TagGender] = []string{"Female"}
		}
		if name == "Joe" {
			v.Tags[contract.TagLocale] = []string{"en-US"}
		}
		all = append(all, v)
	}
	return all, nil
}

func (library) LanguageModels() contract.ReturnLanguageModels {
	return contract.ReturnLanguageModels{LanguageModels: []contract.LanguageModelEntry{{
		Provider:     contract.ProviderBox,
		Resource:     "llm",
		ServedBy:     "llm",
		Embedded:     true,
		Default:      true,
		BuiltinTools: []contract.BuiltInTool{},
	}}}
}

// client is a REST client of one account of a box with a real store.
type client struct {
	t    testing.TB
	http *httptest.Server
	key  string

	api     *API
	account string // its id
}

// startRest returns a client of each account of one box.
func startRest(t testing.TB, accounts ...string) []client {
	t.Helper()
	return startRestWith(t, nil, accounts...)
}

func startRestWith(t testing.TB, plugins Plugins, accounts ...string) []client {
	t.Helper()
	records, err := store.Open(context.Background(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a := New(Parts{
		BoxPlugins:  fakePlugins{},
		BoxWebhooks: receivers{},
		Speech:      newHumService(humVoice{}, records),
		Keys:        records,
		Records:     records,
		Voices:      library{},
		Aliases:     library{},
		Models:      library{},
		Ready:       &fakes{},
		Batch:       &fakeBatch{},
		Phone:       &fakePhone{},
		Plugins:     plugins,
		Answers:     newFinder(t, byWords),
		Log:         slog.New(slog.DiscardHandler),
	})
	server := httptest.NewServer(asDescribed(t, a))
	t.Cleanup(func() {
		server.Close()
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	var clients []client
	for _, account := range accounts {
		made, err := records.CreateKey(t.Context(), store.NewKey{Account: account})
		if err != nil {
			t.Fatal(err)
		}
		owner, err := records.Account(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client{t, server, made.APIKey, a, owner.ID})
	}
	return clients
}

// send sends a request and returns the status, the header and the body of the
// answer.
func (c client) send(method, path, contentType, body string) (int, http.Header, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.http.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", c.key)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// record is a JSON answer.
type record = map[string]any

// ask sends a request and fails the test if the answer has another status or is not JSON.
func (c client) ask(method, path, body string, status int) record {
	c.t.Helper()
	got, header, text := c.send(method, path, "application/json", body)
	var v record
	if err := json.Unmarshal([]byte(text), &v); got != status || err != nil ||
		header.Get("Content-Type") != "application/json" {
		c.t.Fatalf("%s %s %.200s: %d %s, want %d", method, path, body, got, text, status)
	}
	return v
}

// resourceKinds are the three kinds of resources.
var resourceKinds = []struct {
	path, page         string
	first, next        string
	required, optional string // fields of a record: always there; there when set
}{
	{"/v0/evi/configs", "configs_page",
		`{"name":"%s","evi_version":"3","voice":{"name":"joe"},"version_description":"one"}`,
		`{"evi_version":"4-mini","version_description":"two"}`,
		"id version name evi_version created_on modified_on tools builtin_tools webhooks ellm_model event_messages " +
			"timeouts turn_detection interruption nudges voice", "version_description"},
	{"/v0/evi/prompts", "prompts_page",
		`{"name":"%s","text":"Be kind.","version_description":"one"}`,
		`{"text":"Be brief.","version_description":"two"}`,
		"id version name text created_on modified_on version_type", "version_description"},
	{"/v0/evi/tools", "tools_page",
		`{"name":"%s","parameters":"{\"type\":\"object\"}","version_description":"one"}`,
		`{"parameters":"{}","version_description":"two"}`,
		"id version name parameters created_on modified_on version_type tool_type", "version_description"},
}

func TestEveryRouteOfConfigsPromptsAndTools(t *testing.T) {
	c := startRest(t, "home")[0]
	for _, k := range resourceKinds {
		made := c.ask("POST", k.path, fmt.Sprintf(k.first, "a"), 201)
		for _, name := range strings.Fields(k.required + " " + k.optional) {
			if made[name] == nil {
				c.t.Errorf("%s: a record without %s: %v", k.path, name, made)
			}
		}
		id := made["id"].(string)
		one := k.path + "/" + id
		if !contract.ValidID(id) || made["version"] != 0.0 || made["name"] != "a" ||
			made["version_description"] != "one" {
			t.Errorf("%s: %v", k.path, made)
		}
		if at := made["created_on"].(float64); at < 1e12 || at >= 1e13 || made["modified_on"].(float64) < at {
			t.Errorf("%s: created %v, modified %v, want 13 digits of milliseconds", k.path, made["created_on"],
				made["modified_on"])
		}

		if next := c.ask("POST", one, k.next, 201); next["version"] != 1.0 || next["name"] != "a" ||
			next["version_description"] != "two" || next["created_on"] != made["created_on"] {
			t.Errorf("%s: %v", k.path, next)
		}
		if got := c.ask("GET", one+"/version/0", "", 200); fmt.Sprint(got) != fmt.Sprint(made) {
			t.Errorf("%s: got %v, made %v", k.path, got, made)
		}

		// Lists and their envelope.
		list := c.ask("GET", k.path, "", 200)
		if page := list[k.page].([]any); len(page) != 1 || page[0].(record)["version"] != 1.0 ||
			list["page_number"] != 0.0 || list["page_size"] != 10.0 || list["total_pages"] != 1.0 {
			t.Errorf("%s: %v", k.path, list)
		}
		if got := versionsIn(c.ask("GET", k.path+"?restrict_to_most_recent=false", "", 200), k.page); got != "0 1" {
			t.Errorf("%s: all versions are %s", k.path, got)
		}
		if got := versionsIn(c.ask("GET", one, "", 200), k.page); got != "1" {
			t.Errorf("%s: versions are %s", one, got)
		}
		if got := versionsIn(c.ask("GET", one+"?restrict_to_most_recent=false&page_size=1&page_number=1", "", 200),
			k.page); got != "1" {
			t.Errorf("%s: the second page has %s", one, got)
		}

		// Name and description.
		status, header, text := c.send("PATCH", one, "application/json", `{"name":"b <é>"}`)
		if status != 200 || header.Get("Content-Type") != "text/plain; charset=utf-8" ||
			!strings.Contains(text, "b <é>") {
			t.Errorf("%s: rename answers %d %s %q", one, status, header.Get("Content-Type"), text)
		}
		if got := c.ask("PATCH", one+"/version/0", `{"version_description":"better"}`,
			200); got["version_description"] != "better" || got["name"] != "b <é>" || got["version"] != 0.0 {
			t.Errorf("%s: %v", one, got)
		}
		for _, nothing := range []string{`{}`, ``} {
			c.ask("PATCH", one+"/version/0", `{"version_description":"better"}`, 200)
			if got := c.ask("PATCH", one+"/version/0", nothing, 200); got["version_description"] != nil {
				t.Errorf("%s, described by %q: %v", one, nothing, got)
			}
		}
		if got := versionsIn(c.ask("GET", k.path+"?name=b+%3C%C3%A9%3E", "", 200), k.page); got != "1" {
			t.Errorf("%s: by name: %s", k.path, got)
		}
		for _, name := range []string{"b", "B+%3C%C3%A9%3E", "a", "%25"} {
			if got := versionsIn(c.ask("GET", k.path+"?name="+name, "", 200), k.page); got != "" {
				t.Errorf("%s: the name %s finds %s", k.path, name, got)
			}
		}

		// Numbers never come back.
		c.ask("DELETE", one+"/version/1", "", 200)
		c.ask("GET", one+"/version/1", "", 404)
		c.ask("DELETE", one+"/version/1", "", 404)
		if got := versionsIn(c.ask("GET", k.path, "", 200), k.page); got != "0" {
			t.Errorf("%s: the newest is %s", k.path, got)
		}
		if next := c.ask("POST", one, k.next, 201); next["version"] != 2.0 {
			t.Errorf("%s: %v came back", k.path, next["version"])
		}
		c.ask("DELETE", one+"/version/0", "", 200)
		c.ask("DELETE", one+"/version/2", "", 200)
		if got := versionsIn(c.ask("GET", k.path, "", 200), k.page) +
			versionsIn(c.ask("GET", one, "", 200), k.page); got != "" {
			t.Errorf("%s: without versions it lists %s", k.path, got)
		}
		if next := c.ask("POST", one, k.next, 201); next["version"] != 3.0 {
			t.Errorf("%s: %v came back", k.path, next["version"])
		}

		c.ask("DELETE", one, "", 200)
		for _, gone := range [][3]string{
			{"GET", "", ""}, {"POST", "", k.next}, {"PATCH", "", `{"name":"x"}`}, {"DELETE", "", ""},
			{"GET", "/version/3", ""}, {"PATCH", "/version/3", `{}`}, {"DELETE", "/version/3", ""},
		} {
			if b := c.ask(gone[0], one+gone[1], gone[2], 404); b["code"] != "not_found" ||
				!strings.Contains(b["message"].(string), id) {
				t.Errorf("%s %s: %v", gone[0], gone[1], b)
			}
		}
	}
}

// versionsIn returns the versions on a page.
func versionsIn(list record, page string) string {
	var numbers []string
	for _, v := range list[page].([]any) {
		numbers = append(numbers, fmt.Sprint(v.(record)["version"]))
	}
	return strings.Join(numbers, " ")
}

func TestErrorsNameWhatIsRejected(t *testing.T) {
	c := startRest(t, "home")[0]
	prompt := c.ask("POST", "/v0/evi/prompts", `{"name":"p","text":"t"}`, 201)["id"].(string)
	tool := c.ask("POST", "/v0/evi/tools", `{"name":"f","parameters":"{}"}`, 201)["id"].(string)
	twin := c.ask("POST", "/v0/evi/tools", `{"name":"f","parameters":"{}"}`, 201)["id"].(string)
	nowhere := contract.NewID()
	config := func(more string) string { return `{"name":"c","evi_version":"4-mini",` + more + `}` }
	for _, x := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/v0/evi/configs?page_size=0", "", 400, "page_size"},
		{"GET", "/v0/evi/configs?page_size=101", "", 400, "page_size"},
		{"GET", "/v0/evi/configs?page_size=ten", "", 400, "page_size"},
		{"GET", "/v0/evi/tools?page_number=-1", "", 400, "page_number"},
		{"GET", "/v0/evi/tools?page_number=1.5", "", 400, "page_number"},
		{"GET", "/v0/evi/prompts?restrict_to_most_recent=maybe", "", 400, "restrict_to_most_recent"},
		{"GET", "/v0/evi/prompts/" + prompt + "?page_size=0", "", 400, "page_size"},
		{"GET", "/v0/evi/prompts/" + nowhere, "", 404, nowhere},
		{"GET", "/v0/evi/prompts/not-a-uuid", "", 404, "not-a-uuid"},
		{"GET", "/v0/evi/prompts/" + tool, "", 404, tool},
		{"GET", "/v0/evi/prompts/" + prompt + "/version/1", "", 404, "version 1"},
		{"GET", "/v0/evi/prompts/" + prompt + "/version/-1", "", 404, "version -1"},
		{"GET", "/v0/evi/prompts/" + prompt + "/version/4294967296", "", 404, "version 4294967296"},
		{"GET", "/v0/evi/prompts/" + prompt + "/version/99999999999999999999", "", 404, "version 99999999999999999999"},
		{"GET", "/v0/evi/prompts/" + prompt + "/version/latest", "", 400, "version"},
		{"PATCH", "/v0/evi/prompts/" + prompt + "/version/x", "{}", 400, "version"},
		{"DELETE", "/v0/evi/prompts/" + prompt + "/version/1e3", "", 400, "version"},
		{"POST", "/v0/evi/configs", `{"name":"` + strings.Repeat("x", 75) + `","evi_version":"4-mini"}`, 400, "name"},
		{"POST", "/v0/evi/configs", `{"name":"c","evi_version":"5"}`, 400, "allowed: 3, 4-mini, 2, 1"},
		{"POST", "/v0/evi/configs", `{"name":"c","evi_version":"3"}`, 400, "voice"},
		{"POST", "/v0/evi/configs", config(`"voice":{"name":"nobody"}`), 404, "nobody"},
		{"POST", "/v0/evi/configs", config(`"prompt":{"id":"` + nowhere + `"}`), 404, nowhere},
		{"POST", "/v0/evi/configs", config(`"prompt":{"id":"` + prompt + `","version":1}`), 404,
			"version 1 of a prompt"},
		{"POST", "/v0/evi/configs", config(`"prompt":{"id":"` + tool + `"}`), 404, tool},
		{"POST", "/v0/evi/configs", config(`"tools":[{"id":"` + nowhere + `"}]`), 404, nowhere},
		{"POST", "/v0/evi/configs", config(`"tools":[{"id":"` + tool + `","version":7}]`), 404, "version 7 of a tool"},
		{"POST", "/v0/evi/configs", config(`"tools":[{"id":"` + tool + `"},{"id":"` + twin + `"}]`), 400, "tools[1]"},
		{"POST", "/v0/evi/configs", config(`"prompt":{"text":"t"},` +
			`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://h/"}`), 400,
			"prompt"},
		{"PATCH", "/v0/evi/tools/" + tool, `{"name":"` + strings.Repeat("x", 65) + `"}`, 400, "name"},
		{"PATCH", "/v0/evi/prompts/" + prompt, `{"name":"` + strings.Repeat("x", 75) + `"}`, 400, "name"},
		{"PATCH", "/v0/evi/prompts/" + prompt + "/version/0",
			`{"version_description":"` + strings.Repeat("x", 256) + `"}`, 400, "version_description"},
		{"PUT", "/v0/evi/configs", "", 405, "GET, HEAD, POST"},
		{"POST", "/v0/evi/prompts/" + prompt + "/version/0", "{}", 405, "DELETE, GET, HEAD, PATCH"},
		{"POST", "/v0/evi/language-models", "{}", 405, "GET, HEAD"},
	} {
		b := c.ask(x.method, x.path, x.body, x.status)
		if !strings.Contains(fmt.Sprint(b["message"]), x.says) || b["code"] == nil ||
			b["error"] != http.StatusText(x.status) {
			t.Errorf("%s %s %.80s: %v, want %q", x.method, x.path, x.body, b, x.says)
		}
	}
	if list := c.ask("GET", "/v0/evi/configs", "", 200); list["total_pages"] != 0.0 {
		t.Errorf("something was kept of what was refused: %v", list)
	}
	if list := c.ask("GET", "/v0/evi/prompts", "", 200); len(list["prompts_page"].([]any)) != 1 {
		t.Errorf("a prompt was kept of a refused config: %v", list)
	}
}

func TestErrorsOfBodiesHaveTheirStatus(t *testing.T) {
	c := startRest(t, "home")[0]
	for _, x := range []struct {
		contentType, body string
		status            int
	}{
		{"application/json", `{"name":"p","text":"t"}`, 201},
		{"application/json; charset=utf-8", `{"name":"p","text":"t"}`, 201},
		{"application/merge-patch+json", `{"name":"p","text":"t"}`, 201},
		{"", `{"name":"p","text":"t"}`, 201},
		{"text/plain", `{"name":"p","text":"t"}`, 415},
		{"application/x-www-form-urlencoded", "name=p&text=t", 415},
		{"multipart/form-data; boundary=x", "--x--", 415},
		{"application/json", "", 422},
		{"application/json", `{"name":`, 422},
		{"application/json", `{"name":7,"text":"t"}`, 422},
		{"application/json", strings.Repeat("[", 1<<20), 422},
		{"application/json", `{"name":"p","text":"` + strings.Repeat("x", jsonBody) + `"}`, 413},
	} {
		status, _, text := c.send("POST", "/v0/evi/prompts", x.contentType, x.body)
		if status != x.status || !json.Valid([]byte(text)) {
			t.Errorf("%s %.40s: %d %s, want %d", x.contentType, x.body, status, text, x.status)
		}
		if detail := `{"detail":[{"loc":["body"`; status == 422 && !strings.HasPrefix(text, detail) {
			t.Errorf("%.40s: %s", x.body, text)
		}
	}
	request, _ := http.NewRequestWithContext(t.Context(), "POST", c.http.URL+"/v0/evi/prompts",
		strings.NewReader(`{"name":"p","text":"t"}`))
	request.Header = http.Header{"X-Service-Api-Key": {c.key}, "Content-Encoding": {"gzip"}}
	if r, err := http.DefaultClient.Do(request); err != nil || r.StatusCode != 415 ||
		!strings.Contains(fmt.Sprint(body(t, r)["message"]), `content encoding "gzip"`) {
		t.Errorf("a packed body: %v, %v", r, err)
	}
	if status, _, _ := (client{t: t, http: c.http, key: "wrong"}).send("POST", "/v0/evi/prompts", "text/plain",
		"{"); status != 401 {
		t.Errorf("a wrong key is told %d", status)
	}
}

func TestPagesListEveryResourceOnce(t *testing.T) {
	c := startRest(t, "home")[0]
	var made []string
	for i := range 23 {
		made = append(made, c.ask("POST", "/v0/evi/prompts", fmt.Sprintf(`{"name":"p%d","text":"t"}`, i),
			201)["id"].(string))
	}
	for _, size := range []int{1, 7, 10, 23, 100} {
		var got []string
		for number := 0; ; number++ {
			list := c.ask("GET", fmt.Sprintf("/v0/evi/prompts?page_size=%d&page_number=%d", size, number), "", 200)
			if list["total_pages"] != float64((23+size-1)/size) {
				t.Errorf("size %d: %v pages", size, list["total_pages"])
			}
			page := list["prompts_page"].([]any)
			if len(page) == 0 {
				break
			}
			for _, p := range page {
				got = append(got, p.(record)["id"].(string))
			}
		}
		if !slices.Equal(got, made) {
			t.Errorf("size %d: %d prompts, or in another order", size, len(got))
		}
	}
	for _, far := range []string{"1000", "9007199254740992"} {
		if list := c.ask("GET", "/v0/evi/prompts?page_size=100&page_number="+far, "",
			200); len(list["prompts_page"].([]any)) != 0 {
			t.Errorf("page %s is not empty", far)
		}
	}
}

func TestFiftyClientsGetFiftyVersions(t *testing.T) {
	c := startRest(t, "home")[0]
	for _, k := range resourceKinds {
		one := k.path + "/" + c.ask("POST", k.path, fmt.Sprintf(k.first, "a"), 201)["id"].(string)
		var mu sync.Mutex
		got := map[float64]bool{}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				status, _, text := c.send("POST", one, "application/json", k.next)
				var v struct{ Version float64 }
				if err := json.Unmarshal([]byte(text), &v); err != nil || status != 201 {
					t.Errorf("%d %s", status, text)
				}
				mu.Lock()
				defer mu.Unlock()
				got[v.Version] = true
			})
		}
		wg.Wait()
		if numbers := slices.Sorted(maps.Keys(got)); len(numbers) != 50 || numbers[0] != 1 || numbers[49] != 50 {
			t.Errorf("%s: versions %v", k.path, numbers)
		}
	}
}

// Requests with the ids and names of another account are answered as if nothing
// existed, and change nothing.
func TestAccountsCannotReachEachOther(t *testing.T) {
	clients := startRest(t, "home", "work")
	home, work := clients[0], clients[1]
	config := func(more string) string { return `{"name":"c","evi_version":"4-mini",` + more + `}` }
	for _, k := range resourceKinds {
		made := home.ask("POST", k.path, fmt.Sprintf(k.first, "secret"), 201)
		id := made["id"].(string)
		one := k.path + "/" + id
		for _, attack := range [][3]string{
			{"GET", one, ""}, {"GET", one + "?restrict_to_most_recent=false", ""}, {"POST", one, k.next},
			{"PATCH", one, `{"name":"mine"}`}, {"DELETE", one, ""}, {"GET", one + "/version/0", ""},
			{"PATCH", one + "/version/0", `{"version_description":"mine"}`}, {"DELETE", one + "/version/0", ""},
		} {
			b := work.ask(attack[0], attack[1], attack[2], 404)
			none := work.ask(attack[0], strings.ReplaceAll(attack[1], id, contract.NewID()), attack[2], 404)
			if said := withoutID(fmt.Sprint(b)); said != withoutID(fmt.Sprint(none)) {
				t.Errorf("%s %s: %s, and for what is not there %s", attack[0], attack[1], said, none)
			}
		}
		for _, query := range []string{"", "?name=secret", "?restrict_to_most_recent=false", "?page_size=100"} {
			if list := work.ask("GET", k.path+query, "", 200); len(list[k.page].([]any)) != 0 ||
				list["total_pages"] != 0.0 {
				t.Errorf("%s%s shows %v", k.path, query, list)
			}
		}
		if k.page != "configs_page" {
			refer := map[string]string{"prompts_page": `"prompt":{"id":"%s"}`,
				"tools_page": `"tools":[{"id":"%s"}]`}[k.page]
			work.ask("POST", "/v0/evi/configs", config(fmt.Sprintf(refer, id)), 404)
		}
		if got := home.ask("GET", one+"/version/0", "", 200); fmt.Sprint(got) != fmt.Sprint(made) {
			t.Errorf("it is now %v, and was %v", got, made)
		}
	}
}

// withoutID removes the id from an error.
func withoutID(text string) string {
	before, rest, _ := strings.Cut(text, `"`)
	_, after, _ := strings.Cut(rest, `"`)
	return before + after
}

func TestLanguageModelsAreListed(t *testing.T) {
	c := startRest(t, "home")[0]
	list := c.ask("GET", "/v0/evi/language-models", "", 200)
	entry := list["language_models"].([]any)[0].(record)
	if entry["model_resource"] != "llm" || entry["default"] != true || entry["builtin_tools"] == nil ||
		list["strict_models"] != false {
		t.Errorf("%v", list)
	}
}

// FuzzRestBodies sends a body to every route with one: the box never fails, and
// its errors are JSON.
func FuzzRestBodies(f *testing.F) {
	c := startRest(f, "home")[0]
	var targets [][2]string
	for _, k := range resourceKinds {
		one := k.path + "/" + c.ask("POST", k.path, fmt.Sprintf(k.first, "a"), 201)["id"].(string)
		targets = append(targets, [2]string{"POST", k.path}, [2]string{"POST", one}, [2]string{"PATCH", one},
			[2]string{"PATCH", one + "/version/0"})
		f.Add([]byte(fmt.Sprintf(k.first, "a")))
		f.Add([]byte(k.next))
	}
	f.Add([]byte(`{"evi_version":"3","voice":{"id":"voice-joe"},"prompt":{"text":"\ud800\u0000"},"tools":[{"id":""}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, target := range targets {
			r := httptest.NewRequest(target[0], target[1], bytes.NewReader(body))
			r.Header.Set("X-Service-Api-Key", c.key)
			w := httptest.NewRecorder()
			c.http.Config.Handler.ServeHTTP(w, r)
			switch w.Code {
			case 200, 201, 400, 404, 422:
			default:
				t.Fatalf("%s %s: %d %s", target[0], target[1], w.Code, w.Body)
			}
			if w.Header().Get("Content-Type") == "application/json" != json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s %s: %s", target[0], target[1], w.Body)
			}
		}
	})
}
