package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parley/appliance/contract"
)

// described checks every answer of an API against the API's description.
type described struct {
	testing.TB
	*API
	doc      map[string]any
	mu       sync.Mutex // guards compiler: a test compiles with it while the server checks its answers
	compiler *jsonschema.Compiler
}

// asDescribed returns a with a check of every answer, which fails the test.
func asDescribed(t testing.TB, a *API) *described {
	t.Helper()
	all, err := a.documents()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(all.openAPI.text))
	if err != nil {
		t.Fatal(err)
	}
	d := &described{
		TB:       t,
		API:      a,
		doc:      doc.(map[string]any),
		compiler: jsonschema.NewCompiler(),
	}
	if err := d.compiler.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *described) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kept := &recordedAnswer{ResponseWriter: w}
	d.API.ServeHTTP(kept, r)
	method, path, ok := strings.Cut(r.Pattern, " ")
	if !ok { // an unknown path or method
		path = ""
	}
	if kept.status == 0 && r.Context().Err() != nil {
		return // the client is gone, and got no answer
	}
	d.check(strings.ToLower(method), strings.TrimSuffix(path, "{$}"), r, kept)
}

func (d *described) check(method, path string, r *http.Request, got *recordedAnswer) {
	kind, _, _ := mime.ParseMediaType(got.Header().Get("Content-Type"))
	status := fmt.Sprint(got.status)
	at := []string{"components", "schemas", "Problem"}
	if isOpenAI(r) {
		at = []string{"components", "schemas", "OpenAIError"}
	}
	if path != "" {
		at = []string{"paths", path, method, "responses", status, "content", kind, "schema"}
		answers, _ := find(d.doc, "paths", path, method, "responses").(map[string]any)
		if answers[status] == nil && got.status != 500 {
			d.Errorf("%s %s answers %s, which its description does not have: %.200s", method, path, status, &got.text)
			return
		}
	}
	if r.Method == http.MethodHead || got.status == 500 || got.text.Len() == 0 {
		return
	}
	if find(d.doc, at...) == nil {
		d.Errorf("%s %s answers %s with %q, which its description does not have", method, path, status, kind)
		return
	}
	if kind != "application/json" {
		return
	}
	if err := d.fits(at, got.text.Bytes()); err != nil {
		d.Errorf("%s %s: %s: %v\n%.1000s", method, path, status, err, &got.text)
	}
}

// fits reports whether text matches the schema at a place of the description.
func (d *described) fits(at []string, text []byte) error {
	escaped := make([]string, len(at))
	for i, a := range at {
		escaped[i] = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(a)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.compiler.Compile("openapi.json#/" + strings.Join(escaped, "/"))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func find(v any, way ...string) any {
	for _, step := range way {
		m, _ := v.(map[string]any)
		v = m[step]
	}
	return v
}

// recordedAnswer passes an answer on and records it.
type recordedAnswer struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (k *recordedAnswer) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *recordedAnswer) Write(p []byte) (int, error) {
	if k.status == 0 {
		k.status = http.StatusOK
	}
	k.text.Write(p)
	return k.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush.
func (k *recordedAnswer) Unwrap() http.ResponseWriter { return k.ResponseWriter }

func TestEveryRouteIsDescribed(t *testing.T) {
	a, _ := box(io.Discard)
	d := asDescribed(t, a)
	ids := map[string]bool{}
	for _, rt := range a.routes() {
		path := strings.TrimSuffix(rt.path, "{$}")
		o, _ := find(d.doc, "paths", path, strings.ToLower(rt.method)).(map[string]any)
		id, _ := o["operationId"].(string)
		if !regexp.MustCompile(`^[a-z][A-Za-z]+$`).MatchString(id) || ids[id] || o["summary"] == "" ||
			len(rt.about.Answers) == 0 || rt.about.Section == "" {
			t.Errorf("%s %s: its row says too little, or has the name of another: %q", rt.method, rt.path, id)
		}
		ids[id] = true
	}
	if routes := len(a.routes()); len(allDescriptions()) != routes {
		t.Errorf("%d descriptions for %d routes", len(allDescriptions()), routes)
	}
}

// The descriptions of types are the comments in the source. This finds types
// without a comment, and files that ReadComments does not read.
func TestEveryTypeIsDescribedWithoutGoTerms(t *testing.T) {
	a, _ := box(io.Discard)
	all, err := a.documents()
	if err != nil {
		t.Fatal(err)
	}
	ofGo := regexp.MustCompile(`(?i)\b(nil|pointer|struct|zero value|Parse[A-Z]\w+|func)\b`)
	for name, text := range map[string][]byte{"openapi": all.openAPI.text, "asyncapi": all.asyncAPI.text} {
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for schema, v := range find(doc, "components", "schemas").(map[string]any) {
			said, _ := find(v, "description").(string)
			fields, _ := find(v, "properties").(map[string]any)
			for _, f := range fields {
				of, _ := find(f, "description").(string)
				said += " " + of
			}
			if strings.TrimSpace(said) == "" || ofGo.MatchString(said) {
				t.Errorf("%s: %s is described as %q", name, schema, said)
			}
		}
	}
}

// fakePlugins accept valid requests.
type fakePlugins struct{ BoxPlugins }

func (fakePlugins) ChangePlugin(context.Context, string, contract.PostedPluginChange) (contract.ReturnPlugin, error) {
	return contract.ReturnPlugin{
		State:    contract.PluginReady,
		Tools:    []contract.PluginTool{},
		Granted:  []contract.PluginPermission{},
		Denied:   []contract.PluginPermission{},
		Settings: []contract.PluginSetting{},
	}, nil
}

func (fakePlugins) CallPlugin(
	context.Context, string, string, contract.PostedPluginCall,
) (contract.PluginCalled, error) {
	return contract.PluginCalled{}, nil
}

// testBoxHas is whether the box of these tests has what a route is for: it has no engines and is no hub.
func testBoxHas(path string) bool {
	return !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v0/box/fleet")
}

func TestTheExamplesWork(t *testing.T) {
	c := startRest(t, "home")[0]
	c.ask("POST", "/v0/evi/configs", `{"name":"Reminder","evi_version":"4-mini"}`, http.StatusCreated)
	ids := map[string]string{}
	tried := 0
	for _, rt := range New(Parts{}).routes() {
		// recordings are not written down; the pairing code of a screen works once
		if rt.about.Body == "" || rt.about.Upload != "" || rt.access == byAnyone || !testBoxHas(rt.path) {
			continue
		}
		if rt.path == "/v0/box/operator" { // only sessions may; a key belongs to one account
			continue
		}
		tried++
		kind, _, _ := strings.Cut(rt.path, "/{")
		path := strings.NewReplacer("{id}", ids[kind], "{version}", "0", "{name}", "hours", "{word}",
			"Nguyen").Replace(rt.path)
		status, _, text := c.send(rt.method, path, "application/json", rt.about.Example)
		if status >= 300 {
			t.Errorf("%s %s: %d %s", rt.method, path, status, text)
		}
		var made struct {
			ID     string
			CallID string `json:"call_id"`
		}
		if json.Unmarshal([]byte(text), &made) == nil && path == kind {
			ids[kind] = cmp.Or(made.ID, made.CallID)
		}
	}
	if tried < 12 {
		t.Errorf("only %d examples", tried)
	}
}

// The bounds of every text in the description are compared with what the box
// accepts, at the bound and one past it. The tests of package contract compare
// the other bounds.
func TestDescribedBoundsAreEnforced(t *testing.T) {
	c := startRest(t, "home")[0]
	c.ask("POST", "/v0/evi/configs", `{"name":"Reminder","evi_version":"4-mini"}`, http.StatusCreated)
	d := c.http.Config.Handler.(*described)
	for _, rt := range d.API.routes() {
		if rt.about.Body == "" || rt.access == byAnyone || rt.method != "POST" ||
			strings.Contains(rt.path, "{") ||
			!testBoxHas(rt.path) {
			continue
		}
		at := slices.IndexFunc(contract.Bodies(), func(b contract.Body) bool { return b.Name == rt.about.Body })
		for name, f := range contract.Bodies()[at].Shape.Fields {
			// only those bounds mean something
			if f.Kind != "string" || f.High == nil ||
				slices.Contains([]string{"parameters", "url", "callback_url", "config_id", "to"}, name) ||
				rt.about.Body == "PostedPhoneCall" && name == "account" { // which has to own the config
				continue
			}
			for over := range 2 {
				var body map[string]any
				if err := json.Unmarshal([]byte(rt.about.Example), &body); err != nil {
					t.Fatal(err)
				}
				body[name] = strings.Repeat("é", int(*f.High)+over)
				text, _ := json.Marshal(body)
				fits := d.fits([]string{"components", "schemas", rt.about.Body}, text) == nil
				status, _, said := c.send("POST", rt.path, "application/json", string(text))
				if fits != (over == 0) || fits != (status == 200 || status == 201) {
					t.Errorf("%s of %s with %d characters: %d; the description says %v: %.200s", name, rt.about.Body,
						int(*f.High)+over, status, fits, said)
				}
			}
		}
	}
}

func TestDescriptionsArePublicAndCacheable(t *testing.T) {
	c := startRest(t, "home")[0]
	for path, kind := range map[string]string{"/openapi.json": "application/json", "/asyncapi.json": "application/json",
		"/docs": "text/html; charset=utf-8"} {
		r := httptest.NewRequest("GET", path, nil)
		w := httptest.NewRecorder()
		c.http.Config.Handler.ServeHTTP(w, r)
		if w.Code != 200 || w.Header().Get("Content-Type") != kind ||
			!strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		again := httptest.NewRecorder()
		c.http.Config.Handler.ServeHTTP(again, r)
		if again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%s again: %d", path, again.Code)
		}
	}
}

func TestThePageNamesEveryRouteAndLoadsNothing(t *testing.T) {
	a, _ := box(io.Discard)
	all, err := a.documents()
	if err != nil {
		t.Fatal(err)
	}
	page := string(all.page.text)
	for _, rt := range a.routes() {
		if !strings.Contains(page, `<article id="`+rt.about.ID+`">`) {
			t.Errorf("%s %s is not on the page", rt.method, rt.path)
		}
	}
	for _, m := range contract.ClientMessages() {
		if !strings.Contains(page, "<code>"+m.Name+"</code>") {
			t.Errorf("the message %s is not on the page", m.Name)
		}
	}
	if out := regexp.MustCompile(`(src|href|url)\s*[=(]\s*"?https?:`).FindString(page); out != "" {
		t.Errorf("the page reaches out: %s", out)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two things have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("a link to %s, which is not there", m[1])
		}
	}
}

// On a phone, the contents are in a bar that opens.
func TestThePageBeginsWithTheChatAndHasContentsAndAnIcon(t *testing.T) {
	a, _ := box(io.Discard)
	all, err := a.documents()
	if err != nil {
		t.Fatal(err)
	}
	page := string(all.page.text)
	last := -1
	for _, part := range []string{`<link rel="icon" type="image/svg+xml" href="data:image/svg+xml,`,
		`<details id="contents">`, `<summary>Contents</summary>`, `href="#chat"`, `href="#health"`,
		`<article id="chat">`, `<article id="chatReceive">`, `<article id="listChats">`, `<article id="health">`,
		`<article id="type-`} {
		at := strings.Index(page, part)
		if at <= last {
			t.Errorf("%s is at %d, and what should come before it at %d", part, at, last)
		}
		last = at
	}
	if !strings.Contains(all.page.policy, "img-src data:;") {
		t.Errorf("the policy does not let the icon be seen: %s", all.page.policy)
	}
}

func TestMessagesOfAChatFitTheirDescription(t *testing.T) {
	a, _ := box(io.Discard)
	all, err := a.documents()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(all.asyncAPI.text))
	if err != nil {
		t.Fatal(err)
	}
	d := &described{TB: t, compiler: jsonschema.NewCompiler()}
	if err := d.compiler.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	prompt := "Be kind."
	call := contract.ToolCallMessage{
		ToolCallID: "1",
		Name:       "hours",
		Parameters: "{}",
		ToolType:   contract.ToolFunction,
	}
	answer := contract.ToolResponseMessage{ToolCallID: "1", Content: "ten", ToolType: contract.ToolFunction}
	scores := contract.Inference{Prosody: &contract.ProsodyInference{}}
	messages := []contract.ServerMessage{
		contract.ChatMetadata{ChatID: "1", ChatGroupID: "2"},
		contract.UserMessage{Message: contract.ChatMessage{Role: contract.RoleUser, Content: "When?"}, Models: scores},
		contract.AssistantMessage{ID: "1",
			Message: contract.ChatMessage{Role: contract.RoleTool, ToolCall: &call,
				ToolResult: &contract.ToolResult{Response: &answer}}},
		contract.AudioOutput{ID: "1", Data: []byte("RIFF")}, contract.AssistantProsody{ID: "1", Models: scores},
		contract.AssistantEnd{CustomSessionID: "x"},
		contract.UserInterruption{Time: 1}, call, answer,
		contract.ToolErrorMessage{ToolCallID: "1", Error: "no", Level: contract.LevelWarn},
		contract.SessionSettings{SystemPrompt: &prompt,
			Variables: map[string]contract.VariableValue{"a": contract.TextVariable("b")},
			Metadata:  map[string]json.RawMessage{"n": []byte("[1]")}},
		contract.GroupActive.Error("It is."),
	}
	if len(messages) != len(contract.ServerMessages()) {
		t.Errorf("%d messages are tried of %d", len(messages), len(contract.ServerMessages()))
	}
	for _, m := range messages {
		text, err := contract.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		payload := find(doc, "components", "messages", m.MessageType(), "payload", "$ref").(string)
		if err := d.fits(strings.Split(strings.TrimPrefix(payload, "#/"), "/"), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if wrong := bytes.Replace(text, []byte(`{"type":"`), []byte(`{"type":"un`),
			1); d.fits(strings.Split(strings.TrimPrefix(payload, "#/"), "/"), wrong) == nil {
			t.Errorf("another type fits %s", payload)
		}
	}
}
