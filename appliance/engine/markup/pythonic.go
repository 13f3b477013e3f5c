package markup

import (
	"encoding/json"
	"regexp"
	"strings"

	"parley/appliance/engine"
)

var pythonCall = regexp.MustCompile(`([A-Za-z_][\w.-]*)\s*\(`)

// readPythonic parses name(key="value", other=3), within a list or a print, as Llama 4, LFM2 and
// Gemma 3 write it.
func readPythonic(s string, tools []engine.Tool) (name, arguments string) {
	for _, at := range pythonCall.FindAllStringSubmatchIndex(s, -1) {
		called := s[at[2]:at[3]]
		values, ok := keywords(s[at[1]:])
		if !ok {
			continue
		}
		if name == "" || toolName(called, tools) != "" {
			out, _ := json.Marshal(values) // of valid JSON
			name, arguments = called, string(out)
		}
		if toolName(called, tools) != "" {
			break
		}
	}
	return name, arguments
}

var keyword = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*=\s*`)

// keywords parses key=value pairs up to the closing bracket.
func keywords(s string) (map[string]json.RawMessage, bool) {
	out := map[string]json.RawMessage{}
	for {
		s = strings.TrimLeft(s, ", \n")
		if strings.HasPrefix(s, ")") {
			return out, true
		}
		key := keyword.FindStringSubmatch(s)
		if key == nil {
			return nil, false
		}
		value, rest, ok := literalValue(s[len(key[0]):])
		if !ok {
			return nil, false
		}
		out[key[1]], s = value, rest
	}
}

// literalValue parses a Python literal and returns it as JSON.
func literalValue(s string) (value json.RawMessage, rest string, ok bool) {
	for word, as := range map[string]string{"True": "true", "False": "false", "None": "null"} {
		if after, found := strings.CutPrefix(s, word); found {
			return json.RawMessage(as), after, true
		}
	}
	if strings.HasPrefix(s, "'") {
		end := strings.IndexByte(s[1:], '\'') + 1
		if end == 0 {
			return nil, "", false
		}
		value, _ = json.Marshal(s[1:end])
		return value, s[end+1:], true
	}
	d := json.NewDecoder(strings.NewReader(s))
	if d.Decode(&value) != nil {
		return number(s)
	}
	return value, s[d.InputOffset():], true
}

// number parses a number that is followed by other text, as in "3)", which is not valid JSON.
func number(s string) (value json.RawMessage, rest string, ok bool) {
	n := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) })
	if n <= 0 || !json.Valid([]byte(s[:n])) {
		return nil, "", false
	}
	return json.RawMessage(s[:n]), s[n:], true
}

var (
	gemmaCall  = regexp.MustCompile(`(?s)call:([\w.-]+)\s*\{(.*)\}`)
	gemmaValue = regexp.MustCompile(`(?s)(\w+):(?:<escape>(.*?)<escape>|<\|"\|>(.*?)<\|"\|>|([^,{}]*))`)
)

// readGemma parses call:name{key:<escape>value<escape>}, also with <|"|> in place of <escape>.
func readGemma(s string, _ []engine.Tool) (name, arguments string) {
	found := gemmaCall.FindStringSubmatch(s)
	if found == nil {
		return "", ""
	}
	values := map[string]json.RawMessage{}
	for _, v := range gemmaValue.FindAllStringSubmatch(found[2], -1) {
		raw := json.RawMessage(strings.TrimSpace(v[4]))
		if !json.Valid(raw) {
			raw, _ = json.Marshal(v[2] + v[3] + v[4])
		}
		values[v[1]] = raw
	}
	out, _ := json.Marshal(values)
	return found[1], string(out)
}
