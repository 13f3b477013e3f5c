package contract

import (
	"reflect"
	"testing"
)

func TestTheNextVersionOfAConfigHasAllOfIt(t *testing.T) {
	posted, err := Parse[PostedConfigVersion]([]byte(`{
		"evi_version": "3", "prompt_expansion": "ZERO",
		"examples": [{"user": "a", "assistant": "b"}],
		"answers": {"mode": "only", "unknown": "no", "items": [{"id": "a", "ask": ["b"], "say": "c"}]},
		"voice": {"id": "v", "provider": "CUSTOM_VOICE"},
		"prompt": {"id": "00000000-0000-4000-8000-000000000001", "version": 3, "prompt_expansion": {"enabled": false}},
		"language_model": {"model_provider": "OPEN_AI", "model_resource": "m", "temperature": 1, "fallback": []},
		"ellm_model": {"allow_short_responses": false},
		"tools": [{"id": "00000000-0000-4000-8000-000000000002", "version": 0},
			{"id": "00000000-0000-4000-8000-000000000003"}],
		"builtin_tools": [{"name": "hang_up", "fallback_content": "f"},
			{"name": "transfer", "destinations": [{"name": "desk", "to": "100"}]}],
		"event_messages": {"on_new_chat": {"enabled": true, "text": "t"}, "on_mailbox": {"enabled": true, "text": "m"}},
		"timeouts": {"inactivity": {"enabled": false, "duration_secs": 40}},
		"turn_detection": {"mode": "semantic", "end_of_turn_silence_ms": 600},
		"interruption": {"min_interruption_ms": 60}, "nudges": {"enabled": true, "interval_secs": 7},
		"webhooks": [{"url": "https://example.org/x", "events": ["chat_ended"]}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	record := recordOf(posted)
	next := record.Next()
	if again := recordOf(next); !reflect.DeepEqual(again, record) {
		t.Errorf("%+v\nbecame\n%+v", record, again)
	}
	if !reflect.DeepEqual(next.Prompt, posted.Prompt) || !reflect.DeepEqual(next.Tools, posted.Tools) ||
		!reflect.DeepEqual(next.Voice, posted.Voice) || !reflect.DeepEqual(next.BuiltinTools, posted.BuiltinTools) {
		t.Errorf("%+v", next)
	}
	sent := reflect.ValueOf(next)
	for i := range sent.NumField() {
		if name := sent.Type().Field(i).Name; sent.Field(i).IsZero() && name != "VersionDescription" {
			t.Errorf("%s is not in the next version", name)
		}
	}
}

// recordOf returns the record of a version whose prompt and tools have 7 versions.
func recordOf(c PostedConfigVersion) ReturnConfig {
	version := func(v *int) (int, VersionType) {
		if v == nil {
			return 7, VersionLatest
		}
		return *v, VersionFixed
	}
	r := c.Record()
	r.Voice = &ReturnVoice{ID: c.Voice.ID, Provider: c.Voice.Provider}
	r.Prompt = &ReturnPrompt{ID: c.Prompt.ID, PromptExpansion: c.Prompt.PromptExpansion}
	r.Prompt.Version, r.Prompt.VersionType = version(c.Prompt.Version)
	for _, ref := range c.Tools {
		t := ReturnUserDefinedTool{ID: ref.ID}
		t.Version, t.VersionType = version(ref.Version)
		r.Tools = append(r.Tools, t)
	}
	return r
}
