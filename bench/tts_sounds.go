package bench

import (
	"context"
	"strings"

	"parley/appliance/engine/espeak"
)

// sounds tells words that sound alike, whichever of them an ear writes: désolé and
// désolée, part and par. It is for one goroutine.
type sounds struct {
	ph    *espeak.Phonemizer
	voice string // of eSpeak NG; "" where no two words are taken for alike
	known map[string]string
}

// soundsOf are those of a language. English has few such words, and they count.
func soundsOf(ph *espeak.Phonemizer, language string) *sounds {
	voices := map[string]string{"es": "es", "fr": "fr-fr", "it": "it", "pt": "pt-br"}
	known := map[string]string{}
	if language == "fr" { // before an apostrophe; alone they are letters, by their names
		known = map[string]string{"l": "l", "d": "d", "j": "ʒ", "n": "n", "s": "s", "c": "s", "m": "m", "t": "t",
			"qu": "k"}
	}
	return &sounds{ph, voices[language], known}
}

// alike reports whether words are, joined, the same letters as others or the same
// phonemes, wherever the stress is.
func (s *sounds) alike(ctx context.Context, a, b []string) bool {
	if strings.Join(a, "") == strings.Join(b, "") {
		return true
	}
	if s == nil || s.voice == "" {
		return false
	}
	of := s.joined(ctx, a)
	return of != "" && of == s.joined(ctx, b)
}

// joined are the phonemes of words; "" where one has none.
func (s *sounds) joined(ctx context.Context, words []string) (all string) {
	for _, w := range words {
		phonemes := s.of(ctx, w)
		if phonemes == "" {
			return ""
		}
		all += phonemes
	}
	return all
}

func (s *sounds) of(ctx context.Context, word string) string {
	phonemes, known := s.known[word]
	if !known {
		said, err := s.ph.Phonemize(ctx, word, s.voice)
		if err == nil { // else it is alike to nothing
			phonemes = strings.NewReplacer("ˈ", "", "ˌ", "", " ", "", "-", "").Replace(said)
		}
		s.known[word] = phonemes
	}
	return phonemes
}
