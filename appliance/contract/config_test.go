package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// body puts a field over a body that is fine.
func body(t *testing.T, base, field string) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(base), &fields); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte("{"+field+"}"), &fields); err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	fineConfig = `{"name":"n","evi_version":"3","voice":{"name":"joe"}}`
	finePrompt = `{"name":"n","text":"Be brief."}`
	fineTool   = `{"name":"n","parameters":"{\"type\":\"object\"}"}`
)

func parseConfig(data []byte) error { _, err := Parse[PostedConfig](data); return err }
func parsePrompt(data []byte) error { _, err := Parse[PostedPrompt](data); return err }
func parseTool(data []byte) error   { _, err := Parse[PostedUserDefinedTool](data); return err }

func long(n int) string { return strings.Repeat("é", n) }

func TestEveryLimitHoldsAtItsEdgeAndPastIt(t *testing.T) {
	for _, c := range []struct {
		parse      func([]byte) error
		base       string
		field      string   // what the error names
		fine, past []string // values of it
	}{
		{parseConfig, fineConfig, "name",
			[]string{`"name":"` + long(74) + `"`, `"name":"a b"`, `"name":"👨\u200d👩\u200d👧 می\u200cخواهم"`,
				`"name":"東京\u3000案内"`, `"name":"L’été\u00a0: guide"`},
			[]string{`"name":"` + long(75) + `"`, `"name":""`, `"name":" "`, `"name":"a\nb"`, `"name":"a\u0000"`,
				`"name":"\u200b"`}},
		{parseConfig, fineConfig, "version_description",
			[]string{`"version_description":"` + long(255) + `"`, `"version_description":"a\nb"`,
				`"version_description":""`},
			[]string{`"version_description":"` + long(256) + `"`, `"version_description":"a\u0007"`}},
		{parseConfig, fineConfig, "evi_version",
			[]string{`"evi_version":"3"`, `"evi_version":"4-mini"`, `"evi_version":"1"`, `"evi_version":"2"`},
			[]string{`"evi_version":"5"`, `"evi_version":""`}},
		{parseConfig, fineConfig, "prompt.text",
			[]string{`"prompt":{"text":"` + long(100_000) + `"}`, `"prompt":{}`, `"prompt":null`},
			[]string{`"prompt":{"text":"` + long(100_001) + `"}`, `"prompt":{"text":""}`, `"prompt":{"text":" \n"}`,
				`"prompt":{"id":"x","text":"t"}`}},
		{parseConfig, fineConfig, "language_model.fallback",
			[]string{`"language_model":{"fallback":[` + strings.Repeat(`{"model_provider":"HUME_AI"},`, 3) +
				`{"model_provider":"GROQ","model_resource":"x"}]}`},
			[]string{`"language_model":{"fallback":[` + strings.Repeat(`{"model_provider":"HUME_AI"},`, 4) +
				`{"model_provider":"GROQ"}]}`}},
		{parseConfig, fineConfig, "language_model.fallback[0].model_resource",
			[]string{`"language_model":{"fallback":[{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"wss:/` +
				`/h"}]}`},
			[]string{`"language_model":{"fallback":[{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"ftp:/` +
				`/h"}]}`}},
		{parseConfig, fineConfig, "prompt.id", []string{`"prompt":{"id":"x","version":0}`},
			[]string{`"prompt":{"version":0}`}},
		{parseConfig, fineConfig, "prompt.version", []string{`"prompt":{"id":"x","version":2.0}`},
			[]string{`"prompt":{"id":"x","version":-1}`}},
		{parseConfig, fineConfig, "prompt",
			[]string{`"language_model":{"model_provider":"OPEN_AI"},"prompt":{"text":"t"}`},
			[]string{`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://h/x"},` +
				`"prompt":{"text":"t"}`}},
		{parseConfig, fineConfig, "voice",
			[]string{`"voice":null,"evi_version":"4-mini"`, `"voice":null,"evi_version":"2"`},
			[]string{`"voice":null`, `"voice":{"name":""}`, `"voice":{"id":""}`}},
		{parseConfig, fineConfig, "tools[0].id", []string{`"tools":[{"id":"x"}]`}, []string{`"tools":[{"id":""}]`}},
		{parseConfig, fineConfig, "voice.provider",
			[]string{`"voice":{"id":"x","provider":"HUME_AI"}`, `"voice":{"id":"x","provider":"CUSTOM_VOICE"}`},
			[]string{`"voice":{"id":"x","provider":"ACME"}`}},
		{parseConfig, fineConfig, "language_model.model_resource",
			[]string{`"language_model":{"model_resource":"` + long(1024) + `"}`, `"language_model":{}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"wss://h/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"http://192.168.1.2:9/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"ws://[::1]:9/x?y=1"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"http://localhost/x",` +
					`"fallback":[]}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://8.8.8.8/x",` +
					`"fallback":[{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://h/y"},` +
					`{"model_provider":"HUME_AI"}]}`},
			[]string{`"language_model":{"model_resource":"` + long(1025) + `"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"gpt"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https:h"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"file:///etc/passwd"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://` +
					`user:password@h/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://` +
					`169.254.169.254/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"http://0.0.0.0/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"http://` +
					`[::ffff:8.8.8.8]/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"http://` +
					`[fe80::1%25eth0]/x"}`,
				`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"ws://8.8.8.8/x"}`}},
		{parseConfig, fineConfig, "language_model.model_provider",
			[]string{`"language_model":{"model_provider":"X_AI"}`},
			[]string{`"language_model":{"model_provider":"open_ai"}`}},
		{parseConfig, fineConfig, "language_model.temperature",
			[]string{`"language_model":{"temperature":0}`, `"language_model":{"temperature":2}`},
			[]string{`"language_model":{"temperature":-0.01}`, `"language_model":{"temperature":2.01}`,
				`"language_model":{"temperature":1e999}`}},
		{parseConfig, fineConfig, "turn_detection.end_of_turn_silence_ms",
			[]string{`"turn_detection":{"end_of_turn_silence_ms":500}`,
				`"turn_detection":{"end_of_turn_silence_ms":3000}`},
			[]string{`"turn_detection":{"end_of_turn_silence_ms":499}`,
				`"turn_detection":{"end_of_turn_silence_ms":3001}`, `"turn_detection":{"end_of_turn_silence_ms":0}`}},
		{parseConfig, fineConfig, "turn_detection.speech_detection_threshold",
			[]string{`"turn_detection":{"speech_detection_threshold":0}`,
				`"turn_detection":{"speech_detection_threshold":1.0}`},
			[]string{`"turn_detection":{"speech_detection_threshold":-0.1}`,
				`"turn_detection":{"speech_detection_threshold":1.1}`}},
		{parseConfig, fineConfig, "turn_detection.prefix_padding_ms",
			[]string{`"turn_detection":{"prefix_padding_ms":0}`, `"turn_detection":{"prefix_padding_ms":3000}`},
			[]string{`"turn_detection":{"prefix_padding_ms":-1}`, `"turn_detection":{"prefix_padding_ms":3001}`}},
		{parseConfig, fineConfig, "interruption.min_interruption_ms",
			[]string{`"interruption":{"min_interruption_ms":50}`, `"interruption":{"min_interruption_ms":2000}`},
			[]string{`"interruption":{"min_interruption_ms":49}`, `"interruption":{"min_interruption_ms":2001}`}},
		{parseConfig, fineConfig, "timeouts.inactivity.duration_secs",
			[]string{`"timeouts":{"inactivity":{"enabled":true,"duration_secs":30}}`,
				`"timeouts":{"inactivity":{"enabled":false,"duration_secs":1800}}`,
				`"timeouts":{"inactivity":{"enabled":true}}`},
			[]string{`"timeouts":{"inactivity":{"enabled":true,"duration_secs":29}}`,
				`"timeouts":{"inactivity":{"enabled":true,"duration_secs":1801}}`}},
		{parseConfig, fineConfig, "timeouts.max_duration.duration_secs",
			[]string{`"timeouts":{"max_duration":{"enabled":true,"duration_secs":30}}`},
			[]string{`"timeouts":{"max_duration":{"enabled":true,"duration_secs":1801}}`}},
		{parseConfig, fineConfig, "examples",
			[]string{`"examples":[{"user":"When?","assistant":"At ten."},null]`, `"examples":[]`,
				`"examples":[{"user":"` + long(500) + `","assistant":"a"}]`},
			[]string{`"examples":[` + strings.Repeat(`{"user":"u","assistant":"a"},`, 32) +
				`{"user":"u","assistant":"a"}]`}},
		{parseConfig, fineConfig, "examples[0].user",
			[]string{`"examples":[{"user":"When?","assistant":"At ten."}]`},
			[]string{`"examples":[{"user":" ","assistant":"At ten."}]`,
				`"examples":[{"user":"` + long(501) + `","assistant":"a"}]`}},
		{parseConfig, fineConfig, "nudges.interval_secs", []string{`"nudges":{"enabled":true,"interval_secs":1}`},
			[]string{`"nudges":{"interval_secs":0}`, `"nudges":{"interval_secs":1801}`}},
		{parseConfig, fineConfig, "event_messages.on_new_chat.text",
			[]string{`"event_messages":{"on_new_chat":{"enabled":true,"text":"` + long(10_000) + `"}}`},
			[]string{`"event_messages":{"on_new_chat":{"enabled":true,"text":"` + long(10_001) + `"}}`}},
		{parseConfig, fineConfig, "builtin_tools",
			[]string{`"builtin_tools":[{"name":"hang_up"},null,{"name":"web_search"}]`},
			[]string{`"builtin_tools":[{"name":"hang_up"},{"name":"hang_up"}]`}},
		{parseConfig, fineConfig, "builtin_tools[0].name", nil, []string{`"builtin_tools":[{"name":"rm"}]`}},
		{parseConfig, fineConfig, "builtin_tools[0].fallback_content",
			[]string{`"builtin_tools":[{"name":"hang_up","fallback_content":"` + long(2047) + `"}]`},
			[]string{`"builtin_tools":[{"name":"hang_up","fallback_content":"` + long(2048) + `"}]`}},
		{parseConfig, fineConfig, "tools[1].id", []string{`"tools":[{"id":"a"},null,{"id":"b","version":3}]`},
			[]string{`"tools":[{"id":"a"},{"id":"a","version":1}]`}},
		{parseConfig, fineConfig, "tools", []string{`"tools":[` + many(`{"id":"t%d"}`, 128) + `]`},
			[]string{`"tools":[` + many(`{"id":"t%d"}`, 129) + `]`}},
		{parseConfig, fineConfig, "webhooks[0].url",
			[]string{`"webhooks":[{"url":"https://h/x","events":[]}]`,
				`"webhooks":[{"url":"http://127.0.0.1:9/","events":["tool_call"]}]`},
			[]string{`"webhooks":[{"url":"","events":[]}]`, `"webhooks":[{"url":"/x","events":[]}]`,
				`"webhooks":[{"url":"ftp://h/x","events":[]}]`,
				`"webhooks":[{"url":"http://93.184.216.34/","events":[]}]`,
				`"webhooks":[{"url":"http://[::ffff:93.184.216.34]/","events":[]}]`,
				`"webhooks":[{"url":"https://169.254.169.254/latest","events":[]}]`,
				`"webhooks":[{"url":"https://[fe80::1%25eth0]/","events":[]}]`,
				`"webhooks":[{"url":"https://0.0.0.0/","events":[]}]`,
				`"webhooks":[{"url":"https://h:0/","events":[]}]`,
				`"webhooks":[{"url":"https://h:65536/","events":[]}]`,
				`"webhooks":[{"url":"https://h/#x","events":[]}]`, `"webhooks":[{"url":"https:///x","events":[]}]`,
				`"webhooks":[{"url":"https://h/\u0000","events":[]}]`,
				`"webhooks":[{"url":"https://a b/","events":[]}]`,
				`"webhooks":[{"url":"https://h/` + long(2048) + `","events":[]}]`}},
		{parseConfig, fineConfig, "webhooks[0].events[1]", nil,
			[]string{`"webhooks":[{"url":"https://h/x","events":["chat_ended","chat_begun"]}]`}},
		{parseConfig, fineConfig, "webhooks",
			[]string{`"webhooks":[` + many(`{"url":"https://h/%d","events":[]}`, 32) + `]`},
			[]string{`"webhooks":[` + many(`{"url":"https://h/%d","events":[]}`, 33) + `]`}},

		{parsePrompt, finePrompt, "name", []string{`"name":"` + long(74) + `"`},
			[]string{`"name":"` + long(75) + `"`, `"name":"\t"`}},
		{parsePrompt, finePrompt, "text", []string{`"text":"` + long(100_000) + `"`},
			[]string{`"text":"` + long(100_001) + `"`, `"text":""`, `"text":"\n "`}},
		{parsePrompt, finePrompt, "version_description", []string{`"version_description":"` + long(255) + `"`},
			[]string{`"version_description":"` + long(256) + `"`}},

		{parseTool, fineTool, "name", []string{`"name":"` + long(64) + `"`},
			[]string{`"name":"` + long(65) + `"`, `"name":""`}},
		{parseTool, fineTool, "description", []string{`"description":"` + long(511) + `"`},
			[]string{`"description":"` + long(512) + `"`}},
		{parseTool, fineTool, "fallback_content", []string{`"fallback_content":"` + long(2047) + `"`},
			[]string{`"fallback_content":"` + long(2048) + `"`}},
		{parseTool, fineTool, "version_description", []string{`"version_description":"` + long(255) + `"`},
			[]string{`"version_description":"` + long(256) + `"`}},
		{parseTool, fineTool, "parameters", []string{`"parameters":"{}"`},
			[]string{`"parameters":""`, `"parameters":"{"`, `"parameters":"[]"`,
				`"parameters":"{\"type\":\"thing\"}"`}},
	} {
		for _, fine := range c.fine {
			if err := c.parse(body(t, c.base, fine)); err != nil {
				t.Errorf("%.80s: %v", fine, err)
			}
		}
		for _, past := range c.past {
			err := c.parse(body(t, c.base, past))
			if invalid, ok := errors.AsType[ErrInvalid](err); !ok || invalid.Field != c.field || invalid.Why == "" {
				t.Errorf("%.80s: %.200v, want an ErrInvalid of %s", past, err, c.field)
			}
		}
	}
}

func many(format string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(items, ",")
}

func TestErrorsNameThePathOfTheField(t *testing.T) {
	for _, c := range []struct {
		parse       func([]byte) error
		body        string
		place, kind string
	}{
		{parseConfig, ``, "body", "malformed"},
		{parseConfig, `{`, "body", "malformed"},
		{parseConfig, `{} {}`, "body", "malformed"},
		{parseConfig, "{\"name\":\"\xff\"}", "body", "malformed"},
		{parseConfig, strings.Repeat("[", 20000), "body", "malformed"},
		{parseConfig, `{"name":"a\ud83d","evi_version":"4-mini"}`, "body", "malformed"},
		{parseConfig, `{"name":"\udc00\ud800","evi_version":"4-mini"}`, "body", "malformed"},
		{parseConfig, `{"name":"a","evi_version":"4-mini","x":"\\\ud83d\u0041"}`, "body", "malformed"},
		{parseConfig, `[]`, "body", "wrong_type"},
		{parseConfig, `null`, "body", "wrong_type"},
		{parseConfig, `"x"`, "body", "wrong_type"},
		{parseConfig, `{"evi_version":"4-mini"}`, "body.name", "missing"},
		{parseConfig, `{"name":null,"evi_version":"4-mini"}`, "body.name", "missing"},
		{parseConfig, `{"name":7,"evi_version":"4-mini"}`, "body.name", "wrong_type"},
		{parseConfig, `{"name":"n"}`, "body.evi_version", "missing"},
		{parseConfig, `{"name":"n","evi_version":3}`, "body.evi_version", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"3","voice":{}}`, "body.voice", "missing"},
		{parseConfig, `{"name":"n","evi_version":"3","voice":"joe"}`, "body.voice", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","tools":{}}`, "body.tools", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","tools":[{"id":"a"},7]}`, "body.tools[1]", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","tools":[{}]}`, "body.tools[0].id", "missing"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","prompt":{"id":"x","version":1.5}}`, "body.prompt.version",
			"wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","timeouts":{"inactivity":{}}}`,
			"body.timeouts.inactivity.enabled", "missing"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","turn_detection":{"end_of_turn_silence_ms":"800"}}`,
			"body.turn_detection.end_of_turn_silence_ms", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","turn_detection":{"speech_detection_threshold":"0.5"}}`,
			"body.turn_detection.speech_detection_threshold", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","ellm_model":{"allow_short_responses":"no"}}`,
			"body.ellm_model.allow_short_responses", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","webhooks":[{"url":"https://h/","events":"chat_ended"}]}`,
			"body.webhooks[0].events", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","webhooks":[{"url":"https://h/","events":[1]}]}`,
			"body.webhooks[0].events[0]", "wrong_type"},
		{parseConfig, `{"name":"n","evi_version":"4-mini","webhooks":[{"events":[]}]}`, "body.webhooks[0].url",
			"missing"},
		{parsePrompt, `{"name":"n"}`, "body.text", "missing"},
		{parsePrompt, `{"name":"n","text":["x"]}`, "body.text", "wrong_type"},
		{parseTool, `{"name":"n","parameters":{"type":"object"}}`, "body.parameters", "wrong_type"},
		{parseTool, `{"parameters":"{}"}`, "body.name", "missing"},
	} {
		malformed, ok := errors.AsType[ErrMalformed](c.parse([]byte(c.body)))
		if !ok || path(malformed.Detail[0].Loc) != c.place || malformed.Detail[0].Type != c.kind ||
			malformed.Detail[0].Msg == "" {
			t.Errorf("%.90s: %+v, want %s at %s", c.body, malformed, c.kind, c.place)
		}
		for i, d := range malformed.Detail {
			if i > 0 && reflect.DeepEqual(d, malformed.Detail[i-1]) {
				t.Errorf("%.90s: told twice: %+v", c.body, d)
			}
		}
	}
}

func TestUnknownFieldsAreIgnoredAndNullIsAbsent(t *testing.T) {
	c, err := Parse[PostedConfig]([]byte(`{"name":"n","evi_version":"4-mini","prompt":null,"tools":null,"voice":null,` +
		`"webhooks":null,"timeouts":null,
		"nudges":{"enabled":null},"colour":"blue","turn_detection":{"mood":1,"prefix_padding_ms":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Prompt != nil || c.Tools != nil || c.Voice != nil || c.TurnDetection.PrefixPaddingMS != nil {
		t.Errorf("%+v", c)
	}
}

func TestAnEmptyConfigHasTheDefaults(t *testing.T) {
	c, err := Parse[PostedConfig]([]byte(`{"name":"n","evi_version":"4-mini"}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(c.Record())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"","version":0,"name":"","evi_version":"4-mini","ellm_model":{"allow_short_responses":true},` +
		`"tools":[],"builtin_tools":[],` +
		`"event_messages":{"on_new_chat":{"enabled":false},"on_inactivity_timeout":{"enabled":false},` +
		`"on_max_duration_timeout":{"enabled":false}},` +
		`"timeouts":{"inactivity":{"enabled":true,"duration_secs":600},"max_duration":{"enabled":true,` +
		`"duration_secs":1800}},` +
		`"turn_detection":{"end_of_turn_silence_ms":800,"speech_detection_threshold":0.5,"prefix_padding_ms":300},` +
		`"interruption":{"min_interruption_ms":800},"nudges":{"enabled":false,"interval_secs":10},"webhooks":[],` +
		`"created_on":0,"modified_on":0}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What was posted is not lost where defaults are, also where it is zero.
func TestPostedValuesOverrideTheDefaults(t *testing.T) {
	posted := `{"name":"n","evi_version":"4-mini","prompt_expansion":"ZERO",` +
		`"ellm_model":{"allow_short_responses":false},
		"event_messages":{"on_new_chat":{"enabled":true,"text":"Hi"}},
		"timeouts":{"inactivity":{"enabled":false},"max_duration":{"enabled":true,"duration_secs":60}},
		"turn_detection":{"speech_detection_threshold":0,"prefix_padding_ms":0},"nudges":{"enabled":true,` +
		`"interval_secs":5},
		"language_model":{"model_provider":"OPEN_AI","model_resource":"gpt-4o","temperature":0},
		"builtin_tools":[{"name":"hang_up","fallback_content":"Bye"}],"webhooks":[{"url":"https://h/",` +
		`"events":["chat_ended"]}]}`
	c, err := Parse[PostedConfig]([]byte(posted))
	if err != nil {
		t.Fatal(err)
	}
	r := c.Record()
	if *r.EllmModel.AllowShortResponses || r.EventMessages.OnNewChat.Text != "Hi" || r.Timeouts.Inactivity.Enabled ||
		*r.Timeouts.Inactivity.DurationSecs != 600 || *r.Timeouts.MaxDuration.DurationSecs != 60 ||
		*r.TurnDetection.SpeechDetectionThreshold != 0 || *r.TurnDetection.PrefixPaddingMS != 0 ||
		*r.TurnDetection.EndOfTurnSilenceMS != 800 ||
		!r.Nudges.Enabled || *r.Nudges.IntervalSecs != 5 || *r.LanguageModel.Temperature != 0 ||
		r.PromptExpansion != "ZERO" ||
		r.BuiltinTools[0].Name != HangUp || r.BuiltinTools[0].FallbackContent != "Bye" ||
		r.Webhooks[0].Events[0] != WebhookChatEnded {
		t.Errorf("%+v", r)
	}
}

func TestAnInvalidSchemaIsNamedWithItsPath(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"strin"}}}`: "'/properties/a/type'",
		`{"required":"a"}`:                     "'/required': got string, want array",
		`{"properties":{"a":{"pattern":"("}}}`: "'/properties/a/pattern'",
		`{"$ref":"https://example.com/x"}`:     `refers to "https://example.com/x"`,
		`{"$ref":"file:///etc/passwd"}`:        `refers to "file:///etc/passwd"`,
		`{"$ref":"other.json"}`:                `refers to "other.json"`,
		`{"$ref":"/etc/passwd#/a"}`:            `refers to "etc/passwd"`,
		`{"$ref":"#/$defs/x"}`:                 "not found",
		` `:                                    "it is empty",
		`{"properties":{"a":{"patternProperties":{"(":{}}}}}`: "'/properties/a/patternProperties'",
		`{"allOf":[` + many(`{"a":%d}`, 5001) + `]}`:          "more than 5000 parts",
		`{"$schema":"http://example.com/s"}`:                  `refers to "http://example.com/s"`,
		`{"a":`:                                               "not valid JSON",
		`{} x`:                                                "not valid JSON",
		`true`:                                                "expected an object",
		`{"multipleOf":1e999999999}`:                          "1e999999999 is out of range",
		`{"minimum":1e-999999999}`:                            "1e-999999999 is out of range",
		strings.Repeat(`{"not":`, 201) + "{}" + strings.Repeat("}", 201): "nested more than 200 deep",
	} {
		if got := schemaProblem(text); !strings.Contains(got, want) {
			t.Errorf("%.80s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		`{}`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"$ref":"#"}`,
		`{"type":"object","properties":{"city":{"type":"string","pattern":"^(?!x)\\w+$"}},"required":["city"],` +
			`"additionalProperties":false}`,
		`{"$defs":{"a":{"enum":[1,null]}},"properties":{"x":{"$ref":"#/$defs/a"}},"x-ours":1}`,
	} {
		if why := schemaProblem(text); why != "" {
			t.Errorf("%s: %s", text, why)
		}
	}
}

func TestSchemaCheckUsesLittleMemory(t *testing.T) {
	for name, text := range map[string]string{
		"long repetitions": `{"allOf":[` + many(`{"pattern":"%da{990}"}`, 3500) + `]}`,
		"large classes":    `{"pattern":"(?i)` + strings.Repeat(`[^a-z\\pL]*`, 8000) + `"}`,
		"long mistake":     `{"pattern":"` + strings.Repeat("(", 900) + `"}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		why := schemaProblem(text)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 || len(why) > 1000 {
			t.Errorf("%s: %d bytes of text took %d, and %d to say so", name, len(text), used, len(why))
		}
	}
}

func TestBodiesWithTooManyEntriesAreRejected(t *testing.T) {
	for field, wide := range map[string]string{
		"body":               many(`"%d":0`, maxFields),
		"voice":              `"voice":{` + many(`"%d":0`, maxFields+1) + `}`,
		"tools":              `"tools":[` + many(`%d`, 400_000) + `]`,
		"webhooks[0].events": `"webhooks":[{"url":"https://h/","events":[` + many(`%d`, 400_000) + `]}]`,
	} {
		err := parseConfig([]byte(`{"name":"n","evi_version":"4-mini",` + wide + `}`))
		if invalid, ok := errors.AsType[ErrInvalid](err); !ok || invalid.Field != field ||
			!strings.Contains(invalid.Why, "are allowed") {
			t.Errorf("%s: %.200v", field, err)
		}
	}
	if err := parseConfig([]byte(`{"name":"{[,\",\\","evi_version":"4-mini",` +
		many(`"%d":[1,{"a":0,"b":0}]`, maxFields-2) + `}`)); err != nil {
		t.Errorf("as wide as may be: %.200v", err)
	}
	if _, err := ParseClientMessage([]byte(`{"type":"user_input","text":"a",` + many(`"%d":0`, maxFields) +
		`}`)); err == nil || !strings.Contains(err.Error(), "are allowed") {
		t.Errorf("a message: %.200v", err)
	}
}

// fuzzBody holds for any bytes that a body is read or refused with one of the
// two kinds, and that what was read says the same when it is written and read
// again.
func fuzzBody[T any](f *testing.F, parse func([]byte) (T, error), seeds ...string) {
	for _, seed := range append(seeds, `{`, `null`, `{"name":"\ud800","version_description":7}`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := string(data)
		v, err := parse(data)
		if string(data) != before {
			t.Fatal("the body was changed")
		}
		if err != nil {
			_, malformed := errors.AsType[ErrMalformed](err)
			if _, invalid := errors.AsType[ErrInvalid](err); malformed == invalid || err.Error() == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		written, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parse(written)
		again, _ := json.Marshal(back)
		if err != nil || !reflect.DeepEqual(again, written) {
			t.Fatalf("%s\n%s\n%s, %v", data, written, again, err)
		}
	})
}

func FuzzPostedConfig(f *testing.F) {
	fuzzBody(f, Parse[PostedConfig], fineConfig,
		`{"name":"n","evi_version":"4-mini","prompt":{"text":"t","prompt_expansion":{"enabled":false}},`+
			`"tools":[{"id":"a","version":1},null],"builtin_tools":[{"name":"hang_up"}]}`,
		`{"name":"n","evi_version":"4-mini","language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL",`+
			`"model_resource":"https://h/x","temperature":1e0},"webhooks":[{"url":"http://localhost",`+
			`"events":["tool_call"]}]}`,
		`{"name":"n","evi_version":"4-mini","timeouts":{"inactivity":{"enabled":true,"duration_secs":30}},`+
			`"turn_detection":{"end_of_turn_silence_ms":5e2},"nudges":{},`+
			`"event_messages":{"on_new_chat":{"enabled":true}}}`)
}

func FuzzPostedConfigVersion(f *testing.F) {
	fuzzBody(f, Parse[PostedConfigVersion], fineConfig, `{"evi_version":"2"}`)
}

func FuzzPostedPrompt(f *testing.F) {
	fuzzBody(f, Parse[PostedPrompt], finePrompt, `{"name":"n","text":"{{now}}","prompt_expansion":{}}`)
}

func FuzzPostedPromptVersion(f *testing.F) { fuzzBody(f, Parse[PostedPromptVersion], finePrompt) }

func FuzzPostedUserDefinedTool(f *testing.F) {
	fuzzBody(f, Parse[PostedUserDefinedTool], fineTool,
		`{"name":"n","parameters":"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/b\",\"pattern\":\"^(?=x)\"}},`+
			`\"$defs\":{\"b\":{\"minimum\":1e5}}}"}`)
}

func FuzzPostedUserDefinedToolVersion(f *testing.F) {
	fuzzBody(f, Parse[PostedUserDefinedToolVersion], fineTool)
}

func FuzzPostedName(f *testing.F) { fuzzBody(f, Parse[PostedName], `{"name":"n"}`) }

func FuzzPostedVersionDescription(f *testing.F) {
	fuzzBody(f, ParsePostedVersionDescription, `{"version_description":"d"}`)
}
