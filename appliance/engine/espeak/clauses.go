package espeak

import (
	"strings"
	"unicode"
)

// A clause is the text between two punctuation marks, and the mark at its end.
type clause struct{ words, mark string }

// clauses cuts text at its punctuation, which espeak-ng drops although the voices were trained to
// pause and to change their pitch at it.
func clauses(text string) []clause {
	var out []clause
	r := []rune(text)
	for begin := 0; begin < len(r); {
		end := begin
		for end < len(r) && !punctuation(r, end) {
			end++
		}
		next := end
		for next < len(r) && (punctuation(r, next) || unicode.IsSpace(r[next])) {
			next++
		}
		words := strings.TrimSpace(string(r[begin:end]))
		switch mark := strongest(r[end:next]); {
		case words != "":
			out = append(out, clause{words, mark})
		case len(out) > 0 && out[len(out)-1].mark == "":
			out[len(out)-1].mark = mark
		}
		begin = next
	}
	return out
}

// punctuation reports whether r[i] separates clauses. A full stop, comma or colon inside a number
// or a name ("3,5", "e.V") does not.
func punctuation(r []rune, i int) bool {
	switch r[i] {
	case '.', ',', ':':
		inside := i > 0 && i+1 < len(r) && alphanumeric(r[i-1]) && alphanumeric(r[i+1])
		return !inside
	case ';', '!', '?', '—', '…', '"', '(', ')', '[', ']', '{', '}', '“', '”', '„', '«', '»', '¡', '¿',
		'。', '！', '？', '，', '、', '：', '；', '؟', '،', '؛', '।':
		return true
	}
	return false
}

// markRank lists the marks that voices were trained on, the strongest first, with the characters
// that are read as each. Voices learned from single marks, so a run of marks, or an unknown one, is
// read as the strongest of these.
var markRank = [...]struct{ mark, written string }{
	{"?", "?？؟"}, {"!", "!！"}, {".", ".。।"}, {":", ":："}, {";", ";；؛"}, {",", ",，、،—()[]{}…"},
}

// strongest returns the mark as which a run of punctuation is read. Quotes alone are silent.
func strongest(run []rune) string {
	for _, m := range markRank {
		for _, r := range run {
			if strings.ContainsRune(m.written, r) {
				return m.mark
			}
		}
	}
	return ""
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
