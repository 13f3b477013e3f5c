package llama

import (
	"regexp"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// Who greets or thanks wants no tool, and need not wait for the router, which on a
// machine that has not read it yet takes seconds: most conversations begin so.

// pleasantries are all the words of such a sentence, and kernels those of which it
// has one.
var (
	pleasantries = wordSet(
		"hello hi hey there good morning afternoon evening day to you how are doing today nice meet " +
			"thanks thank very so much many a lot again for your the help oh well and is that kind of great lovely " +
			"that's all")
	kernels = regexp.MustCompile(`\b(hello|hi|hey|thanks?|good (morning|afternoon|evening|day)|how are you)\b`)
	// trailingNote is what stands behind somebody's words that is not his.
	trailingNote = regexp.MustCompile(`\s*\([^()]*\)\s*$`)
)

// Such a sentence has at most so many words; with what stands behind it, bytes.
const (
	maxPleasantryWords = 12
	maxPleasantryBytes = 400
)

// isPleasantry tells whether what the user said last greets or thanks and nothing else. It
// does not where it may answer a question, where a tool has answered since, or where
// a tool is about such words.
func (s *toolset) isPleasantry(messages []engine.Message) bool {
	before, user, since, ok := lastRequest(messages)
	if !ok || len(since) > 0 || len(user) > maxPleasantryBytes || messages[len(messages)-1].Role != engine.User ||
		strings.ContainsAny(before, "?？؟") {
		return false
	}
	for trailingNote.MatchString(user) {
		user = trailingNote.ReplaceAllString(user, "")
	}
	words := wordsOf(user)
	if len(words) > maxPleasantryWords || slices.ContainsFunc(words, func(w string) bool { return !pleasantries[w] }) {
		return false
	}
	kernel := kernels.FindString(strings.Join(words, " "))
	return kernel != "" && !s.concerns(kernel) && !(slices.Contains(words, "all") && s.hasEndingTool())
}

// hasEndingTool tells whether a tool ends something, for which "that's all" asks.
func (s *toolset) hasEndingTool() bool {
	return slices.ContainsFunc(s.tools, func(t engine.Tool) bool {
		return endsChat.MatchString(t.Name + " " + t.Description)
	})
}

// endsChat is in what a tool says of itself by which somebody leaves.
var endsChat = regexp.MustCompile(`(?i)hang|bye|(?:^|[^a-z])(?:end|ends|close|closes|finish|finishes|quit|leave|` +
	`leaves|check ?out|pay|done)(?:[^a-z]|$)`)

// concerns tells whether a tool is about greeting, or thanking.
func (s *toolset) concerns(kernel string) bool {
	stem := kernel[:min(len(kernel), 5)] // thank, thanks, thanking
	return slices.ContainsFunc(s.tools, func(t engine.Tool) bool {
		text := strings.ToLower(t.Name + " " + t.Description)
		return slices.ContainsFunc([]string{stem, "greet", "small talk", "every message", "always", "each turn",
			"anything"}, func(of string) bool {
			return strings.Contains(text, of)
		})
	})
}
