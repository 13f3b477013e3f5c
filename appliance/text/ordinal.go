package text

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ordinal writes out an ordinal: "42" is "forty-second".
func (e english) ordinal(n string) string {
	words := e.cardinal(n)
	cut := strings.LastIndexAny(words, " -") + 1
	last := words[cut:]
	if place := listed("en", "irregular ordinals").spoken[last]; place != "" {
		return words[:cut] + place
	}
	if base, ok := strings.CutSuffix(last, "y"); ok {
		last = base + "ie"
	}
	return words[:cut] + last + "th"
}

// ordinalRules write out ordinals and numbered things.
func (e english) ordinalRules() []rule {
	const place = `(\d+(?:st|nd|rd|th))`
	return []rule{
		e.says(`(?i)\b`+place+dash+place+`\b`, "$1 to $2"),
		e.says(`\b`+place+` [cC]\.`, "$1 century{.}"),
		e.says(`\b`+place+` fl\.`, "$1 floor{.}"),
		e.says(`(?i)\b(\d+(?:,\d{3})*)(?:st|nd|rd|th)\b`, "{o1}", apart),
		e.says(`#(\d+)`, "{<}number {r1}{>}"),
		e.says(`\bN[or](s?)\. ?(\d+)`, "Number$1 {r2}{>}"),
		e.says(`\bn[or](s?)\. ?(\d+)`, "number$1 {r2}{>}"),
		e.says(`\b([Rr]oom|[Gg]ate|[Ff]light|[Bb]us|[Hh]ighway|[Rr]oute|[Aa]partment|[Ss]uite|[Uu]nit|I|US|`+
			`[Ee]rror|HTTP|Boeing|Airbus)[- ]?(\d{3})\b`, "$1 {r2}"),
	}
}

// sayNumbered writes out the number of a room, a flight or a rule: three digits as on a door,
// "101" is "one oh one" and "404" is "four oh four".
func (e english) sayNumbered(n string) string {
	switch {
	case len(n) > 4 || n[0] == '0':
		return digitByDigit(n)
	case len(n) != 3 || strings.HasSuffix(n, "00"):
		return e.cardinal(n)
	case n[1] == '0':
		return units[n[0]-'0'] + " oh " + units[n[2]-'0']
	}
	return units[n[0]-'0'] + " " + e.cardinal(n[1:])
}

// romanRules write out Roman numerals that are neither words nor initials.
func (e english) romanRules() []rule {
	isRoman := func(i int) condition {
		return func(m match) bool { return roman(m.group(i)) != "" && m.apart() }
	}
	unjoined := func(m match) bool {
		return !strings.HasSuffix(m.before(), ".") && !strings.HasSuffix(m.before(), "-") &&
			!strings.HasPrefix(m.after(), "-")
	}
	return []rule{
		// "IV. The House" at the beginning of a line, (iv), and Ⅳ
		rewrite(`^([IVX]{1,5}|[ivx]{2,5})([.)])( \S|$)`, func(m match) (string, bool) {
			n := roman(m.group(1))
			next, _, _ := strings.Cut(strings.TrimSpace(m.group(3))+m.after(), " ")
			heads := next == "" || stops("starters", strings.ToLower(next)) || listed("en", "headings").has(next)
			return e.cardinal(n) + m.group(2) + m.group(3),
				n != "" && (len(m.group(1)) > 1 || m.group(2) == ")" || heads)
		}),
		e.says(`\(([ivx]{1,5}|[IVX]{1,5})\)`, "({R1})", isRoman(1), func(m match) bool {
			listed := strings.Contains(m.text, "ii)") || strings.Contains(m.text, "II)")
			return listed || len(m.group(1)) > 1 && m.group(1) != "IV"
		}),
		rewrite(`[Ⅰ-ⅿ]+`, func(m match) (string, bool) {
			letters := strings.ToUpper(norm.NFKC.String(m.group(0)))
			if n := roman(letters); n != "" && !listed("en", "rulers").has(lastWord(m.before())) {
				letters = e.cardinal(n)
			}
			return m.space() + letters + m.spaceAfter(), true
		}),
		e.says(`\b([IVX]{2,5})(?:th|st|nd|rd)? century\b`, "{O1} century", isRoman(1)),
		e.says(`\b(`+listed("en", "before a Roman number").pattern()+`) ([IVX]|[IVXLC]{2,})\b`, "$1 {R2}",
			isRoman(2)),
		e.says(`\b(`+listed("en", "before a long Roman number").pattern()+`) ([IVX]{2,5})\b`, "$1 {R2}",
			isRoman(2)),
		e.says(`\b((?:King|Queen|Pope|Emperor|Empress|Tsar) [A-Z][a-z]+) I\b`, "$1 the first"),
		e.says(`\b([A-Z][a-z]+) I($|[.,;:!?)']| of\b)`, "$1 the first$2",
			func(m match) bool { return listed("en", "rulers").has(m.group(1)) }),
		e.says(`\b([A-Z][a-z]+) ([VX]|[IVX]{2,})\b`, "$1 the {O2}", isRoman(2),
			func(m match) bool { return listed("en", "rulers").has(m.group(1)) }),
		e.says(`\b(X{0,3}(?:III?|VIII?)|X{1,3}(?:IV|VI?|IX|I))\b`, "{R1}", isRoman(1), unjoined),
	}
}

var romanForm = regexp.MustCompile(`^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$`)

// roman converts a Roman numeral to digits, or returns "" if it is malformed.
func roman(s string) string {
	s = strings.ToUpper(s)
	if s == "" || !romanForm.MatchString(s) {
		return ""
	}
	n, behind := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		value := map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}[s[i]]
		if value < behind {
			value = -value
		}
		n, behind = n+value, max(value, behind)
	}
	return strconv.Itoa(n)
}

// ordinals are the rules for ordinals: 64e, 2°, 3ra.
func (l language) ordinals() []rule {
	switch l {
	case "fr", "it":
		return []rule{rewrite(`\b([1-9]\d{0,2})(?:(?:°|º)( \pL)|(?:e|ème|eme|ième)s?\b)`, func(m match) (string, bool) {
			said := l.ordinal(atoi(m.group(1)))
			return said + m.group(2), said != ""
		})}
	case "es":
		return []rule{rewrite(`\b([1-9]\d?)\.?(er|[rdtmvn][oa])(s?)\b`, func(m match) (string, bool) {
			said := l.ordinal(atoi(m.group(1)))
			switch ending := m.group(2); {
			case ending == "er":
				said = strings.TrimSuffix(said, "o")
			case ending[1] == 'a':
				said = strings.TrimRight(strings.ReplaceAll(said+" ", "o ", "a "), " ")
			}
			return said + m.group(3), m.apart()
		})}
	}
	return nil
}

// ordinal returns an ordinal, or "" if it is unknown: "soixante-quatrième" for 64.
func (l language) ordinal(n int) string {
	said := l.list("places").spoken[strconv.Itoa(n)]
	switch {
	case l == "fr" && n == 1:
		return l.word("first")
	case l == "fr":
		words := strings.TrimSuffix(frenchWords(n), "e")
		if strings.HasSuffix(words, "neuf") {
			words = words[:len(words)-1] + "v"
		}
		return strings.Replace(words+"ième", "cinqième", "cinquième", 1)
	case said == "" && l == "es":
		return phrase(l.list("tenth places").spoken[strconv.Itoa(n/10)], l.list("places").spoken[strconv.Itoa(n%10)])
	}
	return said
}

// romans are the rules for Roman numerals: XIXe, chapitre IX, Louis XIV, III. Le jardin.
func (l language) romans() []rule {
	isRoman := func(m match) bool { return m.apart() && roman(m.group(2)) != "" }
	all := []rule{
		l.says(`(?i)\b(`+listed("romance", "parts").pattern()+`\.? )(?-i:([IVXLC]+))\b`, "$1{x2}", isRoman),
		rewrite(`[Ⅰ-Ⅿ]+`, func(m match) (string, bool) { return roman(norm.NFKC.String(m.group(0))), true }),
	}
	if l == "fr" {
		all = append(all,
			rewrite(`\b([IVX]+)(?:e|ème)\b`, func(m match) (string, bool) {
				n := roman(m.group(1))
				return l.ordinal(atoi(n)), n != "" && m.apart()
			}),
			l.says(`(\b)(X{0,3}(?:III?|VIII?)|X{1,3}(?:IV|VI?|IX|I)|^[IVX]{2,5})\b`, "{x2}", isRoman))
	}
	if l == "it" || l == "hi" {
		return all
	}
	return append(all, rewrite(`\b(\p{Lu}\p{Ll}+ )([VX]|[IVX]{2,5})\b`, func(m match) (string, bool) {
		n := roman(m.group(2)) // Felipe II
		if place := l.list("places").spoken[n]; atoi(n) <= 10 && place != "" {
			return m.group(1) + place, true
		}
		return m.group(1) + n, n != ""
	}))
}
