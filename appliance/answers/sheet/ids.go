package sheet

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"parley/appliance/contract"
)

// idOf returns a text with the characters of an id: a to z, 0 to 9 and hyphens. It is empty if
// the text has no Latin letters and no digits. An id stays as it is.
func idOf(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" {
		return text
	}
	var id strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if gap && id.Len() > 0 {
				id.WriteByte('-')
			}
			gap = false
			id.WriteRune(r)
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’': // an accent, or "where's"
		default:
			gap = true
		}
	}
	return id.String()
}

// freeID returns an id from the words of a question that is not taken.
func freeID(question string, taken func(string) bool) string {
	base := idOf(question)
	if base == "" {
		base = "answer"
	}
	const room = len("-9999") // for answers with the same words
	if most := contract.MaxAnswerIDChars - room; len(base) > most {
		cut := strings.LastIndexByte(base[:most+1], '-')
		if cut <= 0 {
			cut = most
		}
		base = base[:cut]
	}
	id := base
	for n := 2; taken(id); n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	return id
}
