package text

// Lexicon says how words are pronounced: by the word as it is written, in small
// letters, a respelling that is read in its place.
type Lexicon map[string]string
