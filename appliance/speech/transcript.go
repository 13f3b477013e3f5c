package speech

import (
	"strings"

	"parley/appliance/text"
	"parley/internal/levenshtein"
)

// anyWords stands for what the ear makes of a name of which a lexicon gives the
// phonemes: nobody knows how it writes it. It is none of text.Words.
const anyWords = ""

// transcriptErrors compares what was heard with what was to be said, as words: how many
// are wrong, of how many. An ear writes numbers and addresses as they are said, in
// figures of its own ("1405" for "fourteen oh five"), or as they were written
// ("020-7946-0958"): the nearest of these counts.
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

// spokenWords are the words as which a text is said.
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

// wordErrors is text.WordErrors, but for anyWords, for which any number of words
// may stand; of is how many the others are.
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
