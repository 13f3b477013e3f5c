package answers

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normal returns the form in which two texts with the same words are equal: in lower case, without apostrophes, and
// with one space for everything else between words. A text without letters and digits stays as it is.
func Normal(text string) string {
	var out strings.Builder
	gap := false
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if gap && out.Len() > 0 {
				out.WriteByte(' ')
			}
			gap = false
			out.WriteRune(r)
		case r == '\'' || r == '’':
		default:
			gap = true
		}
	}
	if out.Len() == 0 {
		return strings.TrimSpace(text)
	}
	return out.String()
}
