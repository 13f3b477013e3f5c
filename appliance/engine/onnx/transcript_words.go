package onnx

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// words returns the words of the text of t with their confidence. piece returns the text of a token.
func (t transcription) words(text string, piece func(id int64) string) []engine.TranscriptWord {
	words := splitWords(text)
	var raw strings.Builder
	ends := make([]int, len(t.ids)) // of each token in raw
	for i, id := range t.ids {
		raw.WriteString(piece(id))
		ends[i] = raw.Len()
	}
	lead := strings.Index(raw.String(), text)
	if lead < 0 || len(t.logs) < len(t.ids) { // invalid UTF-8 was replaced
		for i := range words {
			words[i].Confidence = math.Exp(t.mean())
		}
		return words
	}
	token := 0
	for i := range words {
		w := &words[i]
		for token < len(ends)-1 && ends[token] <= lead+w.From {
			token++
		}
		var sum float64
		n := 0
		for k := token; k < len(ends) && (k == token || ends[k-1] < lead+w.To); k++ {
			sum += t.logs[k]
			n++
		}
		w.Confidence = math.Exp(sum / float64(max(n, 1)))
	}
	return words
}

// splitWords returns the words of a text, as Transcript.Words has them.
func splitWords(text string) []engine.TranscriptWord {
	var words []engine.TranscriptWord
	open := false // the newest word may go on
	for at, r := range text {
		end := at + utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n := utf8.DecodeRuneInString(text[at:])
			end = at + n
		}
		alone := unspaced(r) && unicode.IsLetter(r)
		switch {
		case unicode.IsSpace(r):
			open = false
			continue
		case open && !alone:
			words[len(words)-1].To = end
		default:
			words = append(words, engine.TranscriptWord{From: at, To: end})
		}
		open = true // punctuation and marks may follow a letter of any script
	}
	return words
}

// unspaced reports whether a letter belongs to a script that is written without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}
