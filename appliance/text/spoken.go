package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPasses bounds how often the rules are applied. One pass does nearly all;
// a second finds what the first has brought together, as in "Chapter [IV]".
const maxPasses = 4

// verbalize writes t as it is said. English has its numbers, dates, money, units,
// addresses and abbreviations written out, and no digit is left. What it gives
// is not changed by it again.
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

// english writes out what no lexicon has.
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

// rules are applied one after another, the most particular first: what one has
// written out, the next does not see.
func (e english) rules() []rule {
	return slices.Concat(
		e.keypadRules(), e.shortRules(), e.degreeRules(), e.streetRules(), e.comparisonRules(), e.groupingRules(),
		e.decimalRules(), electronicRules(e.sayAddress), e.codeRules(), e.dateRules(), e.timeRules(), e.phoneRules(),
		e.longNumberRules(), e.moneyRules(), e.sizeRules(), e.fractionsOfUnits(), e.percentRules(), e.measureRules(),
		e.fractionRules(), e.ordinalRules(), e.rangeRules(), e.romanRules(), e.abbreviationRules(), e.capitalRules(),
		e.numberRules(), e.signRules(),
	)
}

func (e english) says(pattern, template string, guards ...condition) rule {
	return says(e.ways(), pattern, template, guards...)
}

// ways are the letters for how a group of a template is said.
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

// endOfSentence is "." when what follows an abbreviation shows that its full
// stop was the sentence's, too.
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

// lastRune is the end of s that holds its last rune.
func lastRune(s string) string {
	_, n := utf8.DecodeLastRuneInString(s)
	return s[len(s)-n:]
}

// lastWord is the word that ends s, without the space behind it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ")
	return s[strings.LastIndexAny(s, " (\"")+1:]
}

// legible brings the many ways to write the same sign to one: full-width and
// styled letters, digits of other scripts, dashes, quotes, vulgar fractions.
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

// superior is the figure or the minus that stands above the line in r, "" if none
// does.
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
		return "" // said by nobody
	case r == '²', r == '³':
		return "^" + superior(r)
	case r >= '₀' && r <= '₉':
		return string('0' + r - '₀')
	case unicode.Is(unicode.No, r): // ½ and the like stand behind a whole number
		return " " + norm.NFKC.String(string(r))
	}
	return norm.NFKC.String(string(r))
}

// plainSign gives dashes, quotes and digits their ASCII form.
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

// onTheLine writes letters that are set above the line as others: Mᵐᵉ, 1ᵉʳ.
func onTheLine(r rune) rune {
	if plain := []rune(norm.NFKC.String(string(r))); unicode.Is(unicode.Lm, r) && len(plain) == 1 &&
		unicode.IsLetter(plain[0]) {
		return plain[0]
	}
	return r
}

// asciiDigit turns a digit of any script into that of ours. Every range of
// decimal digits in Unicode begins with a zero and has tens of them.
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
