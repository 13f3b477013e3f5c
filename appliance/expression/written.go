package expression

import (
	"math"

	"parley/appliance/contract"
)

// Written scores the words of a text or transcript in a language (BCP 47; empty if unknown). Of a text longer than
// MaxText, the end counts. Where the text model does not know the language, every score is the lowest.
func (m *Meter) Written(text, language string) contract.TextEmotionScores {
	if !understands(language) {
		return m.unknown()
	}
	return m.names(text, m.text.probabilities(text))
}

// Word scores a word in its context, the words before and after it in its sentence. It counts twice: what the context
// loses without the word, in logarithms of odds, is added again. With five words on either side this finds best which
// words of a text carry a feeling: if two texts of GoEmotions with different labels follow each other, a word of the
// first scores higher for the first label than a word of the second does in 0.77 of the pairs (0.50 if each word has
// the scores of the whole, 0.75 with the context alone, 0.60 with the word alone).
func (m *Meter) Word(before, word, after, language string) contract.TextEmotionScores {
	if !understands(language) {
		return m.unknown()
	}
	p := m.text.logits(before + word + after)
	for i, without := range m.text.logits(before + after) {
		p[i] = 1 / (1 + math.Exp(without-2*p[i]))
	}
	return m.names(word, p)
}

// names maps the probabilities of the labels to the 53 names of a text.
func (m *Meter) names(text string, labels [len(textLabels)]float64) (s contract.TextEmotionScores) {
	w := newWords(text, labels)
	for i := range s {
		s[i] = roundedScore(m.mapping.score(contract.TextEmotionName(i), w))
	}
	return s
}

// unknown returns the scores of words that the text model cannot judge.
func (m *Meter) unknown() (s contract.TextEmotionScores) {
	for i := range s {
		s[i] = wordsFloor
	}
	return s
}
