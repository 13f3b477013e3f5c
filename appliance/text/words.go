package text

import (
	"strconv"
	"strings"
	"unicode"

	"parley/internal/edits"
)

// Words are the words of s as they are said, so that two ways of writing the
// same ("5 PM,", "five p m") are equal: what was said can be compared with what
// was heard. English; of other languages what is not a to z is lost.
func Words(s string) []string {
	s = strings.NewReplacer("’", "'", "o.k.", "okay", "%", " percent ", "#", " pound ", "*",
		" star ").Replace(strings.ToLower(s))
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			b.WriteString(" " + countedOrSpelt(s[:n]) + " ")
			s = s[n:]
			continue
		}
		if c := s[0]; c >= 'a' && c <= 'z' || c == '\'' {
			b.WriteByte(c)
		} else {
			b.WriteByte(' ')
		}
		s = s[1:]
	}
	var words []string
	for _, w := range strings.Fields(b.String()) {
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
func WordErrors(want, got []string) int { return edits.Distance(want, got) }
