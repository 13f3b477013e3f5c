package llama

import (
	"strings"
	"unicode/utf8"
)

// runes joins the bytes of tokens into complete runes.
type runes struct{ held []byte }

// add takes the bytes of a token and returns the text that is complete now. Bytes that cannot be
// part of a rune become U+FFFD.
func (r *runes) add(b []byte) string {
	r.held = append(r.held, b...)
	whole := len(r.held)
	for back := 1; back < utf8.UTFMax && back <= len(r.held); back++ {
		if tail := r.held[len(r.held)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= back
			}
			break
		}
	}
	text := strings.ToValidUTF8(string(r.held[:whole]), string(utf8.RuneError))
	r.held = append(r.held[:0], r.held[whole:]...)
	return text
}
