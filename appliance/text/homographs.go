package text

import (
	"regexp"
	"strings"
	"sync"
)

// homograph is a word that sounds different as a verb than as a noun or adjective: its
// phonemes.
type homograph struct{ verb, other [2]string } // American, British

var homographs = sync.OnceValue(func() map[string]homograph {
	all := map[string]homograph{}
	for word, said := range listed("homographs", "homographs").spoken {
		f := append([]string{word}, strings.Fields(said)...)
		for i := 2; i < len(f); i += 2 {
			if f[i] == "=" {
				f[i] = f[i-1]
			}
		}
		all[f[0]] = homograph{[2]string{f[1], f[2]}, [2]string{f[3], f[4]}}
	}
	return all
})

// homographOf returns the entry of a word, and the word without the ending "s" or "es".
func homographOf(word string) (stem string, h homograph, ok bool) {
	for _, ending := range [...]string{"", "s", "es"} {
		if stem, ok = strings.CutSuffix(word, ending); ok {
			if h, ok = homographs()[stem]; ok {
				return stem, h, true
			}
		}
	}
	return word, homograph{}, false
}

// disambiguated sets the phonemes of the homographs whose use is clear from the words around
// them; eSpeak NG decides the others by rules of its own.
func (o Options) disambiguated(t traced) traced {
	accent := 0
	if _, region := parseTag(o.Language); region != "" && region != "us" && region != "ca" {
		accent = 1
	}
	var all []replacement
	ws := wordsOf(t.s)
	for i, word := range ws {
		stem, h, known := homographOf(word.lower)
		if !known || t.pronounced(word.from, word.to) {
			continue
		}
		ipa := h.verb[accent]
		switch ws.use(i, stem) {
		case unknown:
			continue
		case other:
			ipa = h.other[accent]
		}
		if stem != word.lower {
			ipa += endingSound(ipa)
		}
		at := t.origin(word.from, word.to)
		at.by = &pronunciation{folded: []rune(word.lower), phonemes: ipa}
		all = append(all, replacement{word.from, word.to, t.s[word.from:word.to], at})
	}
	return t.with(all)
}

// positionedWord is a word of a text, its position, and whether it begins a clause.
type positionedWord struct {
	lower    string
	from, to int
	first    bool
}

type positionedWords []positionedWord

var clauseWord = regexp.MustCompile(`[\pL\p{Nd}][\pL\p{Nd}\pM'-]*`)

func wordsOf(s string) positionedWords {
	var all positionedWords
	end := 0
	for i, at := range clauseWord.FindAllStringIndex(s, -1) {
		first := i == 0 || strings.ContainsAny(s[end:at[0]], ".,;:!?()\"\n")
		end = at[1]
		all = append(all, positionedWord{strings.ToLower(s[at[0]:end]), at[0], end, first})
	}
	return all
}

// at returns word i if it is in the clause of word of, or "".
func (ws positionedWords) at(i, of int) string {
	if i < 0 || i >= len(ws) {
		return ""
	}
	for j := min(i, of) + 1; j <= max(i, of); j++ {
		if ws[j].first {
			return ""
		}
	}
	return ws[i].lower
}
