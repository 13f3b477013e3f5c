package text

import (
	"regexp"
	"sync"
)

// names are how names and words of many origins are said that eSpeak NG's
// English gets badly wrong. What a lexicon says goes before.
var names = sync.OnceValue(func() Lexicon {
	l, err := NewLexicon(listed("names", "names").said)
	if err != nil {
		panic(err) // the first test of this package finds it
	}
	return l
})

// footnotes are superior figures behind words of three letters or more: those
// behind shorter ones are powers (m², km³).
var footnotes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\pL{3}[.,;:!?"”’)]*)[¹²³⁰⁴-⁹]+`)
})

func withoutNotes(t traced) traced { return t.only(footnotes(), 1) }
