package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// emptiest is one of each server message with nothing set, and the fields that
// clients refuse to do without.
var emptiest = []struct {
	message  ServerMessage
	kind     string
	required string
}{
	{ChatMetadata{}, "chat_metadata", "chat_group_id chat_id"},
	{UserMessage{}, "user_message", "from_text interim message models time"},
	{AssistantMessage{}, "assistant_message", "from_text is_quick_response message models"},
	{AudioOutput{Data: []byte{}}, "audio_output", "data id index"},
	{AssistantProsody{}, "assistant_prosody", "models"},
	{AssistantEnd{}, "assistant_end", ""},
	{UserInterruption{}, "user_interruption", "time"},
	{WebSocketError{}, "error", "code message slug"},
	{ToolCallMessage{}, "tool_call", "name parameters response_required tool_call_id tool_type"},
	{ToolResponseMessage{}, "tool_response", "content tool_call_id"},
	{ToolErrorMessage{}, "tool_error", "error tool_call_id"},
	{SessionSettings{}, "session_settings", ""},
}

func TestRequiredFieldsAreAlwaysThere(t *testing.T) {
	for _, c := range emptiest {
		fields := object0(t, c.message)
		if string(fields["type"]) != `"`+c.kind+`"` {
			t.Errorf("%s: type is %s", c.kind, fields["type"])
		}
		for _, name := range strings.Fields(c.required) {
			if raw, ok := fields[name]; !ok || string(raw) == "null" {
				t.Errorf("%s: %s is %q", c.kind, name, raw)
			}
		}
		if want := len(strings.Fields(c.required)) + 1; len(fields) != want {
			t.Errorf("%s: %d fields, want %d: optional ones are left out", c.kind, len(fields), want)
		}
	}
}

func object0(t *testing.T, m any) map[string]json.RawMessage {
	t.Helper()
	data, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return fields
}

func TestNothingMeasuredIsAnEmptyObject(t *testing.T) {
	if got := string(object0(t, UserMessage{})["models"]); got != "{}" {
		t.Errorf("models is %s", got)
	}
}

func TestEveryMessageCarriesTheClientsSessionID(t *testing.T) {
	for _, c := range emptiest {
		named := WithCustomSessionID(c.message, "mine & <yours>")
		if got := string(object0(t, named)["custom_session_id"]); got != `"mine & <yours>"` {
			t.Errorf("%s: custom_session_id is %s", c.kind, got)
		}
		if _, there := object0(t, c.message)["custom_session_id"]; there {
			t.Errorf("%s: the original was changed", c.kind)
		}
	}
}

func TestServerMessagesSurviveARoundTrip(t *testing.T) {
	prompt := "Be brief."
	full := []ServerMessage{
		ChatMetadata{ChatGroupID: "g", ChatID: "c", RequestID: "r"},
		UserMessage{
			FromText: true,
			Language: "en",
			Message:  ChatMessage{Role: RoleUser, Content: "Hello <b> & \u2028 …"},
			Models:   Inference{Prosody: &ProsodyInference{Scores: EmotionScores{5: 0.25, 47: 1}}},
			Time:     MillisecondInterval{Begin: 1, End: 1 << 40},
		},
		AssistantMessage{ID: "a", Message: ChatMessage{Role: RoleAssistant,
			ToolResult: &ToolResult{Error: &ToolErrorMessage{ToolCallID: "t", Error: "no", Level: LevelWarn}}}},
		AudioOutput{ID: "a", Index: 3, Data: []byte("RIFF\x00\xff")},
		UserInterruption{Time: 1_700_000_000_000},
		ConfigNotFound.Error("config_id"),
		ToolCallMessage{
			ToolCallID:       "t",
			Name:             "n",
			Parameters:       `{"a":1}`,
			ToolType:         ToolFunction,
			ResponseRequired: true,
		},
		SessionSettings{
			Audio:        &AudioConfiguration{Channels: 1, Encoding: Linear16, SampleRate: 16000},
			SystemPrompt: &prompt,
			Tools:        []Tool{},
			ClearContext: true,
			Variables:    map[string]VariableValue{"name": TextVariable("true"), "age": {text: "42", bare: true}},
			Metadata:     map[string]json.RawMessage{"n": json.RawMessage(`12345678901234567890`)},
		},
	}
	for _, m := range full {
		data, err := Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseServerMessage(data)
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", data, back, err, m)
		}
	}
}

func TestScoresAreCompleteAndFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s EmotionScores
		for i := range s {
			s[i] = rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(math.NaN()), rapid.Just(math.Inf(1))).Draw(t,
				"score")
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var byName map[string]float64
		if err := json.Unmarshal(data, &byName); err != nil || len(byName) != 48 {
			t.Fatalf("%d names, %v", len(byName), err)
		}
		for i, v := range s {
			want := v
			if math.IsNaN(v) || math.IsInf(v, 0) {
				want = 0
			}
			if byName[EmotionName(i)] != want {
				t.Fatalf("%s is %v, want %v", EmotionName(i), byName[EmotionName(i)], want)
			}
		}
	})
	var s EmotionScores
	if err := json.Unmarshal([]byte(`{"Admiration":1}`), &s); err == nil {
		t.Error("a set with one score was taken")
	}
}

func TestEachCodeHasItsOwnSlugAndMessage(t *testing.T) {
	slugs := map[string]Code{}
	for c := range meanings {
		if other, taken := slugs[c.Slug()]; taken {
			t.Errorf("%s and %s share the slug %q", c, other, c.Slug())
		}
		slugs[c.Slug()] = c
		if len(c) != 5 || c[0] != 'E' || !strings.HasSuffix(c.Message(), ".") {
			t.Errorf("%s: %q", c, c.Message())
		}
		timeout := c == InactivityTimeout || c == MaxDurationTimeout
		if c.Fatal() && c.CloseCode() != ClosePolicy && c.CloseCode() != CloseInternal && !timeout {
			t.Errorf("%s closes with %d", c, c.CloseCode())
		}
	}
	for _, c := range []Code{InactivityTimeout, MaxDurationTimeout} { // it ends as it should
		if c.CloseCode() != CloseNormal {
			t.Errorf("%s closes with %d, not 1000", c, c.CloseCode())
		}
	}
	for _, c := range []Code{CreditsExhausted, SubscriptionBlock} {
		if c.CloseCode() != 1008 {
			t.Errorf("%s closes with %d, not 1008", c, c.CloseCode())
		}
	}
}

func TestTheDocumentationListsEveryCode(t *testing.T) {
	doc, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for c, m := range meanings {
		what := "stays open"
		if m.close != 0 {
			what = fmt.Sprintf("closes with %d", m.close)
		}
		if row := fmt.Sprintf("| %s | `%s` | %s | %s |", c, m.slug, m.message, what); !strings.Contains(string(doc),
			row) {
			t.Errorf("docs/errors.md has no row\n%s", row)
		}
	}
}

func TestIDsAreUUIDsInOrder(t *testing.T) {
	a, b := NewID(), NewID()
	if !ValidID(a) || !ValidID(b) || a >= b {
		t.Errorf("%s, %s", a, b)
	}
	if ValidID("urn:uuid:"+a) || ValidID("") || ValidID(a[:35]+"g") {
		t.Error("no UUID of the wire, and taken for one")
	}
}
