package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readers are the messages that a client may send, in the order in which errors
// list them.
var readers = []struct {
	kind string
	read func(object) ClientMessage
}{
	{"audio_input", nil}, // parsed by readAudio: it has its own errors
	{"session_settings", func(o object) ClientMessage { return readSettings(o) }},
	{"user_input", func(o object) ClientMessage {
		return UserInput{Text: o.inputText(), CustomSessionID: o.sessionID()}
	}},
	{"assistant_input", func(o object) ClientMessage {
		return AssistantInput{Text: o.inputText(), CustomSessionID: o.sessionID()}
	}},
	{"tool_response", func(o object) ClientMessage { return readToolResponse(o) }},
	{"tool_error", func(o object) ClientMessage { return readToolError(o) }},
	{"pause_assistant_message", func(o object) ClientMessage {
		return PauseAssistantMessage{CustomSessionID: o.sessionID()}
	}},
	{"resume_assistant_message", func(o object) ClientMessage {
		return ResumeAssistantMessage{CustomSessionID: o.sessionID()}
	}},
}

// ParseClientMessage parses a text frame of a client. Unknown fields are ignored
// and null means absent. The error is always a Fault with the path
// ("session_settings.audio.sample_rate: …"), the value, and what is allowed.
func ParseClientMessage(data []byte) (ClientMessage, error) {
	if m, ok := fastAudioInput(data); ok {
		return m, nil
	}
	return parseMessage(data, kinds())
}

func parseMessage(data []byte, allowed []string) (ClientMessage, error) {
	fields, kind, fault := openMessage(data, allowed)
	if fault != nil {
		return nil, *fault
	}
	var problems []ValidationError
	o := object{loc: []any{kind}, fields: fields, problems: &problems}
	if kind == (AudioInput{}).MessageType() {
		return readAudio(o)
	}
	m := read(kind, o)
	if len(problems) > 0 {
		return nil, faultOf(kind, problems)
	}
	return m, nil
}

// openMessage parses the fields and the type of a message, which must be one of
// allowed.
func openMessage(data []byte, allowed []string) (fields map[string]json.RawMessage, kind string, fault *Fault) {
	if !utf8.Valid(data) {
		return nil, "", &Fault{Code: BrokenJSON, Detail: "It is not UTF-8."}
	}
	if why := tooManyEntries(data, "fields", maxFields); why != "" {
		return nil, "", &Fault{Code: WrongShape, Detail: why + "."}
	}
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, "", notAnObject(data, err)
	}
	raw, ok := fields["type"]
	switch {
	case !ok || json.Unmarshal(raw, &kind) != nil || kindOf(raw) != "string":
		return nil, "", &Fault{
			Code:   UnknownMessage,
			Detail: "type: missing or not a string; allowed: " + joinWords(allowed),
		}
	case slices.Contains(allowed, kind):
		return fields, kind, nil
	case slices.Contains(kinds(), kind):
		return nil, "", &Fault{Code: UnknownMessage,
			Detail: fmt.Sprintf("type: %s is not taken here; allowed: %s", kind, joinWords(allowed))}
	}
	return nil, "", &Fault{Code: UnknownMessage,
		Detail: fmt.Sprintf("type: %q is unknown; allowed: %s", Clip(kind), joinWords(allowed))}
}

// read parses a message of any kind but audio.
func read(kind string, o object) ClientMessage {
	for _, r := range readers {
		if r.kind == kind {
			return r.read(o)
		}
	}
	return nil
}

func notAnObject(data []byte, err error) *Fault {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Fault{Code: BrokenJSON, Detail: fmt.Sprintf("At byte %d: %s.", syntax.Offset, syntax.Error())}
	}
	return &Fault{Code: WrongShape, Detail: "Expected an object, got " + excerpt(data) + "."}
}

// faultOf returns a Fault with the first few problems.
func faultOf(kind string, problems []ValidationError) Fault {
	const most = 3
	code := WrongShape
	if kind == (SessionSettings{}).MessageType() {
		code = InvalidSettings
	}
	said := make([]string, 0, most+1)
	for i, p := range problems {
		if i == most {
			said = append(said, fmt.Sprintf("and %d more", len(problems)-most))
			break
		}
		said = append(said, p.String())
	}
	return Fault{Code: code, Detail: strings.Join(said, "; ")}
}

func kinds() []string {
	all := make([]string, len(readers))
	for i, r := range readers {
		all[i] = r.kind
	}
	return all
}

// inputText parses the text of user_input and assistant_input.
func (o object) inputText() string {
	o.require("text")
	return o.text("text", MaxInputChars)
}

// sessionID parses the client's session id. It must be one line, because it is
// passed on to webhooks, to queries of custom language models and to logs.
func (o object) sessionID() string {
	const name = "custom_session_id"
	id := o.text(name, MaxCustomSessionIDChars)
	if !o.noteFirst(name, id, "has the control character %U; allowed are characters that print", unicode.IsControl) {
		return ""
	}
	return id
}

func readToolResponse(o object) ToolResponseMessage {
	o.require("tool_call_id", "content")
	return ToolResponseMessage{
		ToolCallID:      o.text("tool_call_id", MaxCustomSessionIDChars),
		Content:         o.text("content", MaxPromptChars),
		ToolName:        o.text("tool_name", MaxToolNameChars),
		ToolType:        choice(o, "tool_type", ToolBuiltin, ToolFunction),
		CustomSessionID: o.sessionID(),
	}
}

func readToolError(o object) ToolErrorMessage {
	o.require("tool_call_id", "error")
	return ToolErrorMessage{
		ToolCallID:      o.text("tool_call_id", MaxCustomSessionIDChars),
		Error:           o.text("error", MaxPromptChars),
		Code:            o.text("code", MaxCustomSessionIDChars),
		Content:         o.text("content", MaxPromptChars),
		Level:           choice(o, "level", LevelWarn),
		ToolType:        choice(o, "tool_type", ToolBuiltin, ToolFunction),
		CustomSessionID: o.sessionID(),
	}
}

// readAudioFields parses an audio_input except its audio.
func readAudioFields(o object) AudioInput {
	o.require("data")
	o.expect("data", Shape{Kind: "string"})
	return AudioInput{CustomSessionID: o.sessionID()}
}

func readAudio(o object) (ClientMessage, error) {
	m := readAudioFields(o)
	raw, there := o.get("data")
	if there && kindOf(raw) != "string" {
		o.wrongType("data", "a string of base64", raw)
	}
	if len(*o.problems) > 0 {
		return nil, faultOf("audio_input", *o.problems)
	}
	var err error
	if m.Data, err = decodeBase64(raw); err != nil {
		return nil, Fault{Code: BrokenBase64, Detail: "audio_input.data: " + err.Error()}
	}
	return m, nil
}

// decodeBase64 decodes a JSON string of base64. It accepts both alphabets and
// missing padding, because clients differ.
func decodeBase64(raw json.RawMessage) ([]byte, error) {
	text := raw[1 : len(raw)-1]           // without its quotes
	if bytes.IndexByte(text, '\\') >= 0 { // some writers escape every slash
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		text = []byte(s)
	}
	text = bytes.TrimRight(text, "= \r\n")
	alphabet := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		alphabet = base64.RawURLEncoding
	}
	data := make([]byte, alphabet.DecodedLen(len(text)))
	n, err := alphabet.Decode(data, text)
	at, broken := errors.AsType[base64.CorruptInputError](err)
	switch {
	case !broken:
		return data[:n], err
	case len(text)%4 == 1 && n/3*4 == len(text)-1: // valid base64 except for the end
		return nil, fmt.Errorf("%d characters are no whole number of bytes", len(text))
	default:
		some := text[min(int(at), len(text)):min(int(at)+maxClipChars, len(text))]
		return nil, fmt.Errorf("no base64 at character %d of %d: %q", int64(at), len(text), Clip(string(some)))
	}
}
