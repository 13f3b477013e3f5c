package text

import "strings"

// decimal writes out a number with commas between thousands and a decimal point: "1,234.5" is
// "one thousand two hundred thirty-four point five".
func (e english) decimal(s string) string {
	whole, fraction, pointed := strings.Cut(strings.ReplaceAll(s, ",", ""), ".")
	words := e.cardinal(whole)
	if whole == "" {
		words = "" // ".5" is "point five"
	}
	if pointed && fraction != "" {
		words = strings.TrimSpace(words + " point " + digitByDigit(fraction))
	}
	return words
}

// decimalRules bring continental decimals to the English notation.
func (e english) decimalRules() []rule {
	const (
		signs = `€|zł|Kč|\bkr\b|\b` + currencyCodes + `\b`
		comma = `(\d{1,3}(?:[. ]\d{3})*),(\d{2}|-|–|—)`
		point = `(\d{1,3}(?:\.\d{3})*\.000)`
	)
	amount := func(whole, part string) string {
		whole = ungrouped.Replace(whole)
		if len(part) != 2 || part[0] > '9' { // a dash stands for zero hundredths
			return whole
		}
		return whole + "." + part
	}
	return []rule{
		rewrite(`((?:`+signs+`) ?)`+comma, func(m match) (string, bool) {
			return m.group(1) + amount(m.group(2), m.group(3)), ended(m)
		}),
		rewrite(`\b`+comma+` ?(`+signs+`)`, func(m match) (string, bool) {
			return amount(m.group(1), m.group(2)) + " " + m.group(3), !pointedBefore(m.before()) && ended(m)
		}),
		e.says(`((?:`+signs+`) ?)`+point+`\b`, "$1{g2}", whole),
		e.says(`\b`+point+` ?(`+signs+`)`, "{g1} $2", whole),
		e.says(`\b(\d{1,3}),(\d{1,2})( ?)(`+unitPattern+`)`, "$1.$2$3$4", func(m match) bool { // 1,5 l
			return unitAfter(m.group(3), m.group(4), m) != "" && !pointedBefore(m.before())
		}),
	}
}

// percentRules write out percent and per mille, also in ranges.
func (e english) percentRules() []rule {
	return []rule{
		e.says(figures+`(?: ?%)?`+dash+figures+` ?%`, "{n1} to {n2} percent",
			func(m match) bool { return !endsNumber(m.before()) }),
		e.says(figures+` ?‰`, "{n1} per mille"),
		rewrite(`(-?)`+figures+` ?%`, func(m match) (string, bool) {
			return minusBefore(m.group(1), m.before()) + e.decimal(m.group(2)) + " percent" + m.spaceAfter(), true
		}),
	}
}
