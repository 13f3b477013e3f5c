package contract

// The most of a lexicon.
const (
	// MaxLexiconEntries is how many words one account may have pronounced its own
	// way.
	MaxLexiconEntries   = 2000
	MaxLexiconWordChars = 100
	MaxLexiconSaidChars = 200
)

// PostedPronunciation says how one word is said.
type PostedPronunciation struct {
	// Said is how: phonemes of the International Phonetic Alphabet between slashes
	// (/wɪn/), or a respelling, as syllables with hyphens, the stressed ones in
	// capitals (hwah-KEEN), or as words that sound like it.
	Said string `json:"said"`
}

// PostedLexicon is how all words of an account are said that the box would say
// otherwise.
type PostedLexicon struct {
	Entries []PostedEntry `json:"entries"`
}

// PostedEntry is one word and how it is said.
type PostedEntry struct {
	// Word is the word, or several. It holds in small and capital letters, also with
	// the ending of a possessive or a plural; one in capitals alone holds for
	// capitals alone.
	Word string `json:"word"`
	Said string `json:"said"`
}

// ReturnLexicon is an account's lexicon, in alphabetical order.
type ReturnLexicon struct {
	Entries []ReturnPronunciation `json:"entries"`
}

// ReturnPronunciation is one word and how it is said.
type ReturnPronunciation struct {
	Word string `json:"word"`
	Said string `json:"said"`
	// Phonemes are how the box understands what is said; absent where it is read
	// as any text.
	Phonemes string `json:"phonemes,omitempty"`
}

func (PostedPronunciation) read(o object) PostedPronunciation {
	o.require("said")
	return PostedPronunciation{o.nonBlank("said", MaxLexiconSaidChars)}
}

func (PostedLexicon) read(o object) PostedLexicon {
	o.require("entries")
	return PostedLexicon{each(o, "entries", MaxLexiconEntries, func(e object) PostedEntry {
		e.require("word", "said")
		return PostedEntry{e.nonBlank("word", MaxLexiconWordChars), e.nonBlank("said", MaxLexiconSaidChars)}
	})}
}
