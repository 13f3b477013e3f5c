package text

import "strings"

// symbolRules say the signs that are left when all that has a shape is said,
// and drop those that nobody says.
func (e english) symbolRules() []rule {
	word := func(sign, said string) rule {
		return newRule(sign, ` ?`+`\`+sign+` ?`, func(match) string { return " " + said + " " })
	}
	return []rule{
		newRule("♭♯♮", ` ?([♭♯♮])`, func(m match) string {
			return " " + map[string]string{"♭": "flat", "♯": "sharp", "♮": "natural"}[m.group(1)] + spaceAfter(m)
		}),
		newRule("†‡*", `(\pL)[†‡*]+`, func(m match) string { return m.group(1) }),
		newRule("&", ` ?&+ ?`,
			func(match) string { return " and " }), word("@", "at"), word("%", "percent"), word("+", "plus"),
		newRule("=", ` ?=+ ?`, func(match) string { return " equals " }),
		newRule("°º", ` ?[°º] ?`, func(match) string { return " degrees " }),
		newRule("§", `§+ ?`, func(match) string { return "section " }),
		newRule("$", `\$([A-Z])`, func(m match) string { return m.group(1) }), // a share's sign
		newRule("√±≈×÷$£€¢", ` ?([√±≈×÷$£€¢]) ?`, func(m match) string {
			const signs = ` √:square_root_of ±:plus_or_minus ≈:about ×:times ÷:divided_by $:dollars £:pounds €:euros ` +
				`¢:cents `
			return " " + formOf(signs, m.group(1)) + " "
		}),
		newRule("/", ` ?/+ ?`, func(m match) string { return saySlash(m) }),
		newRule("#", `#(\w)`, func(m match) string { return "hashtag " + m.group(1) }),
		newRule("-–—", ` [-–—]+ `, func(match) string { return ", " }),
		newRule("—", `—+`, func(match) string { return ", " }),
		newRule("→⇒←↑↓", ` ?(?:->|=>|[→⇒←↑↓]) ?`, func(match) string { return ", " }),
		newRule(`#*_\|<>{}[]^~`+"`", "[#*_\\\\|<>{}\\[\\]^~`]+", func(match) string { return " " }),
		newRule(",", `([a-z]),([a-z])`, func(m match) string { return m.group(1) + ", " + m.group(2) }), // (1,5)
		newRule(",;:.!?", ` +([,;:.!?])`, func(m match) string { return m.group(1) }),
	}
}

// saySlash says what stands between alternatives: "he/she" is "he or she", a
// slash between capitals is silent.
func saySlash(m match) string {
	before, after := lastWord(m.before()), m.after()
	if strings.HasPrefix(m.group(0), " ") && strings.HasSuffix(m.group(0), " ") { // $6 / $9
		return ", "
	}
	if before == "" || !endsWord(before) || !startsWord(after) || before == strings.ToUpper(before) {
		return " "
	}
	return " or "
}
