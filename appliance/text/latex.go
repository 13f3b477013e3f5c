package text

import (
	"regexp"
	"strings"
)

var (
	// formula matches what language models write as mathematics: \( … \), \[ … \], $$ … $$, $ …
	// $.
	formula = regexp.MustCompile(`\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$([^$]+)\$\$|\$([^$\s](?:[^$]*[^$\s])?)\$`)
	// mathematical matches what does not occur between two prices; texWord is a word that is
	// written out.
	mathematical = regexp.MustCompile(`[\\^_{}=<>]|^[A-Za-z]{1,2}$|^[A-Za-z]\(\w\)$|[a-zA-Z] ?[+*/-]|[+*/-] ?[a-z]\b`)
	texWord      = regexp.MustCompile(`(?:^|[^\\{\pL])\pL{4,}`)

	texFraction = regexp.MustCompile(`\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}`)
	texGroup    = regexp.MustCompile(`(?:\\(?:text|mathrm|mathbf)|(\^))\{([^{}]*)\}`)
	texIndex    = regexp.MustCompile(`_\{?([A-Za-z0-9]+)\}?`)
	texSigns    = strings.NewReplacer(`^\circ`, "°", `^{\circ}`, "°", `\sqrt`, "√", `\times`, "×", `\cdot`, "×",
		`\div`, "÷", `\pm`, "±", `\leq`, "≤", `\le`, "≤", `\geq`, "≥", `\ge`, "≥", `\neq`, "≠",
		`\approx`, "≈", `\left`, "", `\right`, "")
	texMarks = strings.NewReplacer("{", "", "}", "", `\`, " ", "^2", "²", "^3", "³")
)

// withoutTeX writes TeX formulas with ordinary signs.
func (o Options) withoutTeX(t traced) traced {
	if !strings.ContainsAny(t.s, `$\`) {
		return t
	}
	code, _ := parseTag(o.Language)
	over := listed("signs", "over").spoken[code]
	return t.replace(formula.FindAllStringSubmatchIndex(t.s, -1), func(m match) (string, bool) {
		s := m.group(4)
		if s != "" && (!mathematical.MatchString(s) || texWord.MatchString(s) || startsDigit(m.after()) ||
			endsNumber(m.before())) {
			return "", false
		}
		s = texGroup.ReplaceAllString(texSigns.Replace(m.group(1)+m.group(2)+m.group(3)+s), "$1$2")
		s = texFraction.ReplaceAllStringFunc(s, func(fraction string) string {
			parts := texFraction.FindStringSubmatch(fraction)
			if startsDigit(parts[1]) && startsDigit(parts[2]) {
				return parts[1] + "/" + parts[2]
			}
			return " " + parts[1] + " " + over + " " + parts[2] + " "
		})
		s = texMarks.Replace(texIndex.ReplaceAllString(s, " sub $1"))
		return m.space() + strings.Join(strings.Fields(s), " ") + m.spaceAfter(), true
	})
}
