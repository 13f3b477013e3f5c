// Package expression measures feelings: how likely each of 48 is in an utterance, from its words and its
// voice, and in a face. docs/expression.md says what is measured, what is only derived, and how accurate it is.
package expression

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"parley/appliance/contract"
)

var (
	//go:embed weights/text.bin
	textWeights []byte
	//go:embed weights/sentiment.bin
	sentimentWeights []byte
	//go:embed weights/voice.json
	voiceWeights []byte
	//go:embed weights/mapping.json
	mappingTable []byte
)

// A Meter measures feelings. It is read-only and may be used by many goroutines.
type Meter struct {
	text      textModel
	sentiment sentimentModel
	voice     voiceModel
	mapping   mapping
	analyser  *analyser
}

// New returns a Meter with the embedded weights. An error means that they are damaged.
func New() (*Meter, error) {
	m := &Meter{analyser: newAnalyser()}
	if want := textBuckets + 3*4*len(textLabels) + textBuckets*len(textLabels); len(textWeights) != want {
		return nil, fmt.Errorf("the weights of the text model have %d bytes, want %d", len(textWeights), want)
	}
	m.text = newTextModel(textWeights)
	if want := 4*(2*ratings+sentimentTerms*SentimentSteps) + textBuckets*ratings; len(sentimentWeights) != want {
		return nil, fmt.Errorf("the weights of the sentiment have %d bytes, want %d", len(sentimentWeights), want)
	}
	m.sentiment = newSentimentModel(sentimentWeights)
	if err := json.Unmarshal(voiceWeights, &m.voice); err != nil {
		return nil, fmt.Errorf("the weights of the voice model: %w", err)
	}
	if err := json.Unmarshal(mappingTable, &m.mapping); err != nil {
		return nil, fmt.Errorf("the mapping of feelings: %w", err)
	}
	return m, m.mapping.check()
}

// UnmarshalJSON reads [weight, [names]].
func (t *term) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&t.weight, &t.of})
}

// Text scores a text.
func (m *Meter) Text(text string) contract.EmotionScores {
	return rounded(m.mapping.ofWords(text, m.text.probabilities(text)))
}

// faceClasses are the expressions that the nets of faces tell apart, in the order of FER2013.
var faceClasses = [...]string{"angry", "disgust", "fear", "happy", "sad", "surprise", "neutral"}

// Face scores a face whose expression is each of the classes of package face with these probabilities.
func (m *Meter) Face(classes [len(faceClasses)]float64) contract.EmotionScores {
	return rounded(m.mapping.ofFace(classes))
}

// NewSound returns a Sound for one utterance.
func (m *Meter) NewSound() *Sound {
	return &Sound{m: m, scratch: newScratch(), limit: maxFrames}
}

// Understands reports whether words in a language (BCP 47; empty if unknown) can be judged. The text model
// knows only English.
func Understands(language string) bool {
	of, _, _ := strings.Cut(strings.ToLower(language), "-")
	return of == "" || of == "en"
}

// rounded rounds scores to four decimals, to keep stored and sent data short.
func rounded(s contract.EmotionScores) contract.EmotionScores {
	for i, v := range s {
		s[i] = roundedScore(v)
	}
	return s
}

func roundedScore(v float64) float64 { return math.Round(min(max(v, 0), 1)*1e4) / 1e4 }
