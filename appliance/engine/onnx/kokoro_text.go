package onnx

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// kokoroVocabulary maps the phonemes of the model to their numbers, which its own files do not
// define.
//
//go:embed kokoro_vocabulary.json
var kokoroVocabulary []byte

// kokoroEdge is the id before and after the phonemes of a text.
const kokoroEdge = 0

func kokoroAlphabet() (*alphabet, error) {
	var numbers map[string]int64
	if err := json.Unmarshal(kokoroVocabulary, &numbers); err != nil {
		return nil, fmt.Errorf("voice: the vocabulary of Kokoro: %w", err)
	}
	a := &alphabet{ids: make(map[rune][]int64, len(numbers)), begin: []int64{kokoroEdge}, end: []int64{kokoroEdge}}
	for phoneme, id := range numbers {
		r, _ := utf8.DecodeRuneInString(phoneme)
		a.ids[r] = []int64{id}
	}
	return a, nil
}

// rewrite converts phonemes to the notation of the model. It writes nasal vowels as a vowel and a
// tilde, but ç as one character.
func (l kokoroLanguage) rewrite(ipa string) string {
	ipa = strings.ReplaceAll(norm.NFD.String(ipa), "c\u0327", "ç")
	return strings.NewReplacer(l.replacements...).Replace(ipa)
}

const (
	// A sentence is cut at its clauses, so that the first can be played while the next is
	// synthesized. The model takes a text as a whole, and each value of its sound depends on all of
	// it (the mean and the variance of each layer), so its sound cannot be made in pieces like
	// Piper's.
	//
	// minClause is the fewest phonemes of a clause that is spoken separately, some four words,
	// because the model hurries over shorter ones. maxClauses is the most phonemes of several
	// clauses in one call, some six seconds; maxAtOnce is the most phonemes of a longer clause.
	minClause, maxClauses, maxAtOnce = 20, 90, 200
	// betweenClausesMS is the silence inserted between the clauses of a sentence, in addition to
	// what remains of their own; together the model's own pause at a comma.
	betweenClausesMS = 60
)

// clauses cuts the phonemes of a sentence into the parts of each call.
func clauses(ipa string) []string {
	var parts []string
	begin, least := 0, 1
	for i := 0; i < len(ipa); i++ {
		if !strings.ContainsRune(",;:.?!", rune(ipa[i])) || i+1 >= len(ipa) || ipa[i+1] != ' ' {
			continue
		}
		end := i + 2
		clause := utf8.RuneCountInString(ipa[begin:end])
		next := utf8.RuneCountInString(ipa[end:nextMark(ipa, end)])
		if clause < minClause || utf8.RuneCountInString(ipa[end:]) < minClause ||
			clause+next <= maxClauses && len(parts) >= least {
			continue
		}
		parts = append(parts, ipa[begin:end])
		begin = end
	}
	var all []string
	for _, p := range append(parts, ipa[begin:]) {
		all = append(all, cutPhonemes(p, maxAtOnce)...)
	}
	return all
}

// nextMark returns the end of the clause that begins at from.
func nextMark(ipa string, from int) int {
	if n := strings.IndexAny(ipa[from:], ",;:.?!"); n >= 0 {
		return from + n + 1
	}
	return len(ipa)
}
