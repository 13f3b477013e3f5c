package contract

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestClientMessagesAreParsed(t *testing.T) {
	prompt := "Be kind."
	for sent, want := range map[string]ClientMessage{
		`{"type":"audio_input","data":"AAEC"}`: AudioInput{
			Data: []byte{0, 1, 2}},
		`{"type":"user_input","text":"Hi","custom_session_id":null,"more":[1]}`: UserInput{Text: "Hi"},
		`{"type":"assistant_input","text":"Hello","custom_session_id":"x"}`: AssistantInput{Text: "Hello",
			CustomSessionID: "x"},
		` { "type" : "pause_assistant_message" } `: PauseAssistantMessage{},
		`{"type":"resume_assistant_message"}`:      ResumeAssistantMessage{},
		`{"type":"tool_response","tool_call_id":"1","content":""}`: ToolResponseMessage{
			ToolCallID: "1"},
		`{"type":"tool_error","tool_call_id":"1","error":"e","level":"warn"}`: ToolErrorMessage{
			ToolCallID: "1", Error: "e", Level: LevelWarn},
		`{"type":"session_settings"}`: SessionSettings{},
		`{"type":"session_settings","context":null,"tools":[]}`: SessionSettings{
			ClearContext: true, Tools: []Tool{}},
		`{"type":"session_settings","context":{"text":"t","type":"editable"}}`: SessionSettings{
			Context: &Context{"t", ContextPersistent}},
		`{"type":"session_settings","system_prompt":"Be kind.","audio":null}`: SessionSettings{
			SystemPrompt: &prompt},
		`{"type":"session_settings","variables":{"a":1.50,"b":true,"c":"x","d":null}}`: SessionSettings{
			Variables: map[string]VariableValue{"a": {"1.50", true}, "b": {"true", true}, "c": {"x", false}}},
		`{"type":"session_settings",` +
			`"audio":{"encoding":"linear16","channels":2,"sample_rate":44100.0}}`: SessionSettings{
			Audio: &AudioConfiguration{Channels: 2, Encoding: Linear16, SampleRate: 44100}},
		`{"type":"session_settings","tools":[null,{"type":"function","name":"f","parameters":"{}"}],` +
			`"builtin_tools":[{"name":"hang_up"}]}`: SessionSettings{
			Tools:        []Tool{{Type: ToolFunction, Name: "f", Parameters: "{}"}},
			BuiltinTools: []BuiltinToolConfig{{Name: HangUp}}},
	} {
		got, err := ParseClientMessage([]byte(sent))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", sent, got, err, want)
		}
	}
}

func TestAFaultNamesThePathAndTheValue(t *testing.T) {
	long := strings.Repeat("x", MaxToolNameChars+1)
	for sent, want := range map[string]Fault{
		``:                              {Code: BrokenJSON, Detail: "At byte 0"},
		`{"type":`:                      {Code: BrokenJSON, Detail: "At byte 8"},
		"{\"type\":\"user_\xffinput\"}": {Code: BrokenJSON, Detail: "UTF-8"},
		`[1]`:                           {Code: WrongShape, Detail: "a list"},
		`null`:                          {Code: WrongShape, Detail: "null"},
		`{}`:                            {Code: UnknownMessage, Detail: "type: missing"},
		`{"type":7}`:                    {Code: UnknownMessage, Detail: "type: missing or not a string"},
		`{"type":"audio_output"}`: {Code: UnknownMessage,
			Detail: `"audio_output" is unknown; allowed: audio_input, session_settings`},
		`{"type":"user_input"}`: {Code: WrongShape, Detail: "user_input.text: missing"},
		`{"type":"user_input","text":["a"]}`: {Code: WrongShape,
			Detail: "user_input.text: expected a string, got a list"},
		`{"type":"tool_error","tool_call_id":"1","error":"e","level":"bad"}`: {Code: WrongShape,
			Detail: `tool_error.level: "bad" is not allowed; allowed: warn`},
		`{"type":"audio_input"}`: {
			Code: WrongShape, Detail: "audio_input.data: missing"},
		`{"type":"audio_input","data":12}`: {
			Code: WrongShape, Detail: "audio_input.data: expected a string of base64, got 12"},
		`{"type":"audio_input","data":"AA*A"}`: {
			Code: BrokenBase64, Detail: "no base64 at character 2 of 4"},
		`{"type":"audio_input","data":"AAAAA"}`: {
			Code: BrokenBase64, Detail: "5 characters are no whole number of bytes"},
		`{"type":"session_settings","language_model_api_key":"sk\r\nHost: x"}`: {
			Code:   InvalidSettings,
			Detail: "session_settings.language_model_api_key: it has a space or another character"},
		`{"type":"session_settings","audio":7}`: {
			Code: InvalidSettings, Detail: "session_settings.audio: expected an object, got 7"},
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1}}`: {
			Code: InvalidSettings, Detail: "session_settings.audio.sample_rate: missing"},
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1,"sample_rate":0}}`: {
			Code:   InvalidSettings,
			Detail: "session_settings.audio.sample_rate: 0 is out of range; allowed: 4000 to 192000"},
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1,"sample_rate":"16000"}}`: {
			Code: InvalidSettings, Detail: `session_settings.audio.sample_rate: expected an integer, got "16000"`},
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1.5,"sample_rate":16000}}`: {
			Code: InvalidSettings, Detail: "session_settings.audio.channels: expected an integer, got 1.5"},
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1,"sample_rate":1e999}}`: {
			Code: InvalidSettings, Detail: "out of range"},
		`{"type":"session_settings","audio":{"encoding":"opus","channels":1,"sample_rate":16000}}`: {
			Code: InvalidSettings, Detail: `"opus" is not allowed; allowed: linear16`},
		`{"type":"session_settings","system_prompt":" "}`: {
			Code: InvalidSettings, Detail: "session_settings.system_prompt: empty"},
		`{"type":"session_settings","context":{"type":"editable"}}`: {
			Code: InvalidSettings, Detail: "session_settings.context.text: missing"},
		`{"type":"session_settings","variables":{"a":[1]}}`: {
			Code:   InvalidSettings,
			Detail: "session_settings.variables.a: expected a string, a number or a boolean, got a list"},
		`{"type":"session_settings","tools":[{"type":"function","name":"f","parameters":"{}"},{"type":"function",` +
			`"name":"f","parameters":"{}"}]}`: {Code: InvalidSettings, Detail: `two tools have the name "f"`},
		`{"type":"session_settings","builtin_tools":[{"name":"hang_up"}],"tools":[{"type":"function",` +
			`"name":"hang_up","parameters":"{}"}]}`: {Code: InvalidSettings,
			Detail: `"hang_up" is the name of a built-in tool`},
		`{"type":"session_settings","tools":[{"type":"function","name":"f","parameters":"[]"}]}`: {
			Code:   InvalidSettings,
			Detail: "session_settings.tools[0].parameters: not a JSON schema: expected an object"},
		`{"type":"session_settings","tools":[{"type":"builtin","name":"f","parameters":"{}"}]}`: {
			Code:   InvalidSettings,
			Detail: `session_settings.tools[0].type: "builtin" is not allowed; allowed: function`},
		`{"type":"session_settings","tools":[{"type":"function","name":" ","parameters":"{}"}]}`: {
			Code: InvalidSettings, Detail: "session_settings.tools[0].name: empty"},
		`{"type":"session_settings","tools":[{"type":"function","name":"a\u0007","parameters":"{}"}]}`: {
			Code: InvalidSettings, Detail: "session_settings.tools[0].name: has the character U+0007"},
		`{"type":"session_settings","tools":[{"type":"function","name":"f","parameters":"{\"type\":\"objekt\"}"}]}`: {
			Code: InvalidSettings, Detail: "session_settings.tools[0].parameters: not a JSON schema"},
		`{"type":"session_settings","tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`: {
			Code: InvalidSettings, Detail: "session_settings.tools[0].parameters: expected a string, got an object"},
		`{"type":"session_settings","tools":[{"type":"function","name":"` + long +
			`","parameters":"{}"}]}`: {Code: InvalidSettings,
			Detail: "session_settings.tools[0].name: 65 characters; at most 64"},
		`{"type":"session_settings","metadata":{"a":"` + strings.Repeat("x", MaxMetadataBytes) +
			`"}}`: {Code: InvalidSettings, Detail: "session_settings.metadata: 16392 bytes; at most 16384"},
		`{"type":"session_settings","tools":[{},{}]}`: {Code: InvalidSettings, Detail: "and 3 more"},
	} {
		_, err := ParseClientMessage([]byte(sent))
		f, ok := errors.AsType[Fault](err)
		if !ok || f.Code != want.Code || !strings.Contains(f.Detail, want.Detail) {
			t.Errorf("%s\n got %v\nwant %v", sent, err, want)
		}
	}
}

func TestFaultsClipLongValues(t *testing.T) {
	huge := strings.Repeat("ü", 1<<15)
	for _, sent := range []string{
		`{"type":"` + huge + `"}`,
		`{"type":"audio_input","data":"` + huge + `"}`,
		`{"type":"user_input","text":"` + huge + `"}`,
		`{"type":"session_settings","audio":{"encoding":"` + huge + `"},"voice_id":"` + huge + `"}`,
		`{"type":"session_settings","variables":{"` + huge + `":[]}}`,
		`{"type":"session_settings","audio":{"channels":1` + strings.Repeat("0", 300) + `}}`,
		`{"type":"session_settings","tools":[{"type":"function","name":"f","parameters":"{\"properties\":{\"` + huge +
			`\":{\"minLength\":-1` + strings.Repeat("0", 30) + `}}}"}]}`,
	} {
		_, err := ParseClientMessage([]byte(sent))
		if err == nil || len(err.Error()) > 2000 {
			t.Errorf("%.60s…: %d bytes of error", sent, len(err.Error()))
		}
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	huge := strings.Repeat("9", 1<<20)
	if said := InvalidSettings.Error(huge).Message; len(said) > 2*maxErrorChars {
		t.Errorf("%d bytes are told in a chat", len(said))
	}
	var many []string
	for i := range MaxVariables {
		many = append(many, fmt.Sprintf(`"%s%d":[]`, huge[:1000], i))
	}
	_, err := ParsePublishEvent([]byte(`{"type":"session_settings","variables":{` + strings.Join(many, ",") + `}}`))
	told, ok := errors.AsType[ErrMalformed](err)
	body, _ := json.Marshal(told)
	if !ok || len(told.Detail) != maxProblems || len(body) > 100*maxProblems*3 {
		t.Errorf("%d problems in %d bytes: %.200v", len(told.Detail), len(body), err)
	}
}

func TestASessionIDIsOnePrintableLine(t *testing.T) {
	for id, fits := range map[string]bool{"desk 7 – Ünï 漢": true, `a\u0000b`: false, `a\nb`: false, `a\u0085b`: false,
		`\u007f`: false} {
		for _, m := range []string{
			`{"type":"session_settings","custom_session_id":"%s"}`,
			`{"type":"user_input","text":"x","custom_session_id":"%s"}`,
			`{"type":"audio_input","data":"","custom_session_id":"%s"}`,
			`{"type":"pause_assistant_message","custom_session_id":"%s"}`,
		} {
			_, err := ParseClientMessage(fmt.Appendf(nil, m, id))
			if (err == nil) != fits || err != nil &&
				!strings.Contains(err.Error(), "custom_session_id: has the control character U+00") {
				t.Errorf("%q in %s: %v", id, m, err)
			}
		}
	}
	q := url.Values{"session_settings[custom_session_id]": {"a\x00b"}}
	if c, err := ParseConnectSettings(q); err == nil {
		t.Errorf("a chat opens with the name %q", c.SessionSettings.CustomSessionID)
	}
}

func TestBase64OfEitherAlphabetAndPadding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		audio := rapid.SliceOf(rapid.Byte()).Draw(t, "audio")
		encoding := rapid.SampledFrom([]*base64.Encoding{
			base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
		}).Draw(t, "encoding")
		text := encoding.EncodeToString(audio)
		if rapid.Bool().Draw(t, "slashes escaped") {
			text = strings.ReplaceAll(text, "/", `\/`)
		}
		m, err := ParseClientMessage([]byte(`{"type":"audio_input","data":"` + text + `"}`))
		if err != nil || string(m.(AudioInput).Data) != string(audio) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func FuzzParseClientMessage(f *testing.F) {
	for _, seed := range []string{
		`{"type":"audio_input","data":"AAEC_-"}`, `{"type":"user_input","text":"Hi"}`, `{"type":`, `null`,
		`{"type":"x"}`,
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1,"sample_rate":16000},"context":null}`,
		`{"type":"session_settings","context":{"text":"t","type":"persistent"},"variables":{"a":1e2,"b":false},` +
			`"metadata":{"x":{}}}`,
		`{"type":"session_settings","tools":[{"type":"function","name":"f","parameters":"{}"}],` +
			`"builtin_tools":[{"name":"hang_up"}]}`,
		`{"type":"tool_error","tool_call_id":"1","error":"e"}`, "{\"type\":\"user_input\",\"text\":\"\\ud800\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := string(data)
		m, err := ParseClientMessage(data)
		if string(data) != before {
			t.Fatal("the frame was changed")
		}
		if err != nil {
			fault, ok := errors.AsType[Fault](err)
			if !ok || m != nil || fault.Code.Slug() == Internal.Slug() {
				t.Fatalf("%v, %v", m, err)
			}
			if _, err := Marshal(fault.Code.Error(fault.Detail)); err != nil {
				t.Fatal(err)
			}
			return
		}
		// What was read says the same when it is written and read again.
		again, err := Marshal(m)
		if err != nil || !json.Valid(again) {
			t.Fatalf("%s: %v", again, err)
		}
		back, err := ParseClientMessage(again)
		if err != nil || !reflect.DeepEqual(normal(back), normal(m)) {
			t.Fatalf("%s\n  %+v\n%s\n  %+v, %v", data, m, again, back, err)
		}
	})
}

// normal forgets how an object of metadata was spaced and escaped.
func normal(m ClientMessage) ClientMessage {
	s, ok := m.(SessionSettings)
	if !ok || s.Metadata == nil {
		return m
	}
	neat := map[string]json.RawMessage{}
	for name := range s.Metadata {
		neat[name] = nil
	}
	s.Metadata = neat
	return s
}

func TestSettingsAreBoundedInBytes(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	tools := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"type":"function","name":"t%d","parameters":"{\"description\":\"%s\"}"}`, i,
				x(10_000)))
		}
		return `"tools":[` + strings.Join(all, ",") + `]`
	}
	for body, says := range map[string]string{
		`"variables":{"a":"` + x(MaxVariableChars) + `","` + x(MaxVariableNameChars) +
			`":1}`: "",
		`"variables":{"a":"` + x(MaxVariableChars+1) +
			`"}`: "session_settings.variables.a: 10001 characters; at most 10000 are allowed",
		`"variables":{"` + x(MaxVariableNameChars+1) +
			`":1}`: "its name has 101 characters; at most 100 are allowed",
		`"variables":{"a":1` + strings.Repeat("0", MaxVariableChars) +
			`}`: "session_settings.variables.a: 10001 characters; at most 10000 are allowed",
		`"system_prompt":"` + strings.Repeat("語", MaxPromptChars) +
			`"`: "",
		`"system_prompt":"` + x(MaxPromptChars) + `","context":{"text":"` + strings.Repeat("語", MaxPromptChars) +
			`"}`: "",
		`"system_prompt":"` + strings.Repeat("語", MaxPromptChars) + `","context":{"text":"` +
			strings.Repeat("語", MaxPromptChars) + `"}`: "session_settings: 600",
		tools(20): "",
		tools(30): "session_settings.tools: 30",
	} {
		_, err := ParseClientMessage([]byte(`{"type":"session_settings",` + body + `}`))
		f, _ := errors.AsType[Fault](err)
		if says == "" && err != nil || says != "" && (f.Code != InvalidSettings || !strings.Contains(f.Detail, says)) {
			t.Errorf("%.60s: %.200v, want %q", body, err, says)
		}
	}
}
