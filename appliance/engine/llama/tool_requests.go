package llama

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// Some users make two requests at once: "The weather, please, and when does my train leave?" After
// the first is answered, the same words still ask for it more than for the second, and nothing
// distinguishes the second request from none. So the router is then asked about each part of the
// words separately.

const (
	// maxUserRequests is how many parts are judged: one in the router's own sequence and one in
	// each extra sequence.
	maxUserRequests = 1 + choiceSequences
	// minRequestWords is how many words a part needs to be a request; anything shorter ("please",
	// "in Oslo") belongs to the part before it.
	minRequestWords = 3
)

// requestSeparator matches what separates two requests: the end of a sentence or a joining word, in
// the languages that the box speaks.
var requestSeparator = regexp.MustCompile(`(?i)[;` + text.Terminators +
	`]+\s+|,?\s+(?:and|then|also|plus|und|dann|außerdem|et|puis|poi|oraz)\s+`)

// splitRequests splits the user's words into the parts that may each be a request.
func splitRequests(user string) []string {
	user = oneLine(user)
	var parts [][2]int
	at := 0
	for _, cut := range requestSeparator.FindAllStringIndex(user, -1) {
		if len(parts) == maxUserRequests-1 {
			break // the last part takes the rest
		}
		if len(strings.Fields(user[at:cut[0]])) >= minRequestWords {
			parts = append(parts, [2]int{at, cut[0]})
			at = cut[1]
		}
	}
	if n := len(parts); n > 0 && len(strings.Fields(user[at:])) < minRequestWords {
		parts[n-1][1] = len(user)
	} else {
		parts = append(parts, [2]int{at, len(user)})
	}
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = user[p[0]:p[1]]
	}
	return out
}

// userRequest is a part of the user's words that the router judges.
type userRequest struct {
	text string // empty: all words
	// listed says that the request is an item of a list, of which another item was called for
	// already.
	listed bool
}

// whole reports whether the request is all of the user's words.
func (u userRequest) whole() bool { return u.text == "" }

// userRequests returns what the router is to judge: before any tool call all of the words, later
// the requests among them that may be left.
func userRequests(user string, since []engine.ToolCall) []userRequest {
	if len(since) == 0 {
		return []userRequest{{}}
	}
	var out []userRequest
	if left := listedRequests(user, since); len(left) > 0 {
		out = append(out, userRequest{left[0], true})
	}
	requests := splitRequests(user)
	if len(requests) == 1 {
		return append(out, userRequest{})
	}
	for _, request := range requests[:min(len(requests), maxUserRequests-len(out))] {
		out = append(out, userRequest{text: request})
	}
	return out
}

// firstUnanswered returns the first part that requests something no tool has answered, and the
// index of the tool; -1 if there is none. A tool is called again only for a part that mentions
// something the calls were not made with.
func firstUnanswered(parts []userRequest, verdicts []verdict, set *toolset, since []engine.ToolCall) (
	chosen userRequest, at int, margin float64,
) {
	made := madeCalls(since)
	for i, v := range verdicts {
		least := partMargin
		if parts[i].whole() {
			least = againMargin
		}
		if v.tool < 0 || v.margin < least {
			continue
		}
		name := set.tools[v.tool].Name
		again := slices.ContainsFunc(made, func(c madeCall) bool { return c.name == name })
		if again && slices.ContainsFunc(made, func(c madeCall) bool {
			return c.name == name && (len(c.values) == 0 || c.answers(parts[i].text))
		}) {
			continue
		}
		if again && !parts[i].listed && !mentionsMore(parts[i].text, made) {
			continue
		}
		return parts[i], v.tool, v.margin
	}
	return userRequest{}, -1, math.Inf(-1)
}

// mentionsMore reports whether a part has a number or a name with which no call was made. Otherwise
// it is probably about the same thing.
func mentionsMore(text string, made []madeCall) bool {
	for i, w := range strings.Fields(text) {
		word := []string{w}
		if kind := wordKind(word); (kind == "number" || kind == "name" && i > 0) && !calledWith(word, made) {
			return true
		}
	}
	return false
}

// onlyRequest returns messages up to the user's last words, reduced to one request.
func onlyRequest(messages []engine.Message, request string) []engine.Message {
	at := len(messages) - 1
	for ; at > 0 && messages[at].Role != engine.User; at-- {
	}
	out := append([]engine.Message(nil), messages[:at+1]...)
	out[at] = engine.Message{Role: engine.User, Content: request}
	return out
}
