package text

import (
	"regexp"
	"strings"
)

var (
	// formula is what TeX sets as mathematics: \( … \), \[ … \], $$ … $$, $ … $.
	formula = regexp.MustCompile(`\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$([^$]+)\$\$|\$([^$\s](?:[^$]*[^$\s])?)\$`)
	// mathematical is what a price beside another price has none of.
	mathematical = regexp.MustCompile(`[\\^_{}=<>]|^[A-Za-z]{1,2}$|^[A-Za-z]\(\w\)$|[a-zA-Z] ?[+*/-]|[+*/-] ?[a-z]\b`)

	// texWord is a word that is written out.
	texWord = regexp.MustCompile(`(?:^|[^\\{\pL])\pL{4,}`)

	texParts = [...]struct {
		pattern *regexp.Regexp
		said    string
	}{
		{regexp.MustCompile(`\\[dt]?frac\{(\d)\}\{(\d{1,2})\}`), " $1/$2 "},
		{regexp.MustCompile(`\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}`), " $1 OVER $2 "},
		{regexp.MustCompile(`\\sqrt\{([^{}]*)\}`), "√$1"},
		{regexp.MustCompile(`\\(?:text|mathrm|mathbf|mathit|operatorname)\{([^{}]*)\}`), "$1"},
		{regexp.MustCompile(`\^\{?\\circ\}?`), "°"},
		{regexp.MustCompile(`\^\{([^{}]*)\}`), "^$1"},
		{regexp.MustCompile(`_\{?([A-Za-z0-9]+)\}?`), " SUB $1"},
	}
	texCommand = regexp.MustCompile(`\\([a-zA-Z]+|[,;:! ])`)
	texSigns   = strings.NewReplacer("{", "", "}", "", `\`, "", "^2", "²", "^3", "³")
)

// texWords are the commands that stand for signs; others are called as they are written.
const texWords = ` times:× cdot:× div:÷ pm:± le:≤ leq:≤ ge:≥ geq:≥ ne:≠ neq:≠ approx:≈ infty:∞ to:→ rightarrow:→
 left:_ right:_ quad:_ displaystyle:_ `

// over stands between the parts of a fraction.
const over = ` en:over fr:sur es:sobre pt:sobre it:su hi:बटा `

// withoutTeX writes formulas in TeX with the signs that readers know.
func (o Options) withoutTeX(t traced) traced {
	if !strings.ContainsAny(t.s, `$\`) {
		return t
	}
	language, _ := parseTag(o.Language)
	return t.replaced(formula.FindAllStringSubmatchIndex(t.s, -1), func(m match) (string, bool) {
		s := m.group(1) + m.group(2) + m.group(3)
		if m.group(4) != "" {
			s = m.group(4)
			if !mathematical.MatchString(s) || texWord.MatchString(s) || startsDigit(m.after()) || endsNumber(m.before()) {
				return "", false
			}
		}
		for was := ""; was != s; {
			was = s
			for _, p := range texParts {
				s = p.pattern.ReplaceAllString(s, p.said)
			}
		}
		s = texCommand.ReplaceAllStringFunc(s, func(c string) string {
			if sign := formOf(texWords, c[1:]); sign != "" || c[1] < 'A' {
				return " " + strings.TrimSpace(sign)
			}
			return " " + c[1:] + " "
		})
		between, below := formOf(over, language), ""
		switch {
		case between == "":
			between = "/"
		case language == "en":
			below = "sub"
		}
		s = texSigns.Replace(strings.NewReplacer("OVER", between, "SUB", below).Replace(s))
		return space(m) + strings.Join(strings.Fields(s), " ") + spaceAfter(m), true
	})
}
