package voice

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"

	"parley/appliance/audio/shape"
)

// interpretation is what a description means.
type interpretation struct {
	gender Gender
	hint   Gender // from a pronoun
	age    age
	accent string
	rate   float64 // natural logarithm
	shape  shape.Settings
}

// manner returns the rate and the shape.
func (i interpretation) manner() Manner {
	return Manner{Rate: math.Exp(min(max(i.rate, math.Log(minRate)), math.Log(maxRate))), Shape: i.shape}
}

const (
	// longestPhrase is the largest number of words of a phrase in the vocabulary.
	longestPhrase = 3
	// reach is how many words before its trait a degree or a negation may stand.
	reach = 3
	// negatedShare is how much of the opposite of a trait "not" means: a voice that is not deep
	// is not high.
	negatedShare = -0.4
)

// entry is the meaning of a phrase.
type entry struct {
	trait  *trait
	manner bool
	degree float64
	not    bool
}

// lexicon is the vocabulary by phrase.
type lexicon map[string]entry

func newLexicon() lexicon {
	l := lexicon{}
	add := func(words string, e entry) {
		for phrase := range strings.SplitSeq(words, ", ") {
			l[phrase] = e
		}
	}
	for _, s := range vocabulary() {
		for i := range s.traits {
			add(s.traits[i].Words, entry{trait: &s.traits[i], manner: s.manner})
		}
	}
	for _, d := range degrees() {
		add(d.Words, entry{degree: d.times})
	}
	add(negations, entry{not: true})
	return l
}

// interpret interprets a description. Words about who speaks count only if who is set, and
// unknown words change nothing.
func (l lexicon) interpret(description string, who bool) (r interpretation) {
	words := split(description)
	times, negated, left := 1.0, false, 0
	for i := 0; i < len(words); {
		e, n := l.at(words[i:])
		if who && n < 2 {
			if a := ageAt(words, i); a != anyAge {
				r.age = cmp.Or(r.age, a)
			}
		}
		switch {
		case words[i] == "," || words[i] == "but":
			times, negated, left = 1, false, 0
		case e.degree != 0:
			times, left = times*e.degree, reach
		case e.not:
			negated, left = true, reach
		case e.trait != nil && (e.manner || who):
			r.add(*e.trait, times, negated)
			times, negated, left = 1, false, 0
		default:
			if left--; left <= 0 {
				times, negated = 1, false
			}
		}
		i += n
	}
	r.gender = cmp.Or(r.gender, r.hint)
	return r
}

// at returns the entry of the longest known phrase that words begin with, and its number of
// words.
func (l lexicon) at(words []string) (entry, int) {
	for n := min(longestPhrase, len(words)); n > 1; n-- {
		if e, ok := l[strings.Join(words[:n], " ")]; ok {
			return e, n
		}
	}
	for _, form := range forms(words[0]) {
		if e, ok := l[form]; ok {
			return e, 1
		}
	}
	return entry{}, 1
}

func (i *interpretation) add(t trait, times float64, negated bool) {
	if negated {
		times *= negatedShare
	} else {
		gender := &i.gender
		if t.weak {
			gender = &i.hint
		}
		*gender, i.age, i.accent = cmp.Or(*gender, t.gender), cmp.Or(i.age, t.age), cmp.Or(i.accent, t.accent)
	}
	i.rate += t.rate * times
	s := t.shape
	for _, x := range []*float64{&s.Pitch, &s.Formant, &s.Range, &s.Brightness, &s.Warmth, &s.Breath, &s.Rough,
		&s.Pauses, &s.Gain} {
		*x *= times
	}
	if t.shape.Breath == 1 && times > 0 { // a slight whisper is still a whisper, only softer
		s.Breath = 1
	}
	s.Breath, s.Rough = max(s.Breath, 0), max(s.Rough, 0)
	s.Range, s.Pauses = max(s.Range, -1), max(s.Pauses, -0.9)
	i.shape = i.shape.Plus(s)
}

// split returns the words of a description in lower case, with "," for pauses.
func split(s string) []string {
	var words []string
	for field := range strings.FieldsSeq(strings.ToLower(strings.ReplaceAll(s, "’", "'"))) {
		for part := range strings.FieldsFuncSeq(field, func(r rune) bool {
			return r == '-' || r == '–' || r == '/' || r == '_'
		}) {
			core := strings.TrimFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if core != "" {
				words = append(words, strings.TrimSuffix(core, "'s"))
			}
			if strings.TrimRight(part, ",.;:!?—") != part {
				words = append(words, ",")
			}
		}
	}
	return words
}

// forms returns a word and the words that it may be a form of: deeper, deepest, sadly, happier,
// whispering, shouted, robots, tenderness.
func forms(word string) []string {
	all := []string{word}
	for _, ending := range []string{"ly", "er", "est", "ing", "ed", "s", "ish", "ness"} {
		stem, ok := strings.CutSuffix(word, ending)
		if !ok || len(stem) < 3 {
			continue
		}
		all = append(all, stem)
		if ending != "s" {
			all = append(all, stem+"e")
		}
		if y, ok := strings.CutSuffix(stem, "i"); ok {
			all = append(all, y+"y")
		}
		if n := len(stem); stem[n-1] == stem[n-2] { // sadder
			all = append(all, stem[:n-1])
		}
	}
	return all
}

// ageAt parses an age in figures: 70 years old, aged 70, in her 70s.
func ageAt(words []string, i int) age {
	text, decade := strings.CutSuffix(words[i], "s")
	years, err := strconv.Atoi(text)
	if err != nil || years < 1 || years > 120 {
		return anyAge
	}
	before, after := "", ""
	if i > 0 {
		before = words[i-1]
	}
	if i+1 < len(words) {
		after = words[i+1]
	}
	if !decade && before != "aged" && before != "age" && after != "year" && after != "years" && after != "yo" {
		return anyAge
	}
	switch {
	case years < 13:
		return child
	case years < 20:
		return teen
	case years < 40:
		return young
	case years < 60:
		return middle
	}
	return old
}
