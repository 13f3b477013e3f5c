package text

// Lexicon says how words are pronounced, by the word as it is written, in small
// letters. NewLexicon makes one.
type Lexicon map[string][]*pronunciation

// A pronunciation is how one entry of a lexicon is said.
type pronunciation struct {
	phonemes string // IPA
}
