package text

import (
	"slices"
	"strconv"
	"strings"
)

// hasEnding reports whether a list has a word, or its ending after a hyphen.
func (l list) hasEnding(word string) bool {
	return l.has(word) || slices.ContainsFunc(l.words, func(e string) bool {
		return e[0] == '-' && strings.HasSuffix(word, e[1:])
	})
}

// agreement rules write out the numbers whose gender follows what they count, which eSpeak NG
// ignores: "41 personas" are "cuarenta y una".
func (l language) agreement() []rule {
	numberedBy, countsNothing := listed("romance", "numbered by"), listed("romance", "no nouns")
	oneOf, oftenCounted := listed("romance", "before one"), listed("romance", "counted")
	return []rule{rewrite(`\b(\d{1,3}(?:[.\x{a0}\x{202f}]\d{3})?|\d{4,6})[ \x{a0}\x{202f}](\pL[\pL-]*)`,
		func(m match) (string, bool) {
			noun, before := strings.ToLower(m.group(2)), strings.TrimRight(m.before(), " \u00a0\u202f")
			last := strings.ToLower(strings.TrimRight(before[strings.LastIndexAny(before, " \u00a0(")+1:], "."))
			stop := strings.ContainsAny(lastRune(before), ",;:-/+€$£.")
			n := atoi(ungrouped.Replace(m.group(1)))
			switch {
			case m.group(1)[0] == '0', endsWord(m.before()), pointedBefore(m.before()),
				strings.HasSuffix(m.before(), "-"):
				return "", false
			case numberedBy.has(last) && (!stop || strings.HasSuffix(before, ".")), countsNothing.has(noun),
				len([]rune(noun)) < 3:
				return "", false
			case n == 1 && !stop && last != "" && !oneOf.hasEnding(last) && !oftenCounted.has(noun):
				return "", false // Apolo 1 despegó
			case n != 1 && noun != "mil" && !strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "x"):
				return "", false
			}
			said, ok := l.counted(n, l.isFeminine(noun, n > 1), noun)
			return strings.Replace(said+" ", "' ", "'", 1) + m.group(2), ok
		})}
}

// isFeminine guesses the gender of a noun by its ending.
func (l language) isFeminine(noun string, plural bool) bool {
	forms := []string{noun}
	if plural {
		forms = append(forms, strings.TrimSuffix(noun, "s"), strings.TrimSuffix(noun, "es"), strings.TrimSuffix(noun,
			"ces")+"z")
		for _, ending := range [...][2]string{{"ciones", "ción"}, {"siones", "sión"}, {"ções", "ção"}, {"sões", "são"},
			{"gens", "gem"}} {
			if base, ok := strings.CutSuffix(noun, ending[0]); ok {
				forms = append(forms, base+ending[1])
			}
		}
	}
	return !slices.ContainsFunc(forms, l.list("masculine").has) &&
		slices.ContainsFunc(forms, l.list("feminine").hasEnding)
}

// counted writes out a number below a million before the noun that it counts, or returns false
// if eSpeak NG reads it correctly.
func (l language) counted(n int, feminine bool, noun string) (string, bool) {
	switch l {
	case "fr":
		return frenchWords(n) + "e", feminine && n%10 == 1 && n%100 != 11 && n%100 != 71 && n%100 != 91
	case "es":
		const stressed wordList = " agua aula área alma arma hambre águila hacha "
		feminine = feminine && (n != 1 || !stressed.has(noun)) // un aula
		return l.cardinal(n, feminine), n%10 == 1 && n%100 != 11 || feminine && twoForms(n, 1)
	case "pt":
		return l.cardinal(n, feminine), feminine && twoForms(n, 2)
	case "it":
		return italianOne(feminine, noun), n == 1
	}
	return "", false
}

// italianOne returns "un", "uno", "una" or "un'".
func italianOne(feminine bool, noun string) string {
	vowel := strings.IndexAny(noun, "aeiouàèéìòù") == 0
	impure := noun[0] == 's' && strings.IndexByte("aeiou", noun[1]) < 0 || strings.IndexByte("zxy", noun[0]) >= 0 ||
		noun[:2] == "gn" || noun[:2] == "ps" || noun[:2] == "pn"
	switch {
	case feminine && vowel:
		return "un'"
	case feminine:
		return "una"
	case impure:
		return "uno"
	}
	return "un"
}

// twoForms reports whether a number has a feminine form: it ends with a number up to last, or
// has hundreds.
func twoForms(n, last int) bool {
	return n%10 >= 1 && n%10 <= last && n%100/10 != 1 || n%1000 >= 200 || n >= 2000 && twoForms(n/1000, last)
}

// gendered gives the last word of a numeral its feminine ending.
func gendered(words string, feminine bool) string {
	for _, ending := range [...][2]string{{"ún", "una"}, {"un", "una"}, {"um", "uma"}, {"dois", "duas"},
		{"tos", "tas"}} {
		if base, ok := strings.CutSuffix(words, ending[0]); ok && feminine {
			return base + ending[1]
		}
	}
	return words
}

// numeral returns a word of a list of numerals.
func (l language) numeral(list string, n int) string { return l.list(list).spoken[strconv.Itoa(n)] }

// cardinal writes out a number below a million in Spanish or Portuguese.
func (l language) cardinal(n int, feminine bool) string {
	behindHundred := map[language]string{"es": " ", "pt": " e "}[l]
	if n >= 1000 {
		said := strings.TrimPrefix(l.cardinal(n/1000, feminine)+" mil",
			gendered(l.numeral("numerals", 1), feminine)+" ")
		switch rest := n % 1000; {
		case rest == 0:
			return said
		case rest < 100 || rest%100 == 0:
			return said + behindHundred + l.cardinal(rest, feminine)
		default:
			return said + " " + l.cardinal(rest, feminine)
		}
	}
	said := ""
	if h := n / 100; n == 100 {
		return l.numeral("hundreds", 0)
	} else if h > 0 {
		said = gendered(l.numeral("hundreds", h), feminine)
		if n %= 100; n == 0 {
			return said
		}
		said += behindHundred
	}
	if n >= len(l.list("numerals").words) {
		said += l.numeral("tens", n/10)
		if n %= 10; n == 0 {
			return said
		}
		said += " " + l.word("and") + " "
	}
	return said + gendered(l.numeral("numerals", n), feminine)
}

// frenchWords writes out a number below a million in French.
func frenchWords(n int) string {
	l, said := language("fr"), ""
	for _, scale := range [...]struct {
		of   int
		name string
	}{{1000, "mille"}, {100, "cent"}} {
		if count := n / scale.of; count > 1 {
			said += frenchWords(count) + " " + scale.name + " "
		} else if count == 1 {
			said += scale.name + " "
		}
		n %= scale.of
	}
	ten := n / 10
	rest := n - ten*10
	if ten == 7 || ten == 9 {
		rest += 10
	}
	switch {
	case n == 0 && said != "":
		return strings.TrimRight(said, " ")
	case n < 20:
		return said + l.numeral("numerals", n)
	case rest == 0:
		return said + l.numeral("tens", ten)
	case n%10 == 1 && n < 80:
		return said + l.numeral("tens", ten) + " et " + l.numeral("numerals", rest)
	}
	return said + l.numeral("tens", ten) + "-" + l.numeral("numerals", rest)
}
