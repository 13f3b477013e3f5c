package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// readSettings parses session settings of a message or, untyped, of the query
// that opens a chat. It checks what does not depend on the settings in force.
func readSettings(o object) SessionSettings {
	s := SessionSettings{
		Audio:               readAudioConfiguration(o),
		BuiltinTools:        each(o, "builtin_tools", MaxSessionTools, readBuiltinTool),
		Context:             optional(o, "context", readContext),
		ClearContext:        o.isNull("context"),
		CustomSessionID:     o.sessionID(),
		LanguageModelAPIKey: readModelKey(o),
		Metadata:            readMetadata(o),
		SystemPrompt:        o.textOrNil("system_prompt", MaxPromptChars),
		Tools:               each(o, "tools", MaxSessionTools, readTool),
		Variables:           readVariables(o),
		VoiceID:             o.text("voice_id", MaxModelResourceChars),
	}
	if s.SystemPrompt != nil && strings.TrimSpace(*s.SystemPrompt) == "" {
		o.note("system_prompt", "wrong_value", "empty; leave it out to keep the prompt in force")
	}
	noteSharedNames(o, s)
	noteSize(o, "tools", []any{s.BuiltinTools, s.Tools}, MaxToolsBytes)
	whole := s
	whole.LanguageModelAPIKey = "" // it is not stored
	noteSize(o, "", whole, MaxSettingsBytes)
	return s
}

// readModelKey parses a key that is sent in a header. The error does not repeat
// it.
func readModelKey(o object) string {
	const name = "language_model_api_key"
	key := o.text(name, MaxModelResourceChars)
	if strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		o.note(name, "wrong_value",
			"it has a space or another character that is not allowed in a key; allowed: printable ASCII")
		return ""
	}
	return key
}

// noteSize bounds the size of a value as JSON.
func noteSize(o object, name string, read any, most int) {
	if o.shape != nil || len(*o.problems) > 0 {
		return // the message is rejected anyway
	}
	if text, err := Marshal(read); err != nil {
		o.note(name, "malformed", "not valid JSON: "+err.Error())
	} else if len(text) > most {
		o.note(name, "wrong_value", fmt.Sprintf("%d bytes as JSON; at most %d are allowed", len(text), most))
	}
}

// readAudioConfiguration requires every field of the format. A query may leave
// out the channels (one) and the encoding (there is only one), but not the rate.
func readAudioConfiguration(o object) *AudioConfiguration {
	a, ok := o.object("audio")
	if !ok {
		return nil
	}
	a.require("sample_rate")
	if !o.untyped {
		a.require("encoding", "channels")
	}
	c := &AudioConfiguration{
		Channels:   a.integer("channels", 1, MaxChannels),
		Codec:      a.text("codec", MaxNameChars),
		Encoding:   choice(a, "encoding", Linear16),
		SampleRate: a.integer("sample_rate", MinSampleRateHz, MaxSampleRateHz),
	}
	if o.untyped && c.Channels == 0 {
		c.Channels = 1
	}
	if o.untyped && c.Encoding == "" {
		c.Encoding = Linear16
	}
	return c
}

func readContext(c object) Context {
	c.require("text")
	kind := choice(c, "type", ContextPersistent, ContextTemporary, contextEditable)
	if kind == contextEditable {
		kind = ContextPersistent
	}
	return Context{Text: c.text("text", MaxPromptChars), Type: kind}
}

func readBuiltinTool(t object) BuiltinToolConfig {
	t.require("name")
	c := BuiltinToolConfig{
		Name:            choice(t, "name", WebSearch, HangUp, Transfer, SendDigits),
		FallbackContent: t.text("fallback_content", MaxFallbackContentChars),
		Destinations:    each(t, "destinations", MaxDestinations, readDestination),
	}
	if c.Name != Transfer {
		c.Destinations = nil // no other tool has any
	}
	noteSharedDestinations(t, c.Destinations)
	return c
}

// noteSharedDestinations notes a problem for two destinations with the same name: a model chooses by the name.
func noteSharedDestinations(t object, all []TransferDestination) {
	seen := map[string]bool{}
	for _, d := range all {
		if name := strings.ToLower(d.Name); d.Name != "" && seen[name] {
			t.note("destinations", "wrong_value", fmt.Sprintf("two destinations have the name %q", d.Name))
		} else {
			seen[name] = true
		}
	}
}

func readTool(t object) Tool {
	t.require("type", "parameters")
	return Tool{
		Type:            choice(t, "type", ToolFunction), // those of the box are in builtin_tools
		Name:            t.label("name", MaxToolNameChars),
		Parameters:      t.schema("parameters", MaxPromptChars),
		Description:     t.text("description", MaxToolDescriptionChars),
		FallbackContent: t.text("fallback_content", MaxFallbackContentChars),
	}
}

// noteSharedNames notes a problem for two tools with the same name: a model calls
// a tool by its name.
func noteSharedNames(o object, s SessionSettings) {
	seen := map[string]string{}
	for _, t := range s.BuiltinTools {
		if t.Name != "" && seen[string(t.Name)] != "" {
			o.note("builtin_tools", "wrong_value", fmt.Sprintf("%q is listed twice", string(t.Name)))
		}
		seen[string(t.Name)] = "builtin_tools"
	}
	for _, t := range s.Tools {
		switch seen[t.Name] {
		case "tools":
			o.note("tools", "wrong_value", fmt.Sprintf("two tools have the name %q", t.Name))
		case "builtin_tools":
			o.note("tools", "wrong_value",
				fmt.Sprintf("%q is the name of a built-in tool that is also enabled", t.Name))
		}
		if t.Name != "" {
			seen[t.Name] = "tools"
		}
	}
}

func readMetadata(o object) map[string]json.RawMessage {
	m, ok := o.object("metadata")
	if !ok {
		return nil
	}
	if raw, _ := o.get("metadata"); len(raw) > MaxMetadataBytes {
		o.note("metadata", "wrong_value", fmt.Sprintf("%d bytes; at most %d are allowed", len(raw), MaxMetadataBytes))
	}
	return m.fields
}

func readVariables(o object) map[string]VariableValue {
	given, ok := o.object("variables")
	if !ok {
		return nil
	}
	if len(given.fields) > MaxVariables {
		o.note("variables", "wrong_value",
			fmt.Sprintf("%d variables; at most %d are allowed", len(given.fields), MaxVariables))
		return nil
	}
	values := make(map[string]VariableValue, len(given.fields))
	for name := range given.fields {
		raw, ok := given.get(name)
		if !ok {
			continue
		}
		var v VariableValue
		if v.UnmarshalJSON(raw) != nil {
			given.wrongType(name, "a string, a number or a boolean", raw)
			continue
		}
		if n := utf8.RuneCountInString(name); n > MaxVariableNameChars {
			given.note(name, "wrong_value",
				fmt.Sprintf("its name has %d characters; at most %d are allowed", n, MaxVariableNameChars))
		}
		if n := utf8.RuneCountInString(v.text); n > MaxVariableChars {
			given.note(name, "wrong_value", fmt.Sprintf("%d characters; at most %d are allowed", n, MaxVariableChars))
		}
		values[name] = v
	}
	return values
}

// readDestination parses where a call may be handed over to.
func readDestination(d object) TransferDestination {
	d.require("name", "to")
	ring := d.integerOrNil("ring_secs", MinRingSecs, MaxRingSecs)
	t := TransferDestination{
		Name:     d.label("name", MaxToolNameChars),
		To:       d.phoneNumber("to"),
		Attended: d.boolean("attended"),
		RingSecs: DefaultRingSecs,
	}
	if ring != nil {
		t.RingSecs = *ring
	}
	return t
}
