package contract

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestAScreenCannotChangeItsConfig(t *testing.T) {
	for _, c := range []struct {
		message, names string // of what is refused; none: it is permitted
	}{
		{`{"type":"user_input","text":"Is it open?"}`, ""},
		{`{"type":"pause_assistant_message"}`, ""},
		{`{"type":"resume_assistant_message"}`, ""},
		{`{"type":"tool_response","tool_call_id":"a","content":"yes"}`, ""},
		{`{"type":"session_settings"}`, ""},
		{`{"type":"session_settings","audio":{"encoding":"linear16","sample_rate":16000,"channels":1},` +
			`"variables":{"language":"de"},"custom_session_id":"lobby","metadata":{"floor":2}}`, ""},
		{`{"type":"assistant_input","text":"I am a bank."}`, "assistant_input"},
		{`{"type":"session_settings","system_prompt":"You are a poet."}`, "system_prompt"},
		{`{"type":"session_settings","voice_id":"amy","variables":{"language":"de"}}`, "voice_id"},
		{`{"type":"session_settings","context":{"text":"You are a poet."}}`, "context"},
		{`{"type":"session_settings","context":null}`, "context"},
		{`{"type":"session_settings","builtin_tools":[{"name":"web_search"}],"tools":[{"type":"function","name":"a",` +
			`"parameters":"{}"}]}`, "builtin_tools, tools"},
		{`{"type":"session_settings","builtin_tools":[]}`, "builtin_tools"},
		{`{"type":"session_settings","tools":[]}`, "tools"},
		{`{"type":"session_settings","language_model_api_key":"k"}`, "language_model_api_key"},
	} {
		m, err := ParseClientMessage([]byte(c.message))
		if err != nil {
			t.Errorf("%s: %v", c.message, err)
			continue
		}
		f, refused := errors.AsType[Fault](CheckKioskMessage(m))
		if refused != (c.names != "") || refused && (f.Code != NotPermitted || !strings.Contains(f.Detail, c.names)) {
			t.Errorf("%s: %+v, want one of %q", c.message, f, c.names)
		}
	}
}

// A new setting must be classified: as allowed for screens, or as part of the
// config.
func TestEverySettingIsClassified(t *testing.T) {
	const all = `{"type":"session_settings","audio":{"encoding":"linear16","sample_rate":16000,"channels":1},` +
		`"builtin_tools":[{"name":"web_search"}],"context":{"text":"x"},"custom_session_id":"x",` +
		`"language_model_api_key":"x","metadata":{"x":1},"system_prompt":"x","tools":[{"type":"function","name":"a",` +
		`"parameters":"{}"}],"variables":{"x":"y"},"voice_id":"x"}`
	m, err := ParseClientMessage([]byte(all))
	if err != nil {
		t.Fatal(err)
	}
	s := m.(SessionSettings)
	const free = 5 // type, audio, variables, custom_session_id, metadata
	if fields, given := fieldsOf(SessionSettings{}), len(s.identityFields())+free; fields != given {
		t.Errorf("session_settings has %d fields, and %d are sorted", fields, given)
	}
}

// fieldsOf counts the fields that come on the wire.
func fieldsOf(s SessionSettings) (n int) {
	for f := range reflect.TypeOf(s).Fields() {
		if f.Tag.Get("json") != "-" {
			n++
		}
	}
	return n
}
