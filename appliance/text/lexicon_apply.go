package text

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// pronounce sets the pronunciation of the words that the lexicon has. No rule rewrites them
// afterwards.
func (l Lexicon) pronounce(t traced) traced {
	var all []replacement
	for i := 0; i < len(t.s); {
		n := wordLength(t.s[i:])
		if n == 0 {
			_, n = utf8.DecodeRuneInString(t.s[i:])
			i += n
			continue
		}
		p, length := l.find(t.s[i:], n)
		if p == nil || t.pronounced(i, i+length) || withinNumber(t.s, i, i+length) {
			i += n
			continue
		}
		o, said := t.origin(i, i+length), p.respelling
		o.by = p
		if p.phonemes != "" {
			said = t.s[i : i+length]
		}
		all = append(all, replacement{i, i + length, said, o})
		i += length
	}
	return t.with(all)
}

// withinNumber reports whether s continues beyond i to j as the same number, time or date: the
// 360 of 1,360 is not a word.
func withinNumber(s string, i, j int) bool {
	digit := func(b byte) bool { return '0' <= b && b <= '9' }
	joins := func(a, sign, b byte) bool { return digit(a) && strings.IndexByte(".,:/", sign) >= 0 && digit(b) }
	return i > 1 && joins(s[i-2], s[i-1], s[i]) || j > 0 && j+1 < len(s) && joins(s[j-1], s[j], s[j+1])
}

// find returns the entry that s begins with, with its ending, and its length in bytes; nil if
// there is none. The first word of s has n bytes.
func (l Lexicon) find(s string, n int) (*pronunciation, int) {
	first := strings.Map(fold, s[:n])
	for _, ending := range [...]string{"", "s", "es"} {
		for _, p := range l[strings.TrimSuffix(first, ending)] {
			if !strings.HasSuffix(first, ending) {
				break
			}
			if length := p.begins(s); length > 0 {
				if end, ok := endingOf(s[length:], p); ok {
					return p.with(end), length + len(end)
				}
			}
		}
	}
	return nil, 0
}

// begins returns the length in bytes of the entry at the beginning of s, 0 if s begins
// differently.
func (p *pronunciation) begins(s string) int {
	length := 0
	for _, want := range p.folded {
		r, n := utf8.DecodeRuneInString(s[length:])
		if n == 0 || p.exact && r != want || !p.exact && fold(r) != want {
			return 0
		}
		length += n
	}
	return length
}

// endingOf returns the possessive or plural ending after an entry, possibly none, or false if
// the word continues otherwise.
func endingOf(s string, p *pronunciation) (string, bool) {
	last := p.folded[len(p.folded)-1]
	for _, ending := range [...]string{"'s", "’s", "es", "s", "'", "’"} {
		if !strings.HasPrefix(s, ending) || startsWord(s[len(ending):]) {
			continue
		}
		hisses := strings.ContainsRune("sxz", unicode.ToLower(last))
		switch {
		case !alnum(last) && ending != "":
			continue
		case ending == "s" && hisses, ending == "es" && !hisses,
			(ending == "'" || ending == "’") && unicode.ToLower(last) != 's':
			continue
		}
		return ending, true
	}
	if !alnum(last) {
		return "", s == "" || rune(s[0]) != last
	}
	return "", !startsWord(s) && !startsMark(s)
}

func startsMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsMark(r)
}

// with returns the pronunciation of the entry with an ending.
func (p *pronunciation) with(ending string) *pronunciation {
	if ending == "" || ending == "'" || ending == "’" {
		return &pronunciation{folded: p.folded, respelling: p.respelling, phonemes: p.phonemes}
	}
	if p.phonemes == "" {
		return &pronunciation{folded: p.folded, respelling: p.respelling + ending}
	}
	return &pronunciation{folded: p.folded, phonemes: p.phonemes + endingSound(p.phonemes)}
}

// endingSound returns the phonemes of the "s" of a possessive or plural after phonemes.
func endingSound(phonemes string) string {
	last := []rune(strings.TrimRight(phonemes, "ːˈˌʰʲ\u0303 "))
	switch r := last[len(last)-1]; {
	case slices.Contains([]rune("szʃʒ"), r):
		return "ɪz"
	case slices.Contains([]rune("ptkfθxχ"), r):
		return "s"
	}
	return "z"
}

// names has the pronunciation of names and foreign words that eSpeak NG's English gets badly
// wrong. Lexicons take precedence.
var names = sync.OnceValue(func() Lexicon {
	l, err := NewLexicon(listed("names", "names").spoken)
	if err != nil {
		panic(err) // the first test of this package finds it
	}
	return l
})

// footnotes are superscript figures after words of three letters or more; those after shorter
// words are powers (m², km³).
var footnotes = regexp.MustCompile(`(\pL{3}[.,;:!?"”’)]*)[¹²³⁰⁴-⁹]+`)

func withoutNotes(t traced) traced { return t.only(footnotes, 1) }
