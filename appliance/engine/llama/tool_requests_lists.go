package llama

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"parley/appliance/engine"
)

// "What's the weather in Rome and in Oslo?" requests one tool twice. After the answer for Rome the
// words request it as much as before, so the remaining request is written out, "What's the weather
// in Oslo?", and judged.

// listSeparator matches what separates the items of a list, in the languages that the box speaks.
var listSeparator = regexp.MustCompile(
	`(?i),?\s+(?:and|plus|as well as|und|sowie|et|y|e|en|och|oraz|ve)\s+(?:(?:also|then|auch|aussi)\s+)?|,\s+`)

var (
	// prepositions and determiners come before an item; they are repeated in a list.
	prepositions = wordSet(
		"in to for from at of about near into on nach für von um à au en pour de a per di da para naar voor")
	determiners = wordSet(
		"the my our a an this that number room der die das den dem mein meine le la les mon ma el los las " +
			"mi il lo gli het")
	// trailingWords are words at the end of a sentence that do not belong to a list.
	trailingWords = wordSet("please too also thanks bitte auch")
)

// maxListedWords is the most words of an item of a list.
const maxListedWords = 5

// A madeCall is a tool call that was made, with its argument values.
type madeCall struct {
	name   string
	values []any // strings, numbers and lists; booleans say nothing
}

func madeCalls(since []engine.ToolCall) []madeCall {
	out := make([]madeCall, len(since))
	for i, c := range since {
		out[i].name = c.Name
		var all map[string]any
		if json.Unmarshal([]byte(c.Arguments), &all) != nil {
			continue
		}
		for _, name := range sortedKeys(all) {
			switch all[name].(type) {
			case string, float64, []any:
				out[i].values = append(out[i].values, all[name])
			}
		}
	}
	return out
}

// answers reports whether the call answers a request: the request mentions all of its values.
func (c madeCall) answers(request string) bool {
	src := newSource([]engine.Message{{Role: engine.User, Content: request}})
	for _, v := range c.values {
		if !src.mentions(v) {
			return false
		}
	}
	return true
}

// mentions reports whether a value was said in these words.
func (s source) mentions(value any) bool {
	switch v := value.(type) {
	case float64:
		return s.hasNumber(v)
	case string:
		words := wordsOf(v)
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
			return !stopWords[w] && !s.hasWord(w) && !s.hasTime(v)
		})
	case []any:
		return slices.ContainsFunc(v, s.mentions)
	}
	return false
}

// hasTime reports whether text is a time that was said.
func (s source) hasTime(text string) bool {
	m := wholeClock.FindStringSubmatch(text)
	return m != nil && s.hasClock(m[1], m[2])
}

// listedRequests returns the requests of the lists in the user's words, each written out, that none
// of the calls since has answered.
func listedRequests(user string, since []engine.ToolCall) []string {
	made := madeCalls(since)
	things := listSeparator.Split(oneLine(user), -1)
	var out []string
	head := things[0]
	for _, thing := range things[1:] {
		request := expandListed(head, thing, made)
		switch {
		case request == "":
			if len(strings.Fields(thing)) >= minRequestWords {
				head = thing // another sentence, which may have a list of its own
			}
		case !slices.ContainsFunc(made, func(c madeCall) bool { return c.answers(request) }):
			out = append(out, request)
		case !slices.ContainsFunc(made, func(c madeCall) bool {
			return c.answers(head) || !c.answers(request)
		}) && !slices.Contains(out, head):
			out = append(out, head) // the second item was called for first
		}
	}
	return out
}

// expandListed returns head with thing in place of the first item of its list, or "" if it is no
// list. A call must have been made with one of the two items.
func expandListed(head, thing string, made []madeCall) string {
	words := trimTrailing(strings.Fields(thing))
	if len(words) == 0 || len(words) > maxListedWords {
		return ""
	}
	before := strings.Fields(head)
	first := strings.ToLower(words[0])
	if !prepositions[first] && !determiners[first] {
		at := bareListStart(before, words, made)
		if at < 0 {
			return ""
		}
		return strings.Join(append(before[:at:at], words...), " ")
	}
	at := len(before) - 1
	for ; at > 0 && !strings.EqualFold(before[at], words[0]); at-- {
	}
	if at <= 0 || len(before)-at > maxListedWords || !calledWith(before[at:], made) && !calledWith(words, made) {
		return ""
	}
	return strings.Join(append(before[:at:at], words...), " ")
}

// trimTrailing returns words without trailing words.
func trimTrailing(words []string) []string {
	for len(words) > 0 && trailingWords[strings.ToLower(strings.Trim(words[len(words)-1], ".,!?"))] {
		words = words[:len(words)-1]
	}
	return words
}

// calledWith reports whether words mention one of the values of the calls.
func calledWith(words []string, made []madeCall) bool {
	src := newSource([]engine.Message{{Role: engine.User, Content: strings.Join(words, " ")}})
	return slices.ContainsFunc(made, func(c madeCall) bool { return slices.ContainsFunc(c.values, src.mentions) })
}

// bareListStart returns where the first item of a list begins in the words before it, if the next
// item has no preposition or determiner ("A1007 and B2210"): both items are of one kind, and a call
// was made with the first. It returns -1 if it is no list.
func bareListStart(before, words []string, made []madeCall) int {
	kind := wordKind(words)
	if kind == "" || slices.ContainsFunc(before, func(w string) bool { return strings.EqualFold(w, "between") }) {
		return -1
	}
	at := len(before)
	for at > 1 && wordKind(before[at-1:at]) == kind { // the first word is always capitalised
		at--
	}
	if at == len(before) || !calledWith(before[at:], made) {
		return -1
	}
	return at
}

// wordKind returns the kind of thing that words name: "number" (numbers and codes), "name", or ""
// for anything else.
func wordKind(words []string) string {
	kind := ""
	for _, w := range words {
		w = strings.Trim(w, ".,!?\"'")
		current := ""
		switch _, numeral := numerals[strings.ToLower(w)]; {
		case w == "":
		case numeral, strings.ContainsFunc(w, unicode.IsDigit):
			current = "number"
		case unicode.IsUpper([]rune(w)[0]) && w != "I":
			current = "name"
		}
		if current == "" || kind != "" && current != kind {
			return ""
		}
		kind = current
	}
	return kind
}

// placeWords are words in the names of arguments that are a single place; several places need
// several calls.
var placeWords = wordSet("city town village place location country region station airport stop")

// firstOfLists reduces arguments of a first call that hold a whole list where a single code or
// place belongs to the first item.
func firstOfLists(arguments string) string {
	var all map[string]any
	if json.Unmarshal([]byte(arguments), &all) != nil {
		return arguments
	}
	cut := false
	for name, value := range all {
		text, ok := value.(string)
		if !ok {
			continue
		}
		things := listSeparator.Split(text, -1)
		if len(things) < 2 || slices.Contains(things, "") {
			continue
		}
		codes := !slices.ContainsFunc(things, func(s string) bool {
			return !strings.ContainsFunc(s, unicode.IsDigit) || strings.Contains(s, " ")
		})
		named := slices.ContainsFunc(nameWords(name), func(w string) bool { return placeWords[w] }) &&
			!slices.ContainsFunc(things, func(s string) bool { return wordKind(strings.Fields(s)) != "name" })
		// "Springfield, Illinois" is one place.
		if codes || named && !strings.Contains(text, ",") || named && len(things) > 2 {
			all[name], cut = things[0], true
		}
	}
	if !cut {
		return arguments
	}
	out, err := json.Marshal(all)
	if err != nil {
		return arguments
	}
	return string(out)
}

// alreadyCalled reports whether a tool was already called with these arguments: all arguments of
// both calls are equal, ignoring case.
func alreadyCalled(since []engine.ToolCall, name, arguments string) bool {
	var wanted map[string]any
	if json.Unmarshal([]byte(arguments), &wanted) != nil {
		return false
	}
	return slices.ContainsFunc(since, func(c engine.ToolCall) bool {
		var made map[string]any
		if c.Name != name || json.Unmarshal([]byte(c.Arguments), &made) != nil {
			return false
		}
		for key, value := range wanted {
			if was, there := made[key]; there && !sameValue(value, was) {
				return false
			}
		}
		return true
	})
}

func sameValue(a, b any) bool {
	one, _ := json.Marshal(a)
	other, _ := json.Marshal(b)
	return strings.EqualFold(string(one), string(other))
}
