package reply

import (
	"regexp"
	"slices"
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/text"
)

// ofNow are words of questions for what holds now, or for who asks: what no model has
// read anywhere. "When does the next train leave?", "What is my balance?"
var ofNow = regexp.MustCompile(`(?i)\b(?:(?:the|your) next|today|tonight|tomorrow|right ` +
	`now|currently|current|latest|still|yet|on time|this (?:week|weekend|morning|afternoon|evening)|` +
	`(?:my|our) (?:\w+ )?(?:accounts?|balance|orders?|parcel|package|delivery|bookings?|reservation|appointments?|` +
	`flight|train|bus|taxi|tickets?|bill|invoice|payment|refund|results?|prescription|application|claim|repair))\b`)

// ofOwn are words of questions for what only the prompt can tell of whose assistant it
// is: "What's your phone number?", "How much will it cost?"
var ofOwn = regexp.MustCompile(`(?i)\byour (?:\w+ )?(?:phone|telephone|number|address|e-?mail|prices?|fees?|hours)\b` +
	`|\bhow much (?:(?:will|would|does) (?:it|that|this) cost|do you (?:charge|take|want)|is it)\b|\bwhat do you ` +
	`charge\b|\bwhen do you (?:open|close)\b`)

// asksOfNow tells whether somebody asks for such a thing, in English.
func asksOfNow(asked string) bool { return ofNow.MatchString(asked) }

// asksOfTool tells whether the user's words are about what a tool does, by the words
// of its name and description.
func asksOfTool(c turn.Conversation) bool {
	about := map[string]bool{}
	for _, t := range c.Tools {
		for _, w := range wordsIn(strings.ReplaceAll(t.Name, "_", " ") + " " + t.Description) {
			about[stem(w)] = true
		}
	}
	return slices.ContainsFunc(wordsIn(asked(c)), func(w string) bool {
		return about[stem(w)] && !oneOf(stem(w), common)
	})
}

// ofTheTool is a question how, where or when something is that is spoken of as known:
// "What's the weather like?", and not "What is a calendar for?"
var ofTheTool = regexp.MustCompile(
	`(?i)\b(?:what|how|where|when)(?:['’]s| is| are| will| does| do)\b.*\b(?:the|my|our|it|they)\b.*\?`)

// stateOfNow is a question of yes or no how something is now.
var stateOfNow = regexp.MustCompile(`(?i)(?:^|[.!?,] )(?:is|are|was|were|has|have|did|does|do) .*\?\W*$`)

// common are the words of such questions that say nothing of what they are about, as
// stem leaves them.
const common = "i a an the i'm is are wa was were ha has have did doe do does you your my our we they there it be " +
	"been any anybody anyone somebody someone " +
	"in on at of to for from with and or not yet still now today tonight tomorrow current currently latest next time " +
	"already this that week weekend morning afternoon evening please hello hi so"

// unknowable reports whether a question asks how something is now of which neither the
// prompt nor what was said has a word, or what a tool would have told: the answer is
// neither yes nor no.
func unknowable(c turn.Conversation) bool {
	question := asked(c)
	if c.Facts == nil || !c.Facts.Spelt {
		return false
	}
	answered := slices.ContainsFunc(c.History, func(e turn.Entry) bool { return e.Role == turn.ToolResult })
	ofTool := !answered && ofTheTool.MatchString(question) && asksOfTool(c)
	if !ofTool && !(asksOfNow(question) && stateOfNow.MatchString(question)) ||
		c.History[len(c.History)-1].Role == turn.ToolResult {
		return false
	}
	if ofTool && (c.Facts.Own || !slices.ContainsFunc(text.Numbers(c.Facts.Told), amount)) { // it tells nothing of it
		return true
	}
	told := map[string]bool{}
	for _, w := range wordsIn(c.Facts.Told + " " + toldIn(c)) {
		told[stem(w)] = true
	}
	about := 0
	for _, w := range wordsIn(question) {
		w = stem(w)
		if oneOf(w, common) {
			continue
		}
		if about++; told[w] {
			return false
		}
	}
	return about > 0
}

var wordPattern = regexp.MustCompile(`[\pL'’]+`)

func wordsIn(s string) []string { return wordPattern.FindAllString(s, -1) }

// unlessUnknowable are the beginnings of an answer, others, but where nobody can know it.
func unlessUnknowable(c turn.Conversation, others map[string]float64) map[string]float64 {
	if !unknowable(c) {
		return others
	}
	out := anew(others)
	for _, word := range c.Facts.Yes {
		out[word] = -certain
	}
	out["Yes"], out["No"], out["The"], out["Your"] = -certain, -certain, -certain, -certain
	out[firstWord(c.Facts.Unknown)] = certain
	return out
}

// mostBefore is how many bytes of a conversation, the newest, are looked through for
// what was told in it.
const mostBefore = 1 << 15

// toldIn is what was said and told in a conversation before the user's last words.
func toldIn(c turn.Conversation) string {
	var all strings.Builder
	for i := len(c.History) - 1; i >= 0 && all.Len() < mostBefore; i-- {
		if e := c.History[i]; e.Role != turn.User {
			all.WriteString(e.Text + " ")
		}
	}
	return all.String()
}
