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
// leave?" After the first was answered, the same words still ask for it more than
// for the other, and nothing tells the second wish from none. So the router is then
// asked about each part of the words by itself.

const (
	// mostWishes is how many parts are judged: the router's own sequence and those
	// that belong to no conversation.
	mostWishes = 1 + aside
	// leastWish is how many words a part has that may be a wish; what is shorter
	// ("please", "in Oslo") belongs to the part before it.
	leastWish = 3
)

// parting is what stands between two wishes: the end of a sentence, or a word that
// joins them, in the languages that the box speaks of itself.
var parting = regexp.MustCompile(`(?i)[;` + text.Terminators +
	`]+\s+|,?\s+(?:and|then|also|plus|und|dann|außerdem|et|puis|poi|oraz)\s+`)

// wishes are the parts of what a user said that may each be a wish; one, where it is
// a single one.
func wishes(said string) []string {
	said = oneLine(said)
	var parts [][2]int
	at := 0
	for _, cut := range parting.FindAllStringIndex(said, -1) {
		if len(parts) == mostWishes-1 {
			break // the last takes all that is left
		}
		if len(strings.Fields(said[at:cut[0]])) >= leastWish {
			parts = append(parts, [2]int{at, cut[0]})
			at = cut[1]
		}
	}
	if n := len(parts); n > 0 && len(strings.Fields(said[at:])) < leastWish {
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
type want struct {
	text string // empty: all of it
	// listed: it is a wish of a list, of which another one was called for.
	listed bool
}

// whole reports whether it is all that was said.
func (w want) whole() bool { return w.text == "" }

// partsOf are what the router is to judge: before any tool was called all of the
// words, and then the wishes among them that may be left.
func partsOf(user string, since []engine.ToolCall) []want {
	if len(since) == 0 {
		return []want{{}}
	}
	var out []want
	if left := listed(user, since); len(left) > 0 {
		out = append(out, want{left[0], true})
	}
	said := wishes(user)
	if len(said) == 1 {
		return append(out, want{})
	}
	for _, wish := range said[:min(len(said), mostWishes-len(out))] {
		out = append(out, want{text: wish})
	}
	return out
}

// unanswered is the first part that asks for what no tool has answered, and for which
// tool; -1: none does. A tool that was called is called once more for a part that
// tells of something else than the calls were made with.
func unanswered(parts []want, said []opinion, set *toolset, since []engine.ToolCall) (chosen want, at int,
	margin float64) {
	made := callings(since)
	for i, v := range said {
		least := partMargin
		if parts[i].whole() {
			least = againMargin
		}
		if v.at < 0 || v.margin < least {
			continue
		}
		name := set.tools[v.at].Name
		again := slices.ContainsFunc(made, func(c calling) bool { return c.name == name })
		if again && slices.ContainsFunc(made, func(c calling) bool {
			return c.name == name && (len(c.values) == 0 || c.answers(parts[i].text))
		}) {
			continue
		}
		if again && !parts[i].listed && !tellsMore(parts[i].text, made) {
			continue
		}
		return parts[i], v.at, v.margin
	}
	return want{}, -1, math.Inf(-1)
}

// tellsMore tells whether a part has a number or a name with which no call was made:
// else it is more likely about the same thing.
func tellsMore(text string, made []calling) bool {
	for i, w := range strings.Fields(text) {
		word := []string{w}
		if kind := kindOf(word); (kind == "number" || kind == "name" && i > 0) && !calledWith(word, made) {
			return true
		}
	}
	return false
}

// ofWish are messages up to what the user said last, of which only one wish is left.
func ofWish(messages []engine.Message, wish string) []engine.Message {
	at := len(messages) - 1
	for ; at > 0 && messages[at].Role != engine.User; at-- {
	}
	out := append([]engine.Message(nil), messages[:at+1]...)
	out[at] = engine.Message{Role: engine.User, Content: wish}
	return out
}
