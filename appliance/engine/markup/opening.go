package markup

import (
	"slices"
	"strings"
	"unicode"
)

// stripped separates thoughts from the answer if a server has removed the markers from
// "<|channel|>analysis<|message|>…<|start|>assistant<|channel|>final<|message|>…".
const stripped = "assistantfinal"

// opening examines the beginning of a reply, which may be a call without a marker, or a thought of
// which only the end is marked; either is held back. wait says that more of the reply is needed to
// decide.
func (f *Filter) opening() (wait bool) {
	if f.openingChecked {
		return false
	}
	begins, wait := f.beginsCall(f.held)
	if begins {
		f.begin(marker{kind: tool})
		f.guessed = true
		return false
	}
	if wait {
		return true
	}
	if strings.HasPrefix("analysis", f.held) {
		return true
	}
	if after, found := strings.CutPrefix(f.held, "analysis"); found && unicode.IsUpper(rune(after[0])) {
		f.begin(marker{kind: possibleThought, name: stripped})
		return false
	}
	switch begins, wait := beginsThought(f.held); {
	case begins:
		f.begin(marker{kind: possibleThought})
	case wait:
		return true
	}
	return false
}

// beginsCall reports whether s begins like a tool call.
func (f *Filter) beginsCall(s string) (is, wait bool) {
	for _, t := range f.tools {
		after, found := strings.CutPrefix(s, t.Name)
		after = strings.TrimLeft(after, " \n:")
		switch {
		case found && after != "" && strings.ContainsRune("({", rune(after[0])):
			return true, false
		case strings.HasPrefix(t.Name, s), found && after == "":
			wait = true
		}
	}
	if strings.HasPrefix("```", s) {
		return false, true
	}
	if fenced, found := strings.CutPrefix(s, "```"); found {
		language, rest, line := strings.Cut(fenced, "\n")
		switch language = strings.TrimSpace(language); {
		case !line:
			return false, len(language) < 16
		case language == "tool_code" || language == "tool_call" || language == "function_call":
			return true, false
		}
		s = strings.TrimSpace(rest)
	}
	s = strings.TrimLeft(strings.TrimPrefix(s, "functools"), " \n")
	if s == "" || strings.HasPrefix("functools", s) {
		return false, true
	}
	if s[0] == '[' {
		if s = strings.TrimLeft(s[1:], " \n"); s == "" {
			return false, true
		}
		if n := strings.IndexFunc(s, func(r rune) bool { return !ofName(r) }); n != 0 {
			return n > 0 && s[n] == '(', n < 0 || wait
		}
	}
	if s[0] == '{' {
		return beginsObject(s[1:])
	}
	return false, wait
}

// callKeys are the first keys of a call's object.
var callKeys = []string{
	"function",
	"function_call",
	"function_name",
	"name",
	"recipient_name",
	"tool",
	"tool_call",
	"tool_calls",
	"tool_name",
	"type",
}

func beginsObject(s string) (is, wait bool) {
	s = strings.TrimLeft(s, " \r\n\t")
	if s == "" {
		return false, true
	}
	if s[0] != '"' {
		return false, false
	}
	key, _, whole := strings.Cut(s[1:], `"`)
	if whole {
		return slices.Contains(callKeys, key), false
	}
	return false, slices.ContainsFunc(callKeys, func(k string) bool { return strings.HasPrefix(k, key) })
}

// thoughtBegins are beginnings of thoughts, which speak about the user and not to the user.
// thoughtLeads may precede them.
var (
	thoughtBegins = words(
		"the user is", "the user was", "the user wants", "the user asks", "the user asked", "the user has",
		"the user just", "the user said", "the user says", "the user needs", "the user might", "the user may",
		"the user seems", "the user would", "the user greets", "the user greeted", "the user did",
		"the user didn't", "the user mentioned", "the user gave", "the user's", "the user wrote",
		"this user is", "this user wants", "this user asks", "user is asking", "user wants", "user asks",
		"user asked", "user says", "user said", "i need to figure", "i need to respond", "i need to answer",
		"i need to think", "i need to recall", "i need to determine", "i need to consider",
		"i need to come up", "i need to reply", "i should respond", "i should answer", "i should reply",
		"i should think", "i should say", "i should tell", "we need to answer", "we need to respond",
		"we need to reply", "we need to produce", "we need to figure", "we need to think", "we should answer",
		"we should respond", "we should reply", "we have to answer", "we have to respond", "let me think",
		"let me figure", "let me recall", "let me break", "let me analyze", "let me consider", "let's think",
		"let's break", "let's analyze", "let's see", "let us think",
	)
	thoughtLeads = words(
		"okay", "ok", "alright", "all right", "hmm", "hm", "so", "well", "right", "first", "now", "got it",
		"wait",
	)
)

func words(phrases ...string) [][]string {
	out := make([][]string, len(phrases))
	for i, p := range phrases {
		out[i] = strings.Fields(p)
	}
	return out
}

// maxLeads is how many of thoughtLeads may follow each other: "Okay, so".
const maxLeads = 3

// beginsThought reports whether a reply begins like a thought. It never returns true for words that
// may be incomplete.
func beginsThought(s string) (begins, wait bool) {
	lower := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	words := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	open := strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsLetter(r) || r == '\'' || r == '’' }) != s
	if len(words) == 0 {
		return false, strings.Trim(s, "\"“*( ") == ""
	}
	for range maxLeads {
		n, more := leads(words, open, thoughtLeads)
		if more {
			return false, true
		}
		if n == 0 {
			break
		}
		if words = words[n:]; len(words) == 0 {
			return false, len(s) < maxTagBytes
		}
	}
	n, more := leads(words, open, thoughtBegins)
	return n > 0, more
}

// leads returns how many of the words form one of phrases at the beginning; more says that they may
// become one. open says that the last word may be incomplete.
func leads(came []string, open bool, phrases [][]string) (n int, more bool) {
	for _, p := range phrases {
		k := min(len(p), len(came))
		whole := k == len(p) && (!open || len(came) > k)
		switch {
		case whole && slices.Equal(p, came[:k]):
			n = max(n, k)
		case whole || !slices.Equal(p[:k-1], came[:k-1]):
		case p[k-1] == came[k-1], open && k == len(came) && strings.HasPrefix(p[k-1], came[k-1]):
			more = true
		}
	}
	return n, more && n == 0
}
