package text

import (
	"regexp"
	"strings"
)

// sizeRules say how large things are: in feet and inches, and so much by so much.
func (e english) sizeRules() []rule {
	const n = `(\d+(?:\.\d+)?)`
	const by = ` ?(?:[xX×]|by) ?`
	const inch = `(?:"|″|′′|'')`
	// A closing quote has an opening one.
	quoted := func(m match) bool { return quotes(m.before())%2 == 1 }
	return []rule{
		doubtfulRule(`"″′'`, `\b`+n+`(`+inch+`|['′])`+by+n+`(?:`+inch+`|['′])(?:`+by+n+inch+`)?`,
			func(m match) (string, bool) { // 12" x 18", 6' x 4'
				said, unit := e.decimal(m.group(1))+" by "+e.decimal(m.group(3)), "inch"
				if m.group(2) == "'" || m.group(2) == "′" {
					unit = "foot"
				}
				if m.group(4) != "" {
					said += " by " + e.decimal(m.group(4))
				}
				return said + " " + sized(m, "2", unit), !quoted(m) && !startsWord(m.after())
			}),
		doubtfulRule("'′", `\b(\d{1,2})['′] ?(\d{1,2})`+inch, func(m match) (string, bool) { // 5'11"
			return e.sayCount(m.group(1), "foot") + " " + e.sayCount(m.group(2), "inch"), true
		}),
		doubtfulRule(`"″′'`, `\b(?:(\d+) )?(\d)/(\d{1,2})`+inch, func(m match) (string, bool) { // 3/4", 2 1/4"
			said, ok := e.sayFraction(m.group(2), m.group(3))
			if m.group(1) != "" {
				said = e.cardinal(m.group(1)) + " and " + said + " " + sized(m, "2", "inch")
			} else {
				said = strings.Replace(said, "a ", "one ", 1) + " inch"
			}
			return said, ok && m.apart() && !quoted(m)
		}),
		doubtfulRule(`"″′'`, `\b`+n+inch, func(m match) (string, bool) { // 27" screen
			return e.decimal(m.group(1)) + " " + sized(m, m.group(1), "inch"), !quoted(m)
		}),
		doubtfulRule("'′", `\b([3-8])['′](\d{1,2})\b`, func(m match) (string, bool) { // 6'1 tall
			return e.cardinal(m.group(1)) + " foot " + e.cardinal(m.group(2)), m.apart() && atoi(m.group(2)) < 12
		}),
		doubtfulRule("'′", `\b(\d{1,3})['′]`, func(m match) (string, bool) { // 5' tall
			return e.cardinal(m.group(1)) + " " + sized(m, m.group(1), "foot"), m.apart() && !opened(m.before())
		}),
		newRule("s", `\b((?i:under|over))[- ](\d{1,2})s\b`,
			func(m match) string { return m.group(1) + " " + pluralWord(e.cardinal(m.group(2))) }),
		// 363 cm x 437 cm, 73 × 92 × 2 cm
		doubtfulRule("xX×", numberPattern+`( ?)(`+unitPattern+`) ?[xX×] ?`+numberPattern+`( ?)(`+unitPattern+`)`,
			func(m match) (string, bool) {
				from, to := unitSign(m.group(3)), unitAfter(m.group(5), m.group(6), m)
				return e.decimal(m.group(1)) + " " + plural(m.group(1), from) + " by " + e.decimal(m.group(4)) + " " +
						plural(m.group(4), to),
					from != "" && to != "" && m.apart()
			}),
		doubtfulRule("xX×", `\b`+numberPattern+` ?[xX×] ?`+numberPattern+`(?: ?[xX×] ?`+numberPattern+`)?( ?)(`+
			unitPattern+`)`, func(m match) (string, bool) {
			name := unitAfter(m.group(4), m.group(5), m)
			by := " by "
			if strings.HasSuffix(name, "gram") || strings.HasSuffix(name, "liter") || strings.HasSuffix(name, "litre") {
				by = " times " // 2 x 500 mg
			}
			said := e.decimal(m.group(1)) + by + e.decimal(m.group(2))
			if m.group(3) != "" {
				said += " by " + e.decimal(m.group(3))
			}
			return said + " " + plural("2", name), name != "" && m.apart()
		}),
		// 12 fl. oz., 900 sq. ft.
		newRule("f", numberPattern+` ?fl\.? ?oz\b\.?`, func(m match) string {
			return e.decimal(m.group(1)) + " fluid " + plural(m.group(1), "ounce") + m.stop()
		}),
		newRule("sc", numberPattern+` ?(sq|cu)\.? ?(ft|in|yd|mi|km|m)\b\.?`, func(m match) string {
			unit := formOf(` sq:square cu:cubic `, m.group(2)) + " " + unitSign(m.group(3))
			return e.decimal(m.group(1)) + " " + plural(m.group(1), unit) + m.stop()
		}),
	}
}

// sized is a unit behind a size: in the singular where that says of what kind a
// thing is.
func sized(m match, n, unit string) string {
	if describes(m) {
		return unit
	}
	return plural(n, unit)
}

// opened reports whether a quotation begins in s that is not closed yet: one in
// single quotes, which stand before a word and behind one.
func opened(s string) bool {
	s = " " + strings.NewReplacer("(", " ", `"`, " ").Replace(s) + " "
	return strings.LastIndex(strings.ReplaceAll(s, " ' ", "   "), " '") > strings.LastIndex(s, "' ")
}

// quotes counts the quotation marks in s that are no inches.
func quotes(s string) int { return len(regexp.MustCompile(`(?:^|\D)"`).FindAllString(s, -1)) }
