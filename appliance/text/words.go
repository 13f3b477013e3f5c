package text

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"parley/internal/levenshtein"
)

var spokenWord = regexp.MustCompile(`[a-z']+`)

// Words are the words of s as they are said, so that two ways of writing the
// same ("5 PM,", "five p m") are equal: what was said can be compared with what
// was heard. English; of other languages what is not a to z is lost.
func Words(s string) []string {
	s = strings.NewReplacer("’", "'", "o.k.", "okay", "%", " percent ", "#", " pound ", "*",
		" star ").Replace(strings.ToLower(s))
	s = figureRuns.ReplaceAllStringFunc(s, func(n string) string { return " " + countedOrSpelt(n) + " " })
	var words []string
	for _, w := range spokenWord.FindAllString(s, -1) {
		switch w = strings.Trim(w, "'"); {
		case w == "":
		case w == letterA: // as Say writes it
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

// countedOrSpelt says a number up to twenty, and a longer one digit by digit.
func countedOrSpelt(digits string) string {
	if n, err := strconv.Atoi(digits); err == nil && n <= len(units) {
		return english{}.cardinal(strconv.Itoa(n))
	}
	return digitByDigit(digits)
}

// WordErrors is how many words must be changed, added or left out to make got
// of want. Over len(want) it is the word error rate.
func WordErrors(want, got []string) int { return levenshtein.Distance(want, got) }

// Written are the words of s as they are written, in small letters and of any
// language: runs of what InWord holds for. A curly apostrophe becomes a straight one.
// Of words as they are said see Words.
func Written(s string) []string {
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	return strings.FieldsFunc(s, func(r rune) bool { return !IsWordRune(r) })
}

// InWord tells whether a rune is part of a word: a letter, a digit, a mark on one of
// them or a straight apostrophe.
func IsWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\''
}
