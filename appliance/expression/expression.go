// Package expression measures feelings: how likely each of 48 is in what somebody
// says, out of the words and out of the voice. What is measured, what is only
// mapped, and how good it is stands in docs/expression.md.
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
	//go:embed weights/voice.json
	voiceWeights []byte
	//go:embed weights/mapping.json
	mappingTable []byte
)

// A Meter measures feelings. It is read-only, so any goroutine may use it.
type Meter struct {
	text     textModel
	voice    voiceModel
	mapping  mapping
	analyser *analyser
}

// New returns a Meter of the weights in the program. An error means that they
// are damaged.
func New() (*Meter, error) {
	m := &Meter{analyser: newAnalyser()}
	if want := textBuckets + 3*4*len(textLabels) + textBuckets*len(textLabels); len(textWeights) != want {
		return nil, fmt.Errorf("the weights of the text model have %d bytes, want %d", len(textWeights), want)
	}
	m.text = newTextModel(textWeights)
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

// Text scores what is written, or is to be said.
func (m *Meter) Text(text string) contract.EmotionScores {
	return rounded(m.mapping.ofWords(text, m.text.probabilities(text)))
}

// NewSound returns what takes the sound of an utterance.
func (m *Meter) NewSound() *Sound {
	return &Sound{m: m, scratch: newScratch()}
}

// understands reports whether words of a language (BCP 47, empty where it is not known)
// can be judged: the model has read English alone.
func understands(language string) bool {
	of, _, _ := strings.Cut(strings.ToLower(language), "-")
	return of == "" || of == "en"
}

// rounded leaves four decimals, so that what is kept and sent is short.
func rounded(s contract.EmotionScores) contract.EmotionScores {
	for i, v := range s {
		s[i] = math.Round(min(max(v, 0), 1)*1e4) / 1e4
	}
	return s
}
