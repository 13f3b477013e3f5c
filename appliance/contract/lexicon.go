package contract

// Limits of pronunciations.
const (
	// MaxLexiconEntries bounds the pronunciations of one account.
	MaxLexiconEntries   = 2000
	MaxLexiconWordChars = 100
	MaxLexiconSaidChars = 200
)

// PostedPronunciation is how a word is pronounced.
type PostedPronunciation struct {
	// The pronunciation: phonemes of the International Phonetic Alphabet between
	// slashes (/wɪn/), or a respelling, as syllables with hyphens, the stressed
	// ones in capitals (hwah-KEEN), or as words that sound like it.
	Said string `json:"said"`
}

// PostedLexicon is an account's pronunciations.
type PostedLexicon struct {
	Entries []PostedEntry `json:"entries"`
}

// PostedEntry is a word and its pronunciation.
type PostedEntry struct {
	// The word, or several words. It also matches in other case and with the
	// ending of a possessive or a plural; a word in capitals matches capitals
	// only.
	Word string `json:"word"`
	Said string `json:"said"`
}

// ReturnLexicon is an account's pronunciations, in alphabetical order.
type ReturnLexicon struct {
	Entries []ReturnPronunciation `json:"entries"`
}

// ReturnPronunciation is a word and its pronunciation.
type ReturnPronunciation struct {
	Word string `json:"word"`
	Said string `json:"said"`
	// The phonemes that the box speaks; absent if the respelling is spoken like
	// any text.
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
