package text

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"parley/internal/levenshtein"
)

var spokenWord = regexp.MustCompile(`[a-z']+`)

// Words returns the words of s as they are spoken, so that two ways of writing the same ("5
// PM,", "five p m") are equal: a transcript can be compared with a text. It is for English; of
// other languages only the letters a to z remain.
func Words(s string) []string {
	s = strings.NewReplacer("’", "'", "o.k.", "okay", "%", " percent ", "#", " pound ", "*",
		" star ").Replace(strings.ToLower(s))
	s = figureRuns.ReplaceAllStringFunc(s, func(n string) string { return " " + countedOrSpelt(n) + " " })
	var words []string
	for _, w := range spokenWord.FindAllString(s, -1) {
		switch w = strings.Trim(w, "'"); {
		case w == "":
		case w == letterA: // as Say spells it
			words = append(words, "a")
		case w == "ok":
			words = append(words, "okay")
		case w == "mail" && len(words) > 0 && words[len(words)-1] == "voice":
			words[len(words)-1] = "voicemail"
		default:
			words = append(words, w)
		}
	}
	return words
}

// countedOrSpelt returns a number up to twenty in words, and a larger one digit by digit.
func countedOrSpelt(digits string) string {
	if n, err := strconv.Atoi(digits); err == nil && n <= len(units) {
		return english{}.cardinal(strconv.Itoa(n))
	}
	return digitByDigit(digits)
}

// WordErrors returns how many words must be changed, added or removed to make got of want.
// Divided by len(want), it is the word error rate.
func WordErrors(want, got []string) int { return levenshtein.Distance(want, got) }

// Written returns the words of s as written, in lower case and in any language: the runs of
// runes for which IsWordRune is true. A curly apostrophe becomes a straight one. Words returns
// them as spoken.
func Written(s string) []string {
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	return strings.FieldsFunc(s, func(r rune) bool { return !IsWordRune(r) })
}

// IsWordRune reports whether a rune is part of a word: a letter, a digit, a mark on one of
// them, or a straight apostrophe.
func IsWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\''
}
