package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPasses bounds how often the rules are applied. One pass does nearly everything; a second
// finds what the first has joined, as in "Chapter [IV]".
const maxPasses = 4

// verbalize returns t as it is spoken. In English, numbers, dates, money, units, addresses and
// abbreviations are written out, and no digit is left. The result does not change if it is
// verbalized again.
func (o Options) verbalize(t traced) traced {
	t = o.withoutTeX(withoutEmoji(t))
	if code, _ := parseTag(o.Language); code != "en" {
		t = o.Lexicon.pronounce(t.tidy().composed().runes(onTheLine))
		if code == "hi" {
			t = t.runes(asciiDigit)
		}
		if rules := languageRules[code]; rules != nil {
			t = apply(rules(), t)
		}
		return t.tidy()
	}
	t = names().pronounce(o.Lexicon.pronounce(legible(withoutNotes(t))))
	return o.english(o.disambiguated(t))
}

// english writes out everything that has no entry in a lexicon.
func (o Options) english(t traced) traced {
	rules := o.rules()
	for range maxPasses {
		before := t.s
		t = legible(t)
		t = apply(rules, t)
		if t = t.tidy(); t.s == before {
			break
		}
	}
	return t
}

// rules returns the rules in the order in which they are applied, the most specific first: a
// rule does not see what an earlier one has written out.
func (e english) rules() []rule {
	return slices.Concat(
		e.keypadRules(), e.shortRules(), e.degreeRules(), e.streetRules(), e.comparisonRules(), e.groupingRules(),
		e.decimalRules(), electronicRules(e.sayAddress), e.codeRules(), e.dateRules(), e.timeRules(), e.phoneRules(),
		e.longNumberRules(), e.moneyRules(), e.sizeRules(), e.fractionsOfUnits(), e.percentRules(), e.measureRules(),
		e.fractionRules(), e.ordinalRules(), e.rangeRules(), e.romanRules(), e.abbreviationRules(), e.capitalRules(),
		e.numberRules(), e.signRules(),
	)
}

func (e english) says(pattern, template string, conditions ...condition) rule {
	return says(e.ways(), pattern, template, conditions...)
}

// ways returns the functions that verbalize a group of a template, by letter.
func (e english) ways() map[byte]func(string) string {
	return map[byte]func(string) string{
		'a': spellCode,
		'b': func(s string) string { return spellCode(strings.ReplaceAll(s, " ", "")) },
		'c': e.cardinal,
		'd': sayGroups,
		'e': func(s string) string { return figureRuns.ReplaceAllStringFunc(s, digitByDigit) },
		'g': regrouped,
		'm': func(s string) string { return monthNames[atoi(s)-1] },
		'n': e.decimal,
		'o': func(s string) string { return e.ordinal(strings.ReplaceAll(s, ",", "")) },
		'p': e.sayPlain,
		'r': e.sayNumbered,
		's': func(s string) string { return spell(strings.NewReplacer(".", "", " ", "", "-", "").Replace(s)) },
		'y': e.year,
		'D': dayName,
		'O': func(s string) string { return e.ordinal(roman(s)) },
		'P': compass,
		'Q': func(s string) string { return pluralWord(e.cardinal(s)) },
		'R': func(s string) string { return e.cardinal(roman(s)) },
		'U': strings.ToUpper,
		'Y': e.sayShortYear,
	}
}

var figureRuns = regexp.MustCompile(`\d+`)

// endOfSentence returns "." if the text after an abbreviation shows that its full stop also
// ends the sentence.
func endOfSentence(after string) string {
	t := strings.TrimLeft(after, "\"')] ")
	if t == "" {
		return "."
	}
	word, _, _ := strings.Cut(t, " ")
	if t != after && unicode.IsUpper(rune(t[0])) && stops("starters", strings.ToLower(word)) {
		return "."
	}
	return ""
}

func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return alnum(r)
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return alnum(r)
}

// lastRune returns the last rune of s.
func lastRune(s string) string {
	_, n := utf8.DecodeLastRuneInString(s)
	return s[len(s)-n:]
}

// lastWord returns the last word of s, without the space after it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ")
	return s[strings.LastIndexAny(s, " (\"")+1:]
}

// legible unifies the ways of writing a sign: full-width and styled letters, digits of other
// scripts, dashes, quotes, vulgar fractions.
func legible(t traced) traced {
	var w tracer
	var before rune
	for i, r := range t.s {
		said := legibleRune(r)
		if power := superior(r); power != "" && superior(before) != "" { // 10²³ is one power
			said = power
		} else if power != "" && alnum(before) {
			said = "^" + power
		}
		w.put(said, t.of[i])
		before = r
	}
	return w.text().composed().runes(plainSign).tidy()
}

// superior returns the figure or minus that r shows in superscript, or "".
func superior(r rune) string {
	const figures = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
	if r < 0x80 || !strings.ContainsRune(figures, r) {
		return ""
	}
	if r == '⁻' {
		return "-"
	}
	return norm.NFKC.String(string(r))
}

func legibleRune(r rune) string {
	switch {
	case r < 0x80, r == '…', r == 'º', r >= 'Ⅰ' && r <= 'ⅿ':
		return string(r)
	case strings.ContainsRune("™®©℠", r):
		return "" // not spoken
	case r == '²', r == '³':
		return "^" + superior(r)
	case r >= '₀' && r <= '₉':
		return string('0' + r - '₀')
	case unicode.Is(unicode.No, r): // ½ and the like follow a whole number
		return " " + norm.NFKC.String(string(r))
	}
	return norm.NFKC.String(string(r))
}

// plainSign returns the ASCII form of dashes, quotes and digits.
func plainSign(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case strings.ContainsRune("‐‑‒−", r):
		return '-'
	case strings.ContainsRune("‘’ʼ", r):
		return '\''
	case strings.ContainsRune("“”„«»", r):
		return '"'
	case r == '\u2044':
		return '/'
	}
	return asciiDigit(r)
}

// onTheLine returns the plain form of superscript letters: Mᵐᵉ, 1ᵉʳ.
func onTheLine(r rune) rune {
	if plain := []rune(norm.NFKC.String(string(r))); unicode.Is(unicode.Lm, r) && len(plain) == 1 &&
		unicode.IsLetter(plain[0]) {
		return plain[0]
	}
	return r
}

// asciiDigit returns the ASCII form of a digit of any script. Every range of decimal digits in
// Unicode begins with a zero and has a multiple of ten digits.
func asciiDigit(r rune) rune {
	if r < 0x80 || !unicode.IsDigit(r) {
		return r
	}
	zero := r
	for zero > 0 && unicode.IsDigit(zero-1) {
		zero--
	}
	return '0' + (r-zero)%10
}
