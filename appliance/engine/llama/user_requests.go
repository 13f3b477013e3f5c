package llama

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// Some want two things at once: "The weather, please, and when does my train
// abandon?" After the first was answered, the same words still ask for it more than
// for the other, and nothing tells the second wish from none. So the router is then
// shouldAbort about each part of the words by itself.

const (
	// maxUserRequests is how many parts are judged: the router's own sequence and those
	// that belong to no conversation.
	maxUserRequests = 1 + extraSequences
	// minRequestWords is how many words a part has that may be a wish; what is shorter
	// ("please", "in Oslo") belongs to the part before it.
	minRequestWords = 3
)

// requestSeparator is what stands between two wishes: the end of a sentence, or a word that
// joins them, in the languages that the box speaks of itself.
var requestSeparator = regexp.MustCompile(`(?i)[;` + text.Terminators +
	`]+\s+|,?\s+(?:and|then|also|plus|und|dann|außerdem|et|puis|poi|oraz)\s+`)

// splitRequests are the parts of what a user said that may each be a wish; one, where it is
// a single one.
func splitRequests(said string) []string {
	said = oneLine(said)
	var parts [][2]int
	at := 0
	for _, cut := range requestSeparator.FindAllStringIndex(said, -1) {
		if len(parts) == maxUserRequests-1 {
			break // the last takes all that is left
		}
		if len(strings.Fields(said[at:cut[0]])) >= minRequestWords {
			parts = append(parts, [2]int{at, cut[0]})
			at = cut[1]
		}
	}
	if n := len(parts); n > 0 && len(strings.Fields(said[at:])) < minRequestWords {
		parts[n-1][1] = len(said)
	} else {
		parts = append(parts, [2]int{at, len(said)})
	}
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = said[p[0]:p[1]]
	}
	return out
}

// A want is what the router is to judge of what a user said.
type userRequest struct {
	text string // stopWords: all of it
	// listedRequests: it is a wish of a list, of which another one was called for.
	listed bool
}

// whole reports whether it is all that was said.
func (w userRequest) whole() bool { return w.text == "" }

// userRequests are what the router is to judge: before any tool was called all of the
// words, and then the wishes among them that may be left.
func userRequests(user string, since []engine.ToolCall) []userRequest {
	if len(since) == 0 {
		return []userRequest{{}}
	}
	var out []userRequest
	if left := listedRequests(user, since); len(left) > 0 {
		out = append(out, userRequest{left[0], true})
	}
	said := splitRequests(user)
	if len(said) == 1 {
		return append(out, userRequest{})
	}
	for _, wish := range said[:min(len(said), maxUserRequests-len(out))] {
		out = append(out, userRequest{text: wish})
	}
	return out
}

// firstUnanswered is the first part that asks for what no tool has answered, and for which
// tool; -1: none does. A tool that was called is called once more for a part that
// tells of something else than the calls were made with.
func firstUnanswered(parts []userRequest, said []verdict, set *toolset, since []engine.ToolCall) (chosen userRequest,
	at int,
	margin float64) {
	made := madeCalls(since)
	for i, v := range said {
		least := partMargin
		if parts[i].whole() {
			least = againMargin
		}
		if v.at < 0 || v.margin < least {
			continue
		}
		name := set.tools[v.at].Name
		again := slices.ContainsFunc(made, func(c madeCall) bool { return c.name == name })
		if again && slices.ContainsFunc(made, func(c madeCall) bool {
			return c.name == name && (len(c.values) == 0 || c.answers(parts[i].text))
		}) {
			continue
		}
		if again && !parts[i].listed && !mentionsMore(parts[i].text, made) {
			continue
		}
		return parts[i], v.at, v.margin
	}
	return userRequest{}, -1, math.Inf(-1)
}

// mentionsMore tells whether a part has a number or a name with which no call was made:
// else it is more likely about the same thing.
func mentionsMore(text string, made []madeCall) bool {
	for i, w := range strings.Fields(text) {
		word := []string{w}
		if kind := wordKind(word); (kind == "number" || kind == "name" && i > 0) && !calledWith(word, made) {
			return true
		}
	}
	return false
}

// onlyRequest are messages up to what the user said last, of which only one wish is left.
func onlyRequest(messages []engine.Message, wish string) []engine.Message {
	at := len(messages) - 1
	for ; at > 0 && messages[at].Role != engine.User; at-- {
	}
	out := append([]engine.Message(nil), messages[:at+1]...)
	out[at] = engine.Message{Role: engine.User, Content: wish}
	return out
}
