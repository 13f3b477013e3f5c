package reply

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"parley/appliance/text"
)

// requestText lists the words of requests, one a line, in sections. The deeds are what an assistant that can
// only speak cannot do; naming one is a request ("Send a bottle of water."). The services count only in a
// question such as "Can you wash my car?". Asking for information is not a request ("Tell me a joke.").
//
//go:embed requests.txt
var requestText string

var requestWords = func() map[string]string {
	out, section := map[string]string{}, ""
	for line := range strings.FieldsFuncSeq(requestText, func(r rune) bool { return r == '\n' }) {
		if name, heading := strings.CutPrefix(line, "["); heading {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		out[section] += line + " "
	}
	return out
}()

const (
	// whose are words that must follow a deed that is ambiguous without them: "get me a taxi", but not "get
	// off at the harbour".
	whose = "me us my our him her them"
	what  = "a an the some one two three " + whose
	// maxRequest is the longest text that is checked, in bytes: a minute of speech.
	maxRequest = 1000
)

// isRequest reports whether the user asks for something to be done ("Please wake me up at six", "Could you
// sign me up?"), rather than whether something is allowed or true.
func isRequest(said string) bool {
	if len(said) > maxRequest {
		return false
	}
	requested, asked := false, false
	for _, s := range text.Sentences(said) {
		isRequested := isRequestSentence(s)
		requested = requested || isRequested
		// a question asked last is answered instead
		asked = !isRequested && (asked || strings.HasSuffix(strings.TrimSpace(s), "?"))
	}
	return requested && !asked
}

// isRequestSentence reports whether a sentence is a request.
func isRequestSentence(sentence string) bool {
	words := wordsOf(sentence)
	for len(words) > 0 && in(words[0], requestWords["polite"]) {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	hasAny := func(of string) bool { return slices.ContainsFunc(words[1:], func(w string) bool { return in(w, of) }) }
	last := strings.Join(words[len(words)-2:], " ")
	switch question := strings.HasSuffix(strings.TrimSpace(sentence), "?"); {
	case in(words[0], "can could would will") && words[1] == "you":
		words = words[2:]
		for len(words) > 0 && in(words[0], requestWords["polite"]) {
			words = words[1:]
		}
		return len(words) > 1 && in(words[0], requestWords["services"]) && isDeed(words) &&
			(hasAny("me us my our please") || words[0] == "tell")
	case len(words) > 4 && (in(words[0], "i'd i we'd we")) &&
		strings.Contains(strings.Join(words[:min(5, len(words))], " "), " you to "):
		for words[0] != "to" {
			words = words[1:]
		}
		return len(words) > 2 && isDeed(words[1:])
	case question && !in(words[len(words)-1], "please") &&
		!slices.Contains([]string{"will you", "would you", "can you", "could you"}, last):
		return false
	}
	return isDeed(words)
}

// isDeed reports whether words begin with a deed and its object.
func isDeed(words []string) bool {
	if len(words) < 2 || !in(words[0], requestWords["deeds"]) {
		return false
	}
	next, hasAny := words[1], func(of string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return in(w, of) })
	}
	switch words[0] {
	case "tell":
		return !in(next, "me us") && !hasAny(requestWords["information"])
	case "let":
		return in(next, "me us him her them") && len(words) > 2 && in(words[2], "in out through")
	case "call", "ring":
		// "call me Tom"
		name := next == "me" && len(words) == 3 && !in(words[2], "back again now later today tomorrow please up")
		return in(next, what+" somebody someone back") && !name
	case "get", "bring", "fetch", "take", "leave":
		return in(next, what) && !hasAny(requestWords["information"]) &&
			(in(next, whose) || in(words[0], "bring fetch") || hasAny("message note order"))
	case "turn", "switch":
		return hasAny("on off up down") && !in(next, "left right")
	case "open", "close", "start", "stop", "set", "play", "write":
		return in(next, what+" to down music") && !hasAny(requestWords["information"])
	case "move", "change", "fix", "repair", "mend", "clean", "wash", "iron", "buy", "pay":
		return in(next, whose)
	case "hold", "keep", "save":
		return in(next, what) && hasAny("for") && hasAny("me us")
	}
	return !isNumber(next) && !in(next, "is are was costs cost number") || hasAny("for please me us")
}

// in reports whether a word is in a list of words separated by spaces.
func in(word, list string) bool { return word != "" && strings.Contains(" "+list+" ", " "+word+" ") }

// isNumber reports whether a word is a number, in digits or as a word up to ten.
func isNumber(w string) bool {
	return strings.ContainsAny(w, "0123456789") || in(w, "one two three four five six seven eight nine ten")
}

// wordsOf returns the words of a text in lower case. A word with a hyphen counts as two.
func wordsOf(s string) []string {
	words := text.Written(electric.ReplaceAllString(s, "${1}e$2"))
	for i, w := range words {
		words[i] = strings.TrimSuffix(strings.Trim(w, "'"), "'s")
	}
	return words
}

// electric matches words that would change their meaning without the "e-", such as e-bike.
var electric = regexp.MustCompile(`(?i)(^|[^a-z0-9])e-([a-z])`)
