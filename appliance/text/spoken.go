package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxPasses bounds how often the rules are applied. One pass does nearly all;
// a second finds what the first has brought together, as in "Chapter [IV]".
const maxPasses = 4

// aloud writes t as it is said. English has its numbers, dates, money, units,
// addresses and abbreviations written out, and no digit is left. What it gives
// is not changed by it again.
func (o Options) aloud(t traced) traced {
	t = o.withoutTeX(withoutEmoji(t))
	if language, _ := parseTag(o.Language); language != "en" {
		t = o.Lexicon.pronounce(t.tidy().composed().runes(onTheLine))
		if language == "hi" {
			t = t.runes(asciiDigit)
		}
		if rules := foreignRules[language]; rules != nil {
			for _, r := range rules() {
				t = r.apply(t)
			}
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
		for _, r := range rules {
			t = r.apply(t)
		}
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
		e.formRules(), e.labelRules(), e.noticeRules(), e.streetRules(),
		e.groupingRules(), e.addressRules(), e.codeRules(), e.dateRules(), e.timeRules(),
		e.phoneRules(), e.moneyRules(), e.sizeRules(), e.measureRules(), e.orderRules(), e.mathRules(),
		e.abbreviationRules(), e.capitalRules(), e.numberRules(), e.symbolRules(),
	)
}

// A rule finds one way of writing and says it.
type rule struct {
	pattern *regexp.Regexp
	// needs are bytes of which one must be in a text for the pattern to match
	// at all; empty for none. Most sentences are spared most rules by it.
	needs string
	// say returns what is said for a match, or false to leave it.
	say func(m match) (string, bool)
}

const digits = "0123456789"

// newRule makes a rule that always speaks.
func newRule(needs, pattern string, say func(m match) string) rule {
	return rule{regexp.MustCompile(pattern), needs, func(m match) (string, bool) { return say(m), true }}
}

// writes makes a rule that says a template, where $1 is the first group of its pattern.
func writes(needs, pattern, template string) rule {
	expression := regexp.MustCompile(pattern)
	return rule{expression, needs, func(m match) (string, bool) {
		return string(expression.ExpandString(nil, template, m.text, m.at)), true
	}}
}

// doubtfulRule makes a rule that may leave what it matches.
func doubtfulRule(needs, pattern string, say func(m match) (string, bool)) rule {
	return rule{regexp.MustCompile(pattern), needs, say}
}

// A match is a place in a text that a rule's pattern fits.
type match struct {
	text string
	at   []int
}

// group is the i-th group, empty where it is not part of the match.
func (m match) group(i int) string {
	if m.at[2*i] < 0 {
		return ""
	}
	return m.text[m.at[2*i]:m.at[2*i+1]]
}

// before and after are the text around the match.
func (m match) before() string { return m.text[:m.at[0]] }
func (m match) after() string  { return m.text[m.at[1]:] }

// apart reports whether the match is not the middle of a longer word or
// number: no letter or digit touches it.
func (m match) apart() bool { return !endsWord(m.before()) && !startsWord(m.after()) }

// stop is "." if the match swallowed the full stop that ends its sentence.
func (m match) stop() string {
	if !strings.HasSuffix(m.group(0), ".") {
		return ""
	}
	return endOfSentence(m.after())
}

// apply replaces what the rule speaks of in t.
func (r rule) apply(t traced) traced {
	if r.needs != "" && !strings.ContainsAny(t.s, r.needs) {
		return t
	}
	if found := r.pattern.FindAllStringSubmatchIndex(t.s, -1); found != nil {
		return t.replaced(found, r.say)
	}
	return t
}

// endOfSentence is "." when what follows an abbreviation shows that its full
// stop was the sentence's, too.
func endOfSentence(after string) string {
	t := strings.TrimLeft(after, "\"')] ")
	if t == "" {
		return "."
	}
	word, _, _ := strings.Cut(t, " ")
	if t != after && unicode.IsUpper(rune(t[0])) && sentenceStarters.has(strings.ToLower(word)) {
		return "."
	}
	return ""
}

func endsWord(s string) bool {
	r := []rune(lastRunes(s))
	return len(r) > 0 && alnum(r[len(r)-1])
}

func startsWord(s string) bool {
	for _, r := range s {
		return alnum(r)
	}
	return false
}

// lastRunes is the end of s that holds its last rune.
func lastRunes(s string) string {
	i := max(len(s)-4, 0)
	for i > 0 && s[i]&0xc0 == 0x80 {
		i--
	}
	return s[i:]
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
		if power := superior(r); power != "" && (alnum(before) || superior(before) != "") {
			if said = power; superior(before) == "" { // 10²³ is one power
				said = "^" + power
			}
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
	case r == '²':
		return "^2"
	case r == '³':
		return "^3"
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
