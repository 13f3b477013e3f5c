package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// parsers read what Bodies and ClientMessages describe.
func parsers() map[string]func([]byte) error {
	all := map[string]func([]byte) error{
		"PostedConfig":          func(b []byte) error { _, err := Parse[PostedConfig](b); return err },
		"PostedConfigVersion":   func(b []byte) error { _, err := Parse[PostedConfigVersion](b); return err },
		"PostedPrompt":          func(b []byte) error { _, err := Parse[PostedPrompt](b); return err },
		"PostedPromptVersion":   func(b []byte) error { _, err := Parse[PostedPromptVersion](b); return err },
		"PostedUserDefinedTool": func(b []byte) error { _, err := Parse[PostedUserDefinedTool](b); return err },
		"PostedUserDefinedToolVersion": func(b []byte) error {
			_, err := Parse[PostedUserDefinedToolVersion](b)
			return err
		},
		"PostedName":                func(b []byte) error { _, err := Parse[PostedName](b); return err },
		"PostedUserDefinedToolName": func(b []byte) error { _, err := ParsePostedToolName(b); return err },
		"PostedPairing":             func(b []byte) error { _, err := Parse[PostedPairing](b); return err },
		"PostedKiosk":               func(b []byte) error { _, err := Parse[PostedKiosk](b); return err },
		"PostedKey":                 func(b []byte) error { _, err := Parse[PostedKey](b); return err },
		"PostedFleetBox":            func(b []byte) error { _, err := Parse[PostedFleetBox](b); return err },
		"PostedFleetGroups":         func(b []byte) error { _, err := Parse[PostedFleetGroups](b); return err },
		"PostedRollout":             func(b []byte) error { _, err := Parse[PostedRollout](b); return err },
		"PostedWebhookChoice":       func(b []byte) error { _, err := Parse[PostedWebhookChoice](b); return err },
		"PostedWebhookTest":         func(b []byte) error { _, err := Parse[PostedWebhookTest](b); return err },
		"PostedPassword":            func(b []byte) error { _, err := Parse[PostedPassword](b); return err },
		"PostedSetUp":               func(b []byte) error { _, err := Parse[PostedSetUp](b); return err },
		"PostedSignIn":              func(b []byte) error { _, err := Parse[PostedSignIn](b); return err },
		"PostedSessionAccount":      func(b []byte) error { _, err := Parse[PostedSessionAccount](b); return err },
		"PostedVersionDescription":  func(b []byte) error { _, err := ParsePostedVersionDescription(b); return err },
		"PostedPluginChange":        func(b []byte) error { _, err := Parse[PostedPluginChange](b); return err },
		"PostedAnswersCheck":        func(b []byte) error { _, err := Parse[PostedAnswersCheck](b); return err },
		"PostedTry":                 func(b []byte) error { _, err := Parse[PostedTry](b); return err },
		"PostedLexicon":             func(b []byte) error { _, err := Parse[PostedLexicon](b); return err },
		"PostedPronunciation":       func(b []byte) error { _, err := Parse[PostedPronunciation](b); return err },
		"PostedBatchJob":            func(b []byte) error { _, err := ParsePostedBatchJob(b); return err },
		"PostedPhoneCall":           func(b []byte) error { _, err := Parse[PostedPhoneCall](b); return err },
		"PostedPhoneTransfer":       func(b []byte) error { _, err := Parse[PostedPhoneTransfer](b); return err },
		"PostedConversion": func(b []byte) error {
			_, err := parseBody(b, readPostedConversion)
			return err
		},
		"PostedVoiceAlias":   func(b []byte) error { _, err := Parse[PostedVoiceAlias](b); return err },
		"PostedVoice":        func(b []byte) error { _, err := Parse[PostedVoice](b); return err },
		"PostedTTS":          func(b []byte) error { _, err := ParsePostedTTS(b, true); return err },
		"PostedPluginCall":   func(b []byte) error { _, err := Parse[PostedPluginCall](b); return err },
		"PostedOpenAISpeech": func(b []byte) error { _, err := Parse[PostedOpenAISpeech](b); return err },
		"PostedOpenAIChat":   func(b []byte) error { _, err := Parse[PostedOpenAIChat](b); return err },
		"PostedOpenAITranscription": func(b []byte) error {
			_, err := parseBody(b, readPostedOpenAITranscription)
			return err
		},
	}
	for _, m := range ClientMessages() {
		all[m.Name] = func(b []byte) error {
			_, err := ParseClientMessage(append([]byte(`{"type":"`+m.Name+`",`), b[1:]...))
			return err
		}
	}
	return all
}

// full is a value with all the fields of a shape, each as small as it may be.
// What fits a text by its meaning only stands here.
func full(name string, s *Shape) any {
	switch {
	case name == "parameters" && s.Kind == "string":
		return "{}"
	case name == "language" && s.Words == nil && s.Kind == "string":
		return "en"
	case name == "tool_choice":
		return "auto"
	case name == "stop" || name == "content" && s.Kind == "": // or a list
		return "x"
	case name == "url" || name == "callback_url":
		return "https://example.com"
	case name == "target":
		return "all"
	case name == "urls":
		return []any{"https://example.com"}
	case name == "data":
		return "AAAA"
	case s.Words != nil:
		return s.Words[len(s.Words)-1]
	}
	switch s.Kind {
	case "string":
		return "x"
	case "boolean":
		return true
	case "array":
		return []any{full("", s.Items)}
	case "object":
		o := map[string]any{}
		for field, f := range s.Fields {
			o[field] = full(field, f)
		}
		if name == "prompt" {
			delete(o, "text") // an id or a text
		}
		if o["ids"] != nil {
			delete(o, "all") // one of the two
		}
		if o["config_id"] != nil {
			delete(o, "answers") // one of the two
		}
		if o["utterances"] != nil {
			delete(o, "generation_id") // of a context: one of the two
		}
		if o["tool_calls"] != nil {
			o["role"] = "assistant" // others call no tools
		}
		if o["timestamp_granularities"] != nil {
			delete(o, "stream") // which has no times
			o["response_format"] = "verbose_json"
		}
		return o
	}
	return *s.Low
}

// wrongs are copies of a full value, each with one thing that the shape forbids.
func wrongs(whole map[string]any, s *Shape) map[string]map[string]any {
	all := map[string]map[string]any{}
	with := func(why, field string, v any) {
		bad := map[string]any{}
		for k, have := range whole {
			bad[k] = have
		}
		if bad[field] = v; v == nil {
			delete(bad, field)
		}
		all[field+": "+why] = bad
	}
	for _, field := range s.Required {
		with("missing", field, nil)
	}
	for field, f := range s.Fields {
		if whole[field] == nil {
			continue
		}
		if f.Kind != "object" {
			with("another type", field, map[string]any{})
		}
		switch {
		case f.Words != nil:
			with("another word", field, "hatstand")
		case f.Kind == "string" && f.High != nil:
			with("too long", field, strings.Repeat("x", int(*f.High)+1))
			if f.Low != nil {
				with("too short", field, "")
			}
		case f.Kind == "array":
			with("too many", field, slices.Repeat(whole[field].([]any), int(*f.High)+1))
			if f.Items.Kind == "object" {
				for why, bad := range wrongs(whole[field].([]any)[0].(map[string]any), f.Items) {
					with(why, field, []any{bad})
				}
			}
		case f.Kind == "integer" || f.Kind == "number":
			with("too low", field, *f.Low-1)
			with("too high", field, *f.High+1)
		case f.Kind == "object":
			for why, bad := range wrongs(whole[field].(map[string]any), f) {
				with(why, field, bad)
			}
		}
	}
	return all
}

func TestReadersAcceptExactlyWhatTheirShapeAllows(t *testing.T) {
	read, tried := parsers(), 0
	for _, b := range append(Bodies(), ClientMessages()...) {
		whole := full("", b.Shape).(map[string]any)
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		if err := read[b.Name](text); err != nil {
			t.Errorf("%s: %s: %v", b.Name, text, err)
		}
		for why, bad := range wrongs(whole, b.Shape) {
			text, err := json.Marshal(bad)
			if err != nil {
				t.Fatal(err)
			}
			tried++
			if read[b.Name](text) == nil {
				t.Errorf("%s takes what its shape forbids: %s: %.200s", b.Name, why, text)
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d wrong bodies were tried", tried)
	}
}

func TestTheConnectQueryHasTheBoundsOfItsShape(t *testing.T) {
	for name, f := range ConnectQuery().Shape.Fields {
		if f.Kind != "integer" {
			continue
		}
		for v, ok := range map[string]bool{fmt.Sprint(int(*f.Low)): true, fmt.Sprint(int(*f.Low) - 1): false,
			fmt.Sprint(int(*f.High) + 1): false} {
			if _, err := ParseConnectSettings(map[string][]string{name: {v}}); (err == nil) != ok {
				t.Errorf("%s=%s: %v", name, v, err)
			}
		}
	}
}
