package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"parley/appliance/contract"
)

func post(t *testing.T, a *API, target, sent string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest("POST", target, strings.NewReader(sent))
	r.Header.Set("X-Service-Api-Key", "good")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	asDescribed(t, a).ServeHTTP(w, r)
	return w.Result()
}

// Every client message except audio reaches the chat unchanged.
func TestSentMessagesReachTheLiveChat(t *testing.T) {
	a, f := box(io.Discard)
	prompt := "Be brief."
	for sent, want := range map[string]contract.ClientMessage{
		`{"type":"user_input","text":"Hello"}`: contract.UserInput{
			Text: "Hello"},
		`{"type":"assistant_input","text":"Hello","custom_session_id":null,"more":1}`: contract.AssistantInput{
			Text: "Hello"},
		`{"type":"session_settings","system_prompt":"Be brief."}`: contract.SessionSettings{
			SystemPrompt: &prompt},
		`{"type":"session_settings","context":null}`: contract.SessionSettings{
			ClearContext: true},
		`{"type":"pause_assistant_message"}`:  contract.PauseAssistantMessage{},
		`{"type":"resume_assistant_message"}`: contract.ResumeAssistantMessage{},
		`{"type":"tool_response","tool_call_id":"1","content":"sunny"}`: contract.ToolResponseMessage{
			ToolCallID: "1", Content: "sunny"},
		`{"type":"tool_error","tool_call_id":"1","error":"down","level":"warn",` +
			`"content":"no idea"}`: contract.ToolErrorMessage{
			ToolCallID: "1",
			Error:      "down",
			Level:      contract.LevelWarn,
			Content:    "no idea",
		},
	} {
		f.steered = nil
		r := post(t, a, "/v0/evi/chat/live/send", sent, "Content-Type", "application/json")
		if r.StatusCode != 200 || len(body(t, r)) != 0 {
			t.Errorf("%s: %d", sent, r.StatusCode)
		}
		if len(f.steered) != 1 || !reflect.DeepEqual(f.steered[0], want) {
			t.Errorf("%s became %+v", sent, f.steered)
		}
	}
}

// The answer is a list of problems, each with its path.
func TestMalformedMessagesAreAnsweredWith422(t *testing.T) {
	a, f := box(io.Discard)
	for sent, want := range map[string]string{
		``:  `body malformed: the body is empty`,
		`{`: `body malformed: not valid JSON`,
		"{\"type\":\"user_input\",\"text\":\"\xff\"}": `body malformed: the body is not UTF-8`,
		`[]`: `body wrong_type: Expected an object`,
		`{"text":"a"}`: `body.type wrong_value: missing or not a string; allowed: ` +
			`session_settings, user_input`,
		`{"type":7}`: `body.type wrong_value: missing or not a string`,
		`{"type":"audio_input","data":"AAAA"}`: `body.type wrong_value: audio_input is not taken here; allowed: ` +
			`session_settings`,
		`{"type":"shout"}`:                   `body.type wrong_value: "shout" is unknown; allowed: session_settings`,
		`{"type":"user_input"}`:              `body.text missing: missing`,
		`{"type":"user_input","text":["a"]}`: `body.text wrong_type: expected a string, got a list`,
		`{"type":"session_settings","audio":{"encoding":"mp3","channels":0}}`: `body.audio.sample_rate missing`,
		`{"type":"session_settings","tools":[{"type":"function"}]}`:           `body.tools.0.name missing`,
		`{"type":"session_settings","system_prompt":" "}`:                     `body.system_prompt wrong_value`,
	} {
		r := post(t, a, "/v0/evi/chat/live/send", sent)
		first := ""
		if r.StatusCode == 422 {
			detail, _ := body(t, r)["detail"].([]any)
			for _, d := range detail {
				d := d.(map[string]any)
				var way []string
				for _, l := range d["loc"].([]any) {
					way = append(way, strings.Trim(asText(l), `"`))
				}
				if said := strings.Join(way, ".") + " " + d["type"].(string) + ": " +
					d["msg"].(string); strings.HasPrefix(said, want) {
					first = said
				}
			}
		}
		if first == "" {
			t.Errorf("%s: %d, and nothing that begins with %q", sent, r.StatusCode, want)
		}
	}
	if len(f.steered) > 0 {
		t.Errorf("the chat got %+v", f.steered)
	}
	f.steers = contract.Fault{Code: contract.UnexpectedTool, Detail: "tool_call_id: no tool call is open"}
	r := post(t, a, "/v0/evi/chat/live/send", `{"type":"tool_response","tool_call_id":"1","content":"sunny"}`)
	if got := asText(body(t, r)); r.StatusCode != 422 || !strings.Contains(got, "unexpected_tool_answer") ||
		!strings.Contains(got, "no tool call is open") {
		t.Errorf("what the chat refuses: %d %s", r.StatusCode, got)
	}
}

func TestAMissingLiveChatIs404(t *testing.T) {
	a, f := box(io.Discard)
	for _, id := range []string{"gone", "a%2Fb", "%00", strings.Repeat("x", 5000)} {
		r := post(t, a, "/v0/evi/chat/"+id+"/send", `{"type":"pause_assistant_message"}`)
		if r.StatusCode != 404 || body(t, r)["code"] != "not_found" {
			t.Errorf("%.20s: %d", id, r.StatusCode)
		}
	}
	f.steers = contract.ErrUnavailable{Why: "the chat takes nothing now"}
	if r := post(t, a, "/v0/evi/chat/live/send", `{"type":"pause_assistant_message"}`); r.StatusCode != 503 {
		t.Errorf("a chat that takes nothing: %d", r.StatusCode)
	}
	if r := post(t, a, "/v0/evi/chat/live/send", `{}`, "X-Service-Api-Key", "bad"); r.StatusCode != 401 {
		t.Errorf("a wrong key: %d", r.StatusCode)
	}
}

func TestConnectingToALiveChat(t *testing.T) {
	a, _ := box(io.Discard)
	for target, want := range map[string]string{
		"/v0/evi/chat/live/connect?api_key=good":                    "200 follow live, sound true",
		"/v0/evi/chat/live/connect?api_key=good&audio_output=false": "200 follow live, sound false",
		"/v0/evi/chat/live/connect?api_key=good&audio_output=":      "200 follow live, sound true",
		"/v0/evi/chat/live/connect?api_key=good&audio_output=loud":  "400 ",
		"/v0/evi/chat/gone/connect?api_key=good":                    "404 ",
		"/v0/evi/chat/live/connect?api_key=bad":                     "401 ",
		"/v0/evi/chat/live/connect":                                 "401 ",
	} {
		r := ask(a, "GET", target)
		said, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Status[:4] + string(said); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", target, got)
		}
	}
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
