package text

import (
	"regexp"
	"strings"
)

var (
	units = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	tens   = [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	scales = [...]string{"", " thousand", " million", " billion", " trillion"}
)

const (
	// maxCardinal is how many digits a number may have to be spoken as one; longer ones are
	// spoken digit by digit.
	maxCardinal = 3 * len(scales)

	figures = `(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)` // 1,234.5
	signed  = `(-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+))`
	dash    = ` ?[-–—] ?`
)

// cardinal writes out a whole number, given in digits: "42" is "forty-two".
func (e english) cardinal(n string) string {
	n = strings.TrimLeft(n, "0")
	if n == "" {
		return "zero"
	}
	if len(n) > maxCardinal {
		return digitByDigit(n)
	}
	var words []string
	for len(n) > 0 {
		head, scale := e.scale(len(n))
		switch count := strings.TrimLeft(n[:head], "0"); {
		case count == "":
		case len(count) > 3: // crores
			words = append(words, e.cardinal(count)+scale)
		case e.and && scale == "" && len(count) < 3 && len(words) > 0: // a thousand and one
			words = append(words, "and "+e.belowThousand(atoi(count)))
		default:
			words = append(words, e.belowThousand(atoi(count))+scale)
		}
		n = n[head:]
	}
	return strings.Join(words, " ")
}

// scale returns how many of n digits count the largest scale, and its name.
func (e english) scale(n int) (head int, name string) {
	switch {
	case !e.lakhs || n <= 3:
		scale := (n - 1) / 3
		return n - 3*scale, scales[scale]
	case n <= 5:
		return n - 3, " thousand"
	case n <= 7:
		return n - 5, " lakh"
	}
	return n - 7, " crore"
}

// belowThousand writes out 1 to 999, and returns nothing for 0.
func (e english) belowThousand(n int) string {
	switch {
	case n == 0:
		return ""
	case n < 20:
		return units[n]
	case n < 100 && n%10 == 0:
		return tens[n/10]
	case n < 100:
		return tens[n/10] + "-" + units[n%10]
	case n%100 == 0:
		return units[n/100] + " hundred"
	case e.and:
		return units[n/100] + " hundred and " + e.belowThousand(n%100)
	}
	return units[n/100] + " hundred " + e.belowThousand(n%100)
}

// digitByDigit writes out each digit of s and drops other characters.
func digitByDigit(s string) string {
	var words []string
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			words = append(words, units[s[i]-'0'])
		}
	}
	return strings.Join(words, " ")
}

// atoi parses a few digits.
func atoi(s string) int {
	n := 0
	for i := range len(s) {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

// plural returns the plural of a noun for a number n, or the noun for one. Of several words, it
// changes the last one before "per" or the name of a scale.
func plural(n, noun string) string {
	if n == "1" {
		return noun
	}
	for _, behind := range [...]string{" per ", " of ", " Celsius", " Fahrenheit"} {
		if i := strings.Index(noun, behind); i >= 0 {
			return plural(n, noun[:i]) + noun[i:]
		}
	}
	cut := strings.LastIndexByte(noun, ' ') + 1
	if several := listed("en", "plurals").spoken[noun[cut:]]; several != "" {
		return noun[:cut] + several
	}
	return noun + "s"
}

// groupingRules unify the grouping of whole numbers: without the commas between lakhs and
// crores and, in locales that use them, without spaces between thousands.
func (e english) groupingRules() []rule {
	all := []rule{
		e.says(`\b(\d{1,2}(?:,\d{2})+,\d{3})(\.\d+)?\b`, "{g1}$2", apart, whole), // 12,34,567
		e.says(`(?:½|\b1/2)-?( price| off\b| day\b)`, "half$1"),
		e.says(`\b100s of\b`, "hundreds of"),
		e.says(`\b1,?000s of\b`, "thousands of"),
	}
	if e.rand {
		all = append(all,
			e.says(`\bR ?(\d[\d ,.]*)\b`, "ZAR $1"),
			e.says(`\b([1-9]\d{0,2}(?: \d{3})+)\b`, "{g1}", func(m match) bool {
				return !pointedBefore(m.before()) && !strings.HasSuffix(m.before(), "+")
			}),
			e.says(`\b(\d+),(\d{1,2})\b`, "$1.$2", whole))
	}
	return all
}

// regrouped puts commas between the thousands of a number.
func regrouped(n string) string {
	n = ungrouped.Replace(n)
	for i := len(n) - 3; i > 0; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}

// ungrouped removes the separators of thousands.
var ungrouped = strings.NewReplacer(".", "", ",", "", " ", "", "\u00a0", "", "\u202f", "")

// rangeRules write out ranges and calculations.
func (e english) rangeRules() []rule {
	return []rule{
		e.says(`\b(\d{4})`+dash+`(\d{4})\b`, "{p1} to {p2}"),
		e.says(`\b((?:19|20)\d{2})[-–](\d{2})\b`, "{y1} to {c2}", apart), // 1914-18
		rewrite(signed+` [-–—] `+signed, sayApart),                       // 10 - 4 = 6, pages 5 - 8
		e.says(`\b(\d+(?:,\d{3})*(?:\.\d+)?)[-–—](\d+(?:,\d{3})*(?:\.\d+)?)([^-\w]|$)`, "{p1} to {p2}$3",
			func(m match) bool { return strings.TrimRight(m.before(), "-./") == m.before() }),
		e.says(`\b(\d+(?:\.\d+)?)M ([a-z])`, "$1 million $2"), // 2.5M views
		e.says(`\b(\d+(?:\.\d+)?)k\b`, "{n1} thousand"),
		e.says(`(\w|\)) × (\w|\()`, "$1 times $2"),
		e.says(`\b(\d+(?:\.\d+)?) ?[x×X] ?(\d+(?:\.\d+)?)\b`, "{n1} by {n2}"),
		rewrite(`\b(\d+(?:\.\d+)?)[xX×]`, func(m match) (string, bool) { // 2x faster
			return e.decimal(m.group(1)) + " " + plural(m.group(1), "time"), ended(m)
		}),
		e.says(`\b(\d+)\+`, "$1 plus{>}"),
		e.says(` ?\+ ?`+signed, " plus $1"),
		e.says(`(\d) ?\* ?`+signed, "$1 times $2"),
		e.says(`\^2\b`, " squared"),
		e.says(`\^3\b`, " cubed"),
		e.says(`\^(`+signed+`|[a-z]\b)`, " to the power of $1"),
		e.says(`[~≈] ?`+signed, "{<}about $1"),
	}
}

// reckoned matches texts about calculations.
var reckoned = regexp.MustCompile(`(?i)=|\b(?:equals|minus|subtract\w*|difference|calculat\w+|solve|sum|plus|` +
	`take away|(?:what is|what's|how much is) -?\d)`)

// sayApart writes out two numbers with a spaced dash between them: a difference in
// calculations, or else a range.
func sayApart(m match) (string, bool) {
	between := " to "
	if m.group(1)[0] == '-' || m.group(2)[0] == '-' || reckoned.MatchString(m.text) {
		between = " minus "
	}
	return m.group(1) + between + m.group(2), !endsNumber(m.before()) && !pointed(m.after())
}

// sayPlain writes out a number without context: as a year if it looks like one.
func (e english) sayPlain(n string) string {
	if looksLikeYear(n) {
		return e.year(n)
	}
	return e.decimal(n)
}

// numberRules write out the remaining numbers.
func (e english) numberRules() []rule {
	return []rule{
		e.says(`\b([A-Z]{1,3})(\d{3,})\b`, "$1 {d2}"), // BA2490
		e.says(`([A-Za-z])-(\d+)\b`, "$1 $2"),         // COVID-19
		rewrite(`(-?)\b(\d{4})\b`, e.sayYear),
		rewrite(`(-?)(\d+(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)`, func(m match) (string, bool) {
			sign := minusBefore(m.group(1), m.before())
			if sign == "-" && m.space() != "" {
				sign = "" // C-3PO, 9-1-1
			}
			return m.space() + sign + e.decimal(m.group(2)) + m.spaceAfter(), true
		}),
	}
}

// minusBefore returns "minus " for a hyphen before a number if it is a sign, or else the
// hyphen.
func minusBefore(hyphen, before string) string {
	if hyphen != "" && (before == "" || strings.ContainsAny(before[len(before)-1:], " (=")) {
		return "minus "
	}
	return hyphen
}

// ranges are the rules for two numbers with a sign between them.
func (l language) ranges() []rule {
	return []rule{
		l.says(`\b(\d+(?:,\d+)?) ?[–—] ?(\d+(?:,\d+)?)`, "$1 [to] $2", apart),
		l.says(`\b(\d+(?:,\d+)?) - (\d+(?:,\d+)?)`, "$1 [to] $2", apart, func(m match) bool { // 5 - 8, and not 8 - 5
			from, to := m.group(1), m.group(2)
			return (len(from) < len(to) || len(from) == len(to) && from < to) && !strings.Contains(m.text, "=")
		}),
		l.says(`\b([1-9]?\d)-([1-9]?\d)\b`, "$1 [to] $2", alone), // 3-1, 45-60 min
	}
}
