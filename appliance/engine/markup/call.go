package markup

import (
	"crypto/rand"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"parley/appliance/engine"
)

func ofName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}

// readCall parses the text of a call in any of the forms that models write. is says that the text
// has such a form; call is also nil if no tool has that name. to is the name if it preceded the
// text.
func readCall(s, to string, tools []engine.Tool) (call *engine.ToolCall, is bool) {
	type reader func(string, []engine.Tool) (name, arguments string)
	for _, read := range []reader{readTags, readObject, readNamed, readPythonic, readGemma} {
		name, arguments := "", ""
		if to != "" {
			if name, arguments = to, object(json.RawMessage(s)); arguments == "" {
				return nil, true
			}
		} else {
			name, arguments = read(s, tools)
		}
		known := toolName(name, tools)
		switch {
		case name == "" || known == "" && arguments == "":
			continue // {"name": "Ann"} may be any object
		case known == "":
			return nil, true
		case arguments == "":
			arguments = "{}"
		}
		return &engine.ToolCall{ID: "call_" + rand.Text()[:16], Name: known, Arguments: arguments}, true
	}
	return nil, false
}

// toolName returns the name of the tool that a model means, or ""; some models write
// "functions.look:0" for "look".
func toolName(name string, tools []engine.Tool) string {
	name = strings.TrimSpace(name)
	short, _, _ := strings.Cut(name, ":")
	for _, n := range []string{name, short, strings.TrimPrefix(short, "functions."),
		strings.TrimSuffix(short, ".call")} {
		if slices.ContainsFunc(tools, func(t engine.Tool) bool { return t.Name == n }) {
			return n
		}
	}
	return ""
}

// writtenCall is a call in JSON, with the field names of all formats.
type writtenCall struct {
	Name         string          `json:"name"`
	ToolName     string          `json:"tool_name"`
	FunctionName string          `json:"function_name"`
	Recipient    string          `json:"recipient_name"`
	Tool         string          `json:"tool"`
	Arguments    json.RawMessage `json:"arguments"`
	Parameters   json.RawMessage `json:"parameters"`
	Args         json.RawMessage `json:"args"`
	Input        json.RawMessage `json:"input"`
	Function     json.RawMessage `json:"function"` // the name, or an object with the rest
	FunctionCall json.RawMessage `json:"function_call"`
	ToolCall     json.RawMessage `json:"tool_call"`
	ToolCalls    json.RawMessage `json:"tool_calls"`
}

// readObject parses {"name": …, "arguments": {…}}, or the first element of a list of such objects.
// arguments is "" if there are none.
func readObject(s string, _ []engine.Tool) (name, arguments string) {
	at := strings.IndexAny(s, "{[")
	for at >= 0 {
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(s[at:])).Decode(&raw) == nil {
			if name, arguments = fromJSON(raw, 0); name != "" {
				return name, arguments
			}
			at += len(raw)
		} else {
			at++
		}
		next := strings.IndexAny(s[at:], "{[")
		if next < 0 {
			break
		}
		at += next
	}
	return "", ""
}

// maxWrapping is how many objects may enclose a call: {"tool_calls": [{"function": {…}}]}.
const maxWrapping = 3

func fromJSON(raw json.RawMessage, depth int) (name, arguments string) {
	var list []json.RawMessage
	if depth > maxWrapping || len(raw) == 0 {
		return "", ""
	}
	if json.Unmarshal(raw, &list) == nil {
		if len(list) == 0 {
			return "", ""
		}
		return fromJSON(list[0], depth+1)
	}
	var w writtenCall
	if json.Unmarshal(raw, &w) != nil {
		return "", ""
	}
	for _, within := range []json.RawMessage{w.Function, w.FunctionCall, w.ToolCall, w.ToolCalls} {
		if name, arguments = fromJSON(within, depth+1); name != "" {
			return name, arguments
		}
	}
	var function string
	_ = json.Unmarshal(w.Function, &function) // an object was handled above
	for _, n := range []string{w.Name, w.ToolName, w.FunctionName, w.Recipient, w.Tool, function} {
		if name == "" {
			name = n
		}
	}
	given := false
	for _, a := range []json.RawMessage{w.Arguments, w.Parameters, w.Args, w.Input} {
		if arguments == "" && len(a) > 0 {
			arguments, given = object(a), true
		}
	}
	if name == "" || given && arguments == "" {
		return "", ""
	}
	return name, arguments
}

// object returns a JSON object, given as such or as a JSON string; null is an empty one. It returns
// "" for anything else.
func object(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		raw = json.RawMessage(text)
	}
	var fields map[string]json.RawMessage
	trimmed := strings.TrimSpace(string(raw))
	switch {
	case trimmed == "" || trimmed == "null":
		return "{}"
	case json.Unmarshal(raw, &fields) != nil:
		return ""
	}
	return trimmed
}

// between matches a name and the marks between it and its arguments.
var between = regexp.MustCompile("(?s)([\\w.:-]+)\\s*" +
	"(?:<[^<>{}]*>|\\[ARGS\\]|\\[CALL_ID\\][\\w-]*|```(?:json)?|:|\\s)*\\s*$")

// readNamed parses a name followed by the arguments as an object, as Mistral, DeepSeek, Kimi and
// Llama write it.
func readNamed(s string, _ []engine.Tool) (name, arguments string) {
	at := strings.IndexByte(s, '{')
	if at < 0 {
		return "", ""
	}
	found := between.FindStringSubmatch(s[:at])
	var raw json.RawMessage
	if found == nil || json.NewDecoder(strings.NewReader(s[at:])).Decode(&raw) != nil {
		return "", ""
	}
	return found[1], object(raw)
}

var (
	functionTag  = regexp.MustCompile(`(?i)<(?:function|invoke)(?:\s+name)?\s*=\s*["']?([\w.-]+)["']?\s*>`)
	parameterTag = regexp.MustCompile(
		`(?is)<parameter(?:\s+name)?\s*=\s*["']?([\w.-]+)["']?[^>]*>\s*(.*?)\s*</parameter>`)
	glmName     = regexp.MustCompile(`(?s)^\s*(?:<[^<>]*>)?\s*([\w.-]+)\s*(?:<arg_key>|</|$)`)
	glmArgument = regexp.MustCompile(`(?s)<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>\s*(.*?)\s*</arg_value>`)
)

// readTags parses <function=name><parameter=key>value</parameter>, as Qwen and others write it,
// Llama's <function=name>{…}, and GLM's name<arg_key>key</arg_key><arg_value>value</arg_value>.
func readTags(s string, tools []engine.Tool) (name, arguments string) {
	parameters := parameterTag
	head := functionTag.FindStringSubmatchIndex(s)
	if head == nil {
		if head = glmName.FindStringSubmatchIndex(s); head == nil || toolName(s[head[2]:head[3]], tools) == "" {
			return "", ""
		}
		parameters = glmArgument
	}
	name = s[head[2]:head[3]]
	body := s[head[3]:]
	if at := strings.IndexByte(body, '{'); at >= 0 && parameters.FindStringIndex(body) == nil {
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(body[at:])).Decode(&raw) == nil {
			return name, object(raw)
		}
		return "", ""
	}
	values := map[string]json.RawMessage{}
	for _, p := range parameters.FindAllStringSubmatch(body, -1) {
		values[p[1]] = value(p[2], p[1], toolName(name, tools), tools)
	}
	out, _ := json.Marshal(values) // marshalling valid JSON cannot fail
	return name, string(out)
}

// value converts an unquoted argument to JSON of the type that the tool's parameters define.
func value(written, key, name string, tools []engine.Tool) json.RawMessage {
	quoted, _ := json.Marshal(written)
	at := slices.IndexFunc(tools, func(t engine.Tool) bool { return t.Name == name })
	if at < 0 || !json.Valid([]byte(written)) {
		return quoted
	}
	var schema struct {
		Properties map[string]struct {
			Type json.RawMessage `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(tools[at].Parameters, &schema) // another form of schema does not define the type
	if strings.Contains(string(schema.Properties[key].Type), "string") && written[0] != '"' {
		return quoted
	}
	return json.RawMessage(written)
}
