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

// Bounds of a lexicon and of its entries.
const (
	// MaxLexiconEntries is how many there are: the names of a large collection, and
	// few enough to be read whole, in milliseconds, when they have changed.
	MaxLexiconEntries = 2000
	// MaxLexiconWord is how many characters the writing has: the longest names of
	// exhibits and medicines have about 80.
	MaxLexiconWord = 100
	// MaxLexiconPronunciation is how many characters say it: a breath of speech, as much as
	// a synthesizer is given at once.
	MaxLexiconPronunciation = 200
)

// Lexicon says how words are pronounced that are read wrongly without it, by
// their first words in small letters. NewLexicon makes one; nobody changes it.
type Lexicon map[string][]*pronunciation

// A pronunciation is how an entry of a lexicon is said.
type pronunciation struct {
	folded   []rune // the entry as it is written, in small letters but where exact
	exact    bool   // only as it is written: capitals alone
	phonemes string // IPA; empty: what said says
	said     string // what is read in its place
}

// An Entry is how one word of a lexicon is read.
type Entry struct {
	// Key is by what the word is compared: small letters, or, where only capitals
	// count, as it is written. A lexicon has one entry for a key.
	Key string `json:"word"`
	// Phonemes are what is said, in the IPA; empty where Said is read as any text.
	Phonemes string `json:"phonemes,omitempty"`
	Said     string `json:"said,omitempty"`
}

// NewEntry reads one entry as NewLexicon does; the error is an ErrEntry.
func NewEntry(word, said string) (Entry, error) {
	p, err := newPronunciation(word, said)
	if err != nil {
		return Entry{}, err
	}
	return Entry{string(p.folded), p.phonemes, p.said}, nil
}

// LexiconKey is the Key of an entry for word.
func LexiconKey(word string) string {
	return string(folded(legible(trace(word)).s))
}

// Entries are those of a lexicon that some texts may have a use for, by their keys:
// enough to read the texts as the lexicon does.
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
			used = append(used, Entry{string(p.folded), p.phonemes, p.said})
		}
	}
	slices.SortFunc(used, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	return used
}

// LexiconOf is the lexicon of entries that NewEntry or Entries made.
func LexiconOf(entries []Entry) Lexicon {
	if len(entries) == 0 {
		return nil
	}
	l := Lexicon{}
	for _, e := range entries {
		if p := (&pronunciation{
			exact:    capitalsAlone(e.Key),
			folded:   []rune(e.Key),
			phonemes: e.Phonemes,
			said:     e.Said,
		}); wordLength(e.Key) > 0 {
			l.add(p)
		}
	}
	return l
}

// ErrEntry says what is wrong with an entry of a lexicon.
type ErrEntry struct {
	Word, Why string
	InWord    bool // it is the word, and not how it is said
}

func (e ErrEntry) Error() string { return fmt.Sprintf("%q: %s", e.Word, e.Why) }

// NewLexicon makes a lexicon of words, or several words, and how each is said:
// phonemes of the International Phonetic Alphabet between slashes ("/wɪn/"), or
// a respelling: syllables joined by hyphens, the stressed ones in capitals
// ("hwah-KEEN"), or other words that sound like it. The error is an ErrEntry, of
// the first wrong entry in alphabetical order, or says that there are too many.
//
// An entry holds for whole words in small and capital letters, also where "s",
// "es", "'s" or an apostrophe is behind them; one that is written in capitals
// alone holds for capitals alone.
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
			return nil, ErrEntry{w, "another entry is written the same but for capitals: leave out one of them", true}
		}
		l.add(p)
	}
	return l, nil
}

// Over is l with the entries of another lexicon where it has none for the same.
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

// add keeps the longest entries in front, and those for capitals alone before
// the others.
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

// first is the first word of the entry in small letters.
func (p *pronunciation) first() string {
	s := strings.Map(fold, string(p.folded))
	return s[:wordLength(s)]
}

func newPronunciation(word, said string) (*pronunciation, error) {
	wrong := func(ofWord bool, why string, args ...any) (*pronunciation, error) {
		return nil, ErrEntry{word, fmt.Sprintf(why, args...), ofWord}
	}
	if !utf8.ValidString(word) || !utf8.ValidString(said) {
		return wrong(!utf8.ValidString(word), "it is not UTF-8")
	}
	written := legible(trace(word)).s
	if written == "" || wordLength(written) == 0 {
		return wrong(true, "a word begins with a letter or a digit; signs may follow it")
	}
	if n := utf8.RuneCountInString(word); n > MaxLexiconWord {
		return wrong(true, "it has %d characters; at most %d are allowed", n, MaxLexiconWord)
	}
	if i := strings.IndexFunc(word, unprinted); i >= 0 {
		return wrong(true, "it has the character %U, which cannot be printed", []rune(word[i:])[0])
	}
	if n := utf8.RuneCountInString(said); n > MaxLexiconPronunciation {
		return wrong(false, "how it is said has %d characters; at most %d are allowed", n, MaxLexiconPronunciation)
	}
	p := &pronunciation{exact: capitalsAlone(written), folded: folded(written)}
	var err error
	switch said = strings.TrimSpace(said); {
	case said == "":
		return wrong(false,
			`it is said as nothing: write phonemes between slashes ("/wɪn/") or a respelling ("hwah-KEEN")`)
	case strings.HasPrefix(said, "/") || strings.HasPrefix(said, "["):
		p.phonemes, err = parsePhonemes(said)
	default:
		p.said, p.phonemes = respelt(said)
		if p.phonemes == "" && !strings.ContainsFunc(p.said, unicode.IsLetter) {
			err = fmt.Errorf("%q has nothing that can be said", said)
		}
	}
	if err != nil {
		return wrong(false, "%v", err)
	}
	return p, nil
}

// unprinted reports whether a rune cannot be in a word that people write; the two
// joiners shape the letters of some scripts.
func unprinted(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' }

// capitalsAlone reports whether a word is written like IT or US: two capitals
// or more, and no small letter.
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

// folded is a word as it is compared.
func folded(s string) []rune {
	if capitalsAlone(s) {
		return []rune(s)
	}
	return []rune(strings.Map(fold, s))
}

// fold makes a rune one that stands for all ways to write it.
func fold(r rune) rune {
	if r == '’' || r == 'ʼ' {
		return '\''
	}
	return unicode.ToLower(r)
}

// wordLength is how many bytes of letters, digits and the marks on them s
// begins with.
func wordLength(s string) int {
	for i, r := range s {
		if !alnum(r) && (i == 0 || !unicode.IsMark(r)) {
			return i
		}
	}
	return len(s)
}

// phonemeSigns are the symbols of the IPA that every voice was taught, beside
// the space between words.
const phonemeSigns = "abcdefhijklmnopqrstuvwxyzæçðøŋœɐɑɒɔɕɖəɚɛɜɟɡɣɤɥɨɪɯɰɲɳɴɸɹɻɽɾʁʂʃʈʊʋʌʎʒʔʝʰʲβθχᵻˈˌː\u0303"

// samePhonemes writes other ways of writing phonemes as the voices know them:
// ties and the dots between syllables are none.
func samePhonemes() *strings.Replacer {
	return strings.NewReplacer("g", "ɡ", "'", "ˈ", "’", "ˈ", ":", "ː", "ɝ", "ɜː", "ɫ", "l", "ʤ", "dʒ", "ʧ", "tʃ", "ɵ",
		"θ",
		"\u0361", "", "\u035c", "", ".", "", "-", "", "‿", "", "c\u0327", "ç", "ˑ", "ː")
}

// parsePhonemes reads what stands between slashes, or square brackets.
func parsePhonemes(s string) (string, error) {
	closed := map[byte]string{'/': "/", '[': "]"}[s[0]]
	inside, ok := strings.CutSuffix(s[1:], closed)
	if !ok || strings.ContainsAny(inside, "/[]") {
		return "", fmt.Errorf("%q: phonemes stand between two slashes", s)
	}
	inside = samePhonemes().Replace(norm.NFD.String(inside))
	inside = strings.Join(strings.Fields(inside), " ")
	sounds := false
	for _, r := range inside {
		if r != ' ' && !strings.ContainsRune(phonemeSigns, r) {
			return "", fmt.Errorf("%q is no phoneme that the voices know; they know %s", r,
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
