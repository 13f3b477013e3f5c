package text

import (
	"regexp"
	"strings"
)

// labelForms are what labels, forms and messages shorten, whatever stands behind.
const labelForms = ` appt:appointment appts:appointments avg:average amt:amount bal:balance avail:available ` +
	`addl:additional misc:miscellaneous hosp:hospital univ:university mgr:manager pkg:package pkgs:packages ` +
	`ctr:center stn:station viz:namely dia:diameter pkwy:parkway msg:message msgs:messages para:paragraph ` +
	`assoc:associates `

// bloody texts are about types of blood; onKeypad tells somebody to press keys.
var (
	bloody   = regexp.MustCompile(`(?i)\bblood|\bdonors?\b|\btype [ABO]+[+-]|\bAB[+-]`)
	onKeypad = regexp.MustCompile(`(?i)press|dial|push|touch|enter|hit| key`)
)

// labelRules bring what stands on labels, keypads and forms, and the signs of
// standards, units and results, to the ways of writing that the other rules know.
// They come first.
func (e english) labelRules() []rule {
	keys := ` *:star #:pound `
	if e.dayFirst {
		keys = ` *:star #:hash `
	}
	return []rule{
		// Press # to repeat, or *67
		doubtfulRule("#*", `(?i)\b(press|dial|hit|push|touch|enter|key|or|and|then)( the)? ([#*])(\d{0,3})( `+
			`key)?\b|\b(press|dial|hit|push|touch|enter|key|or|and|then)( the)? ([#*])( |$|[.,;:!?])`,
			func(m match) (string, bool) {
				said := m.group(1) + m.group(2) + m.group(6) + m.group(7) + " " + formOf(keys, m.group(3)+m.group(8))
				if m.group(4) != "" {
					said += " " + digitByDigit(m.group(4))
				}
				return said + m.group(5) + m.group(9), onKeypad.MatchString(m.text)
			}),
		// about: ~20 min, ~$8
		newRule("~", `(^|[ (])~ ?([$£€¥]?\d)`, func(m match) string { return m.group(1) + "about " + m.group(2) }),
		doubtfulRule(digits, `\b1[38]00 \d{3} \d{3}\b`, func(m match) (string, bool) {
			return sayGroups(m.group(0)), m.apart()
		}),
		newRule("/", `\b([Ee])xp(?:\.|ires?)?:? (0?[1-9]|1[0-2])/(2[4-9]|3\d)\b`, func(m match) string { // exp. 11/27
			return m.group(1) + "xpires " + monthNames[atoi(m.group(2))-1] + " " + e.year("20"+m.group(3))
		}),
		newRule("cCrRdDpP", `(?i)\b((?:call|ring|dial|phone)(?: us)?(?: on| at)? )(\d{3} \d{3})($|[.,;!?)]| [a-z])`,
			func(m match) string {
				return m.group(1) + sayGroups(m.group(2)) + m.group(3)
			}),
		newRule("n", `\b((?i:ticket|order|account|policy|invoice|room|serial|part|reference|member|case|phone|`+
			`tracking|id) no)\. ([a-z])`, func(m match) string {
			return strings.TrimSuffix(m.group(1), "no") + "number " + m.group(2)
		}),
		writes("/", `\b([Uu]nit) (\d{1,3})/(\d{1,4} [A-Z][a-z])`, "$1 $2, $3"),
		writes("/", `(^|[ (])(\d{1,2}) ?/ ?([$£€]\d)`, "$1$2 for $3"), // 3/$10
		newRule("–", `\b([A-Z]|XS|XL)–([A-Z]|X{1,3}L)\b`, func(m match) string {
			return m.group(1) + " to " + m.group(2)
		}),
		writes("/", `(\d ?(?:lbs?|oz|kg|pcs|packs?|boxes|cans|bottles)) ?/ ?([$£€]\d)`, "$1 for $2"),
		newRule("°º", `(\d) [°º] ?([CF])\b`, func(m match) string { return m.group(1) + "°" + m.group(2) }),
		newRule("l", `(\d) ?lbs?\. (\d+(?:\.\d+)? ?oz\b)`, func(m match) string {
			return m.group(1) + " lb " + m.group(2)
		}),
		newRule("in", `([xX×] ?\d+(?:\.\d+)?) in($|[).,;])`,
			func(m match) string { return m.group(1) + "in" + m.group(2) }), // 30 × 21 in
		// types of blood, marks
		doubtfulRule("+-", `\b(A|B|AB|O)([+-])($|[ ,.;)])`, func(m match) (string, bool) {
			return spell(m.group(1)) + " " + formOf(` +:positive -:negative `, m.group(2)) + m.group(3),
				bloody.MatchString(m.text)
		}),
		writes("W", `\bWW ?(II?|[12])\b`, "World War $1"),
		// short forms
		newRule("hH", `\b([Vv]isiting|[Oo]pening|[Oo]ffice|[Bb]usiness|[Ww]orking|[Ss]tore|[Cc]linic|[Dd]esk|`+
			`[Mm]useum|[Pp]er) hrs\b\.?`, func(m match) string {
			return m.group(1) + " hours" + m.stop()
		}),
		newRule("m", `\b((?i:every|each|per|this|next|last|a)) mo\b\.?`, func(m match) string {
			return m.group(1) + " month" + m.stop()
		}),
		newRule("w", `\bw/in\b`, func(match) string { return "within" }),
		newRule("p", `\bpls\b\.?`, func(match) string { return "please" }),
		newRule(".", `\b(e|E)st\. ((?:in )?(?:1\d|20)\d{2})\b`, func(m match) string {
			return m.group(1) + "stablished " + m.group(2)
		}),
		newRule(".", `\b(e|E)st\.( [a-z0-9$£€])`, func(m match) string { return m.group(1) + "stimated" + m.group(2) }),
		doubtfulRule(".", `\b([A-Za-z]{3,5})\.`, func(m match) (string, bool) {
			short := strings.ToLower(m.group(1))
			said := formOf(labelForms, short)
			return strings.Map(keepCase(m.group(1)), said[:min(len(said), 1)]) + said[min(len(said), 1):] + m.stop(),
				said != "" && !startsWord(m.after())
		}),
		newRule("ap", `\b([Aa])ppt(s?)\b`, func(m match) string { return m.group(1) + "ppointment" + m.group(2) }),
		// c. 1503–1506 at the beginning
		newRule(".", `(^|[ (])([cbd])\. ?(\d{3,4})\b`, func(m match) string {
			return m.group(1) + formOf(` c:circa b:born d:died `, m.group(2)) + " " + m.group(3)
		}),
	}
}
