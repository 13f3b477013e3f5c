package language

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Stops reports whether text asks to end the conversation, in any language of the table: a transcriber rarely
// recognises the language of a single word.
func Stops(text string) bool {
	words := Plain(text)
	if words == "" {
		return false
	}
	once := words // for "Stop, stop, stop!"
	if first, rest, again := strings.Cut(words, " "); again && strings.ReplaceAll(rest+" ", first+" ", "") == "" {
		once = first
	}
	for _, l := range languages {
		for _, stop := range l.stops {
			if said := Plain(stop); said == words || said == once {
				return true
			}
		}
	}
	return false
}

// Plain returns text reduced to lower-case letters and digits, without accents, with one space between words.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r) && r < 0x0900: // an accent; in other scripts it is a vowel
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(norm.NFC.String(b.String())), " ")
}
