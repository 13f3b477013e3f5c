package expression

import (
	"math"

	"parley/appliance/contract"
)

// A Reading is what the words of a written or transcribed text show.
type Reading struct {
	m       *Meter
	text    string
	known   bool                     // whether the text is in a language that the models know
	labels  [len(textLabels)]float64 // logarithms of odds
	ratings [ratings]float64
}

// Read reads a text in a language (BCP 47; empty if unknown). Of a text longer than MaxText, the end counts.
func (m *Meter) Read(text, language string) Reading {
	r := Reading{m: m, text: text, known: Understands(language)}
	if r.known {
		features := textFeatures(text)
		r.labels, r.ratings = m.text.logits(features), m.sentiment.ratings(m.text, features)
	}
	return r
}

// ReadWord reads a word in its context, the words before and after it in its sentence. The word counts twice: what the
// context loses without it, in logarithms of odds, is added again.
//
// With five words on either side this finds best which words of a text carry a feeling. If two texts of GoEmotions with
// different labels follow each other, a word of the first scores higher for the first label than a word of the second
// does in 0.77 of the pairs (0.50 if each word has the scores of the whole, 0.75 with the context alone, 0.60 with the
// word alone).
func (m *Meter) ReadWord(before, word, after, language string) Reading {
	r := m.Read(before+word+after, language)
	without := m.Read(before+after, language)
	for i := range r.labels {
		r.labels[i] += r.labels[i] - without.labels[i]
	}
	for i := range r.ratings {
		r.ratings[i] += r.ratings[i] - without.ratings[i]
	}
	r.text = word
	return r
}

// Emotions returns the scores of the 53 names. In a language that the text model does not know, all are the lowest.
func (r Reading) Emotions() (s contract.TextEmotionScores) {
	if !r.known {
		for i := range s {
			s[i] = wordsFloor
		}
		return s
	}
	w := newWords(r.text, probabilities(r.labels))
	for i := range s {
		s[i] = roundedScore(r.m.mapping.score(contract.TextEmotionName(i), w))
	}
	return s
}

// Sentiment returns which share of readers would give the text each step. The shares sum to 1. It returns false in a
// language that the model does not know.
func (r Reading) Sentiment() (p [SentimentSteps]float64, known bool) {
	if !r.known {
		return p, false
	}
	return r.m.sentiment.shares(r.ratings), true
}

// probabilities converts logarithms of odds.
func probabilities(logits [len(textLabels)]float64) (p [len(textLabels)]float64) {
	for i, z := range logits {
		p[i] = 1 / (1 + math.Exp(-z))
	}
	return p
}
