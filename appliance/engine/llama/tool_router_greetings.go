package llama

import (
	"regexp"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// Greetings and thanks need no tool, so they need not wait for the router, which takes seconds on a
// machine that has not prefilled it yet. Most conversations begin with one.

// pleasantries are all the words of such a sentence; kernels matches the words that must occur, one
// at least.
var (
	pleasantries = wordSet(
		"hello hi hey there good morning afternoon evening day to you how are doing today nice meet " +
			"thanks thank very so much many a lot again for your the help oh well and is that kind of great lovely " +
			"that's all")
	kernels = regexp.MustCompile(`\b(hello|hi|hey|thanks?|good (morning|afternoon|evening|day)|how are you)\b`)
	// trailingNote matches a note after the user's words.
	trailingNote = regexp.MustCompile(`\s*\([^()]*\)\s*$`)
)

// Limits of a pleasantry, in words and, with its notes, in bytes.
const (
	maxPleasantryWords = 12
	maxPleasantryBytes = 400
)

// isPleasantry reports whether the user's last words are a greeting or thanks and nothing else. It
// returns false if they may answer a question, after a tool result, or if a tool concerns such
// words.
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

// hasEndingTool reports whether a tool ends something, so that "that's all" may request it.
func (s *toolset) hasEndingTool() bool {
	return slices.ContainsFunc(s.tools, func(t engine.Tool) bool {
		return endsChat.MatchString(t.Name + " " + t.Description)
	})
}

// endsChat matches the description of a tool that ends something.
var endsChat = regexp.MustCompile(`(?i)hang|bye|(?:^|[^a-z])(?:end|ends|close|closes|finish|finishes|quit|leave|` +
	`leaves|check ?out|pay|done)(?:[^a-z]|$)`)

// concerns reports whether a tool is about greeting or thanking.
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
