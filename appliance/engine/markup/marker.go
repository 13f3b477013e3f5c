package markup

import (
	"slices"
	"strings"
)

// A kind says how a marker affects the text around it.
type kind int

const (
	literal         kind = iota // not a marker
	dropped                     // only the marker itself is removed
	possibleThought             // encloses what may be a thought: not a marker, but a state of a Filter
	thought                     // encloses the model's reasoning
	tool                        // encloses a tool call
	result                      // encloses a tool result, which a model makes up
	ending                      // ends the reply
	message                     // ends a message of the assistant; in some formats another one follows
	role                        // begins a message; the author follows
	channel                     // gpt-oss: the channel of a message follows
	headerEnd                   // ends the words after role or channel; the message itself begins
	headerGap                   // separates those words
)

// A marker is one marker of a model's markup.
type marker struct {
	kind  kind
	name  string // in lower case
	close bool   // ends what the marker of the same name began
	raw   string
}

// Limits of markers, in bytes. With lower limits real markers would be cut; with higher ones a text
// with a lone "<" would wait too long.
const (
	maxSpecialBytes = 64  // "<｜tool▁calls▁begin｜>" has 33
	maxTagBytes     = 256 // <details type="reasoning" done="true" duration="12">
)

// triggers are the first characters of markers.
const triggers = "<[◁"

// readMarker parses the marker at the beginning of s, which begins with one of triggers. wait says
// that more text is needed to decide.
func readMarker(s string) (m marker, wait bool) {
	switch {
	case s[0] == '[':
		return readBracket(s)
	case s[0] != '<':
		return readTriangle(s)
	case len(s) == 1:
		return marker{}, true
	case s[1] == '|' || strings.HasPrefix(s[1:], wideBar):
		return readSpecial(s)
	case strings.HasPrefix(wideBar, s[1:]):
		return marker{}, true
	case s[1] == '<':
		return readExact(s, "<<SYS>>", "<</SYS>>")
	}
	return readTag(s)
}

// wideBar takes the place of "|" in the markers of DeepSeek's models.
const wideBar = "｜"

// readSpecial parses <|name|>, <|name> or <｜name｜>.
func readSpecial(s string) (m marker, wait bool) {
	end := strings.IndexAny(s[1:], "<>\n") + 1
	switch {
	case end == 0:
		return marker{}, len(s) < maxSpecialBytes
	case s[end] != '>' || end >= maxSpecialBytes:
		return marker{}, false
	}
	inner := strings.ToLower(strings.ReplaceAll(s[1:end], wideBar, "|"))
	open := !strings.HasSuffix(inner, "|") // Gemma 4: <|channel>thought … <channel|>
	name := strings.ReplaceAll(strings.Trim(inner, "|"), "▁", "_")
	if name == "" || strings.Contains(name, " ") {
		return marker{}, false
	}
	return special(name, open, s[:end+1]), false
}

// special returns the marker with this name. Unknown markers belong to the template of some model
// and are dropped.
func special(name string, open bool, raw string) marker {
	m := marker{kind: dropped, name: name, raw: raw}
	if known, ok := specials[name]; ok {
		m.kind = known
	}
	name, closes := strings.CutPrefix(name, "/")
	for _, w := range [...]string{"end_of_", "end_"} {
		if rest, found := strings.CutPrefix(name, w); found {
			name, closes = rest, true
		}
	}
	if rest, found := strings.CutSuffix(name, "_end"); found {
		name, closes = rest, true
	}
	for _, w := range [...]string{"begin_of_", "start_", "_begin", "_start"} {
		name = strings.TrimSuffix(strings.TrimPrefix(name, w), w)
	}
	switch {
	case open && m.name == "channel":
		m.kind, name = thought, "channel"
	case m.kind != dropped:
		return m
	case slices.Contains(thoughtNames, name):
		m.kind = thought
	case strings.Contains(name, "tool_output"), strings.Contains(name, "tool_response"),
		strings.Contains(name, "tool_result"):
		m.kind = result
	case strings.Contains(name, "tool_call"), name == "action", name == "python_tag", name == "function_call":
		m.kind = tool
	}
	m.name, m.close = name, closes
	return m
}

// readTag parses <name …>, </name>, and Gemma 4's <name|>.
func readTag(s string) (m marker, wait bool) {
	at := 1
	if s[at] == '/' {
		m.close = true
		at++
	}
	for at < len(s) && s[at] == ' ' && at < 4 { // "< think >"
		at++
	}
	n := strings.IndexFunc(s[at:], func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-:", r)
	})
	if n < 0 {
		n = len(s) - at
	}
	name := strings.ToLower(s[at : at+n])
	if at+n == len(s) {
		return marker{}, beginsTag(name)
	}
	m.kind = tagKind(name)
	if m.kind == literal || !strings.ContainsRune(" >/=|\t", rune(s[at+n])) {
		return marker{}, false
	}
	end := strings.IndexAny(s[1:], "<>\n") + 1
	switch {
	case end == 0:
		return marker{}, len(s) < maxTagBytes
	case s[end] != '>' || end >= maxTagBytes:
		return marker{}, false
	}
	m.name, m.raw = name, s[:end+1]
	switch {
	case s[end-1] == '|':
		m.close = true
	case name == "turn" || name == "channel":
		return marker{}, false // without the bar they are ordinary text
	case s[end-1] == '/' && m.kind != tool: // <think/> holds nothing
		m.kind = dropped
	}
	if name == "s" && !m.close {
		m.kind = dropped // only </s> ends a reply
	}
	return m, false
}

// readBracket parses the markers of Mistral's and Llama 2's formats.
func readBracket(s string) (m marker, wait bool) {
	for _, b := range brackets {
		if strings.HasPrefix(s, b.raw) {
			return b, false
		}
		wait = wait || strings.HasPrefix(b.raw, s)
	}
	return marker{}, wait
}

// readTriangle parses Kimi's ◁think▷ and ◁/think▷.
func readTriangle(s string) (m marker, wait bool) {
	m, wait = readExact(s, "◁think▷", "◁/think▷")
	if m.raw != "" {
		m.kind, m.name, m.close = thought, "think", strings.Contains(m.raw, "/")
	}
	return m, wait
}

func readExact(s string, all ...string) (m marker, wait bool) {
	for _, raw := range all {
		if strings.HasPrefix(s, raw) {
			return marker{kind: dropped, name: raw, raw: raw}, false
		}
		wait = wait || strings.HasPrefix(raw, s)
	}
	return marker{}, wait
}

// ends reports whether m ends what opener began.
func (m marker) ends(opener marker) bool {
	switch {
	case m.kind == ending:
		return true
	case opener.kind == channel || opener.name == "channel" && opener.kind == tool:
		return m.kind == message || m.kind == role || m.kind == channel
	case m.kind == message && opener.kind == tool:
		return true
	case !m.close || m.kind != opener.kind:
		return false
	case opener.name == "details" || m.name == "details":
		return opener.name == m.name
	}
	return m.kind == thought || m.name == opener.name
}
