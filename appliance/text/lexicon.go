package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a lexicon and its entries.
const (
	// MaxLexiconEntries is the number of entries: enough for the names of a large collection,
	// and few enough to load in milliseconds after a change.
	MaxLexiconEntries = 2000
	// MaxLexiconWord is the length of a word in characters: the longest names of exhibits and
	// medicines have about 80.
	MaxLexiconWord = 100
	// MaxLexiconPronunciation is the length of a pronunciation in characters: a breath of
	// speech, as much as a synthesizer is given at once.
	MaxLexiconPronunciation = 200
)

// Lexicon has the pronunciation of words, by their first word in lower case. NewLexicon makes
// one; it is not changed afterwards.
type Lexicon map[string][]*pronunciation

// pronunciation is an entry of a lexicon.
type pronunciation struct {
	folded     []rune // the written word, in lower case unless exact
	exact      bool   // only as written: all capitals
	phonemes   string // IPA; empty: respelling applies
	respelling string // the text that is spoken in its place
}

// Entry is the pronunciation of one word, as it is stored.
type Entry struct {
	// Key is the word as it is compared: in lower case, or as written if it is all capitals.
	// Keys are unique within a lexicon.
	Key string `json:"word"`
	// Phonemes are IPA; empty: Respelling is spoken as ordinary text.
	Phonemes   string `json:"phonemes,omitempty"`
	Respelling string `json:"said,omitempty"`
}

// NewEntry parses one entry as NewLexicon does. The error is an ErrEntry.
func NewEntry(word, said string) (Entry, error) {
	p, err := newPronunciation(word, said)
	if err != nil {
		return Entry{}, err
	}
	return Entry{string(p.folded), p.phonemes, p.respelling}, nil
}

// LexiconKey returns the Key of an entry for word.
func LexiconKey(word string) string {
	return string(folded(legible(trace(word)).s))
}

// Entries returns the entries that the texts may use, by key: enough to pronounce the texts as
// with the whole lexicon.
func (l Lexicon) Entries(texts ...string) []Entry {
	if len(l) == 0 {
		return nil
	}
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = strings.Map(fold, legible(trace(t)).s)
	}
	var used []Entry
	for first, some := range l {
		if !slices.ContainsFunc(all, func(t string) bool { return strings.Contains(t, first) }) {
			continue
		}
		for _, p := range some {
			used = append(used, Entry{string(p.folded), p.phonemes, p.respelling})
		}
	}
	slices.SortFunc(used, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	return used
}

// LexiconOf returns the lexicon of entries made by NewEntry or Entries.
func LexiconOf(entries []Entry) Lexicon {
	if len(entries) == 0 {
		return nil
	}
	l := Lexicon{}
	for _, e := range entries {
		if p := (&pronunciation{
			exact:      capitalsAlone(e.Key),
			folded:     []rune(e.Key),
			phonemes:   e.Phonemes,
			respelling: e.Respelling,
		}); wordLength(e.Key) > 0 {
			l.add(p)
		}
	}
	return l
}

// ErrEntry is an invalid entry of a lexicon.
type ErrEntry struct {
	Word, Why string
	InWord    bool // the word is invalid, and not its pronunciation
}

func (e ErrEntry) Error() string { return fmt.Sprintf("%q: %s", e.Word, e.Why) }

// NewLexicon makes a lexicon of words, or groups of words, and their pronunciation: phonemes of
// the International Phonetic Alphabet between slashes ("/wɪn/"), or a respelling: syllables
// joined by hyphens, the stressed ones in capitals ("hwah-KEEN"), or other words that sound the
// same. The error is an ErrEntry for the first invalid entry in alphabetical order, or reports
// too many entries.
//
// An entry applies to whole words in any case, also with "s", "es", "'s" or an apostrophe after
// them; an entry in capitals applies to capitals only.
func NewLexicon(entries map[string]string) (Lexicon, error) {
	if len(entries) > MaxLexiconEntries {
		return nil, fmt.Errorf("there are %d entries; at most %d are allowed", len(entries), MaxLexiconEntries)
	}
	words := make([]string, 0, len(entries))
	for w := range entries {
		words = append(words, w)
	}
	slices.Sort(words)
	l := Lexicon{}
	for _, w := range words {
		p, err := newPronunciation(w, entries[w])
		if err != nil {
			return nil, err
		}
		if l.has(p) {
			return nil, ErrEntry{w, "another entry differs only in capitals: remove one of them", true}
		}
		l.add(p)
	}
	return l, nil
}

// Over returns l with the entries of another lexicon for the words that l lacks.
func (l Lexicon) Over(under Lexicon) Lexicon {
	switch {
	case len(l) == 0:
		return under
	case len(under) == 0:
		return l
	}
	both := make(Lexicon, len(l)+len(under))
	for first, all := range l {
		both[first] = slices.Clone(all)
	}
	for _, all := range under {
		for _, p := range all {
			if !both.has(p) {
				both.add(p)
			}
		}
	}
	return both
}

func (l Lexicon) has(p *pronunciation) bool {
	return slices.ContainsFunc(l[p.first()], func(q *pronunciation) bool {
		return q.exact == p.exact && slices.Equal(q.folded, p.folded)
	})
}

// add sorts longer entries first, and entries for capitals before the others.
func (l Lexicon) add(p *pronunciation) {
	first := p.first()
	l[first] = append(l[first], p)
	slices.SortStableFunc(l[first], func(a, b *pronunciation) int {
		if a.exact != b.exact && len(a.folded) == len(b.folded) {
			if a.exact {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(b.folded), len(a.folded))
	})
}

// first returns the first word of the entry in lower case.
func (p *pronunciation) first() string {
	s := strings.Map(fold, string(p.folded))
	return s[:wordLength(s)]
}

func newPronunciation(word, said string) (*pronunciation, error) {
	wrong := func(ofWord bool, why string, args ...any) (*pronunciation, error) {
		return nil, ErrEntry{word, fmt.Sprintf(why, args...), ofWord}
	}
	if !utf8.ValidString(word) || !utf8.ValidString(said) {
		return wrong(!utf8.ValidString(word), "it is not valid UTF-8")
	}
	written := legible(trace(word)).s
	if written == "" || wordLength(written) == 0 {
		return wrong(true, "a word must begin with a letter or a digit; signs may follow")
	}
	if n := utf8.RuneCountInString(word); n > MaxLexiconWord {
		return wrong(true, "it has %d characters; at most %d are allowed", n, MaxLexiconWord)
	}
	if i := strings.IndexFunc(word, unprinted); i >= 0 {
		return wrong(true, "it has the character %U, which cannot be printed", []rune(word[i:])[0])
	}
	if n := utf8.RuneCountInString(said); n > MaxLexiconPronunciation {
		return wrong(false, "its pronunciation has %d characters; at most %d are allowed", n, MaxLexiconPronunciation)
	}
	p := &pronunciation{exact: capitalsAlone(written), folded: folded(written)}
	var err error
	switch said = strings.TrimSpace(said); {
	case said == "":
		return wrong(false,
			`its pronunciation is empty: write phonemes between slashes ("/wɪn/") or a respelling ("hwah-KEEN")`)
	case strings.HasPrefix(said, "/") || strings.HasPrefix(said, "["):
		p.phonemes, err = parsePhonemes(said)
	default:
		p.respelling, p.phonemes = respelt(said)
		if p.phonemes == "" && !strings.ContainsFunc(p.respelling, unicode.IsLetter) {
			err = fmt.Errorf("%q has nothing that can be said", said)
		}
	}
	if err != nil {
		return wrong(false, "%v", err)
	}
	return p, nil
}

// unprinted reports whether a rune cannot be part of a written word. The two joiners shape the
// letters of some scripts.
func unprinted(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' }

// capitalsAlone reports whether a word is written like IT or US: at least two capitals, and no
// lower-case letter.
func capitalsAlone(s string) bool {
	capitals := 0
	for _, r := range s {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			capitals++
		}
	}
	return capitals > 1
}

// folded returns a word as it is compared.
func folded(s string) []rune {
	if capitalsAlone(s) {
		return []rune(s)
	}
	return []rune(strings.Map(fold, s))
}

// fold maps the variants of a rune to one.
func fold(r rune) rune {
	if r == '’' || r == 'ʼ' {
		return '\''
	}
	return unicode.ToLower(r)
}

// wordLength returns the number of bytes of letters, digits and their marks that s begins with.
func wordLength(s string) int {
	for i, r := range s {
		if !alnum(r) && (i == 0 || !unicode.IsMark(r)) {
			return i
		}
	}
	return len(s)
}

// phonemeSigns are the IPA symbols that every voice was trained on, besides the space between
// words.
const phonemeSigns = "abcdefhijklmnopqrstuvwxyzæçðøŋœɐɑɒɔɕɖəɚɛɜɟɡɣɤɥɨɪɯɰɲɳɴɸɹɻɽɾʁʂʃʈʊʋʌʎʒʔʝʰʲβθχᵻˈˌː\u0303"

// samePhonemes replaces other notations of phonemes by those that the voices know, and drops
// ties and the dots between syllables.
func samePhonemes() *strings.Replacer {
	return strings.NewReplacer("g", "ɡ", "'", "ˈ", "’", "ˈ", ":", "ː", "ɝ", "ɜː", "ɫ", "l", "ʤ", "dʒ", "ʧ", "tʃ", "ɵ",
		"θ",
		"\u0361", "", "\u035c", "", ".", "", "-", "", "‿", "", "c\u0327", "ç", "ˑ", "ː")
}

// parsePhonemes parses phonemes between slashes or square brackets.
func parsePhonemes(s string) (string, error) {
	closed := map[byte]string{'/': "/", '[': "]"}[s[0]]
	inside, ok := strings.CutSuffix(s[1:], closed)
	if !ok || strings.ContainsAny(inside, "/[]") {
		return "", fmt.Errorf("%q: phonemes must be between two slashes", s)
	}
	inside = samePhonemes().Replace(norm.NFD.String(inside))
	inside = strings.Join(strings.Fields(inside), " ")
	sounds := false
	for _, r := range inside {
		if r != ' ' && !strings.ContainsRune(phonemeSigns, r) {
			return "", fmt.Errorf("%q is not a phoneme of the voices; allowed are %s", r,
				strings.Join(strings.Split(phonemeSigns[:len(phonemeSigns)-len("ˈˌː\u0303")], ""), " ")+
					" and ˈ ˌ ː (stress and length) and the tilde of nasal vowels")
		}
		sounds = sounds || unicode.IsLetter(r) && !strings.ContainsRune("ʰʲˈˌː", r)
	}
	if !sounds {
		return "", fmt.Errorf("%q has no phoneme", s)
	}
	return inside, nil
}
