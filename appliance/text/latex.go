package text

import (
	"regexp"
	"strings"
)

var (
	// formula is what TeX sets as mathematics: \( … \), \[ … \], $$ … $$, $ … $.
	formula = regexp.MustCompile(`\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$([^$]+)\$\$|\$([^$\s](?:[^$]*[^$\s])?)\$`)
	// mathematical is what a price beside another price has none of; texWord is a word that
	// is written out.
	mathematical = regexp.MustCompile(`[\\^_{}=<>]|^[A-Za-z]{1,2}$|^[A-Za-z]\(\w\)$|[a-zA-Z] ?[+*/-]|[+*/-] ?[a-z]\b`)
	texWord      = regexp.MustCompile(`(?:^|[^\\{\pL])\pL{4,}`)

	texRules = []rule{
		writes(`\\[dt]?frac\{(\d)\}\{(\d{1,2})\}`, " $1/$2 "),
		writes(`\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}`, " $1 OVER $2 "),
		writes(`\\sqrt\{([^{}]*)\}`, "√$1"),
		writes(`\\(?:text|mathrm|mathbf|mathit|operatorname)\{([^{}]*)\}`, "$1"),
		writes(`\^\{?\\circ\}?`, "°"),
		writes(`\^\{([^{}]*)\}`, "^$1"),
		writes(`_\{?([A-Za-z0-9]+)\}?`, " sub $1"),
		newRule(`\\([a-zA-Z]+)`, func(m match) string {
			if sign := formOf(texWords, m.group(1)); sign != "" {
				return strings.TrimSpace(sign)
			}
			return " " + m.group(1) + " "
		}),
	}
	texSigns = strings.NewReplacer("{", "", "}", "", `\`, "", "^2", "²", "^3", "³")
)

const (
	// texWords are the commands that stand for signs; others are called as they are written.
	texWords = ` times:× cdot:× div:÷ pm:± le:≤ leq:≤ ge:≥ geq:≥ ne:≠ neq:≠ approx:≈ infty:∞ to:→ rightarrow:→ left:_
 right:_ `
	// over stands between the parts of a fraction.
	over = ` en:over fr:sur es:sobre pt:sobre it:su hi:बटा `
)

// withoutTeX writes formulas in TeX with the signs that readers know.
func (o Options) withoutTeX(t traced) traced {
	if !strings.ContainsAny(t.s, `$\`) {
		return t
	}
	language, _ := parseTag(o.Language)
	return t.replaced(formula.FindAllStringSubmatchIndex(t.s, -1), func(m match) (string, bool) {
		s := m.group(4)
		if s != "" && (!mathematical.MatchString(s) || texWord.MatchString(s) || startsDigit(m.after()) ||
			endsNumber(m.before())) {
			return "", false
		}
		inner := trace(m.group(1) + m.group(2) + m.group(3) + s)
		for was := ""; was != inner.s; {
			was = inner.s
			inner = apply(texRules, inner)
		}
		s = texSigns.Replace(strings.ReplaceAll(inner.s, "OVER", formOf(over, language)))
		return space(m) + strings.Join(strings.Fields(s), " ") + spaceAfter(m), true
	})
}
