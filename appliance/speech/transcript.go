package speech

import (
	"strings"

	"parley/appliance/text"
	"parley/internal/levenshtein"
)

// anyWords stands for the transcript of a name whose phonemes a lexicon gives: how the
// transcriber spells it is unknown. text.Words never returns it.
const anyWords = ""

// transcriptErrors compares a transcript with the text that was to be said and returns how many
// words are wrong, of how many. A transcriber writes numbers and addresses as they are spoken,
// in its own figures ("1405" for "fourteen oh five"), or as in the text ("020-7946-0958"); the
// closest of these counts.
func transcriptErrors(s, heard string, o text.Options) (wrong, of int) {
	said, plain := spokenWords(s, o), text.Words(heard)
	unlexed := text.Options{Language: o.Language, Locale: o.Locale}
	wrong, of = wordErrors(said, plain)
	for _, pair := range [][2][]string{{said, text.Words(text.Verbalize(heard, unlexed))}, {text.Words(s), plain}} {
		if w, n := wordErrors(pair[0], pair[1]); w*of < wrong*n {
			wrong, of = w, n
		}
	}
	return wrong, of
}

// spokenWords returns the words of a text as they are spoken.
func spokenWords(s string, o text.Options) []string {
	var words []string
	var known strings.Builder
	for _, stretch := range text.Say(s, o) {
		if stretch.Phonemes == "" {
			known.WriteString(stretch.Text)
			continue
		}
		words = append(append(words, text.Words(known.String())...), anyWords)
		known.Reset()
	}
	return append(words, text.Words(known.String())...)
}

// wordErrors is text.WordErrors, except that anyWords matches any number of words; of counts
// the other words.
func wordErrors(want, got []string) (wrong, of int) {
	row := levenshtein.Row(len(got))
	for _, w := range want {
		if w == anyWords {
			for j := range got {
				row[j+1] = min(row[j+1], row[j])
			}
			continue
		}
		of++
		levenshtein.Next(row, w, got)
	}
	return row[len(got)], of
}
