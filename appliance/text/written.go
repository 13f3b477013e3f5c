package text

import (
	"strings"
	"unicode"
)

// Written are the words of s as they are written, in small letters and of any
// language: runs of what OfWord holds for. A curly apostrophe becomes a straight one.
// Of words as they are said see Words.
func Written(s string) []string {
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	return strings.FieldsFunc(s, func(r rune) bool { return !OfWord(r) })
}

// OfWord tells whether a rune is part of a word: a letter, a digit, a mark on one of
// them or a straight apostrophe.
func OfWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\''
}
