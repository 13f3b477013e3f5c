package language

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Stops reports whether somebody wants a conversation to end, in whatever
// language: of a single word a transcriber rarely knows which it is.
func Stops(text string) bool {
	words := Plain(text)
	if words == "" {
		return false
	}
	once := words // of "Stop, stop, stop!"
	if first, rest, again := strings.Cut(words, " "); again && strings.ReplaceAll(rest+" ", first+" ", "") == "" {
		once = first
	}
	for _, l := range languages {
		for _, one := range l.stops {
			if said := Plain(one); said == words || said == once {
				return true
			}
		}
	}
	return false
}

// Plain is what is said without how it is written: small letters and digits,
// without accents, and one space between words.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r) && r < 0x0900: // an accent; in other scripts a vowel
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(norm.NFC.String(b.String())), " ")
}
