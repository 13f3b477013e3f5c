package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// shortForms are abbreviations that are always said the same, "_" for a space.
const shortForms = ` e.g:for_example eg:for_example i.e:that_is etc:et_cetera vs:versus v.s:versus ` +
	`approx:approximately dept:department govt:government
 max:maximum min:minimum tel:telephone ext:extension inc:Incorporated ltd:Limited corp:Corporation co:Company ` +
	`bros:Brothers
 fig:figure figs:figures vol:volume pp:pages p:page ch:chapter sec:section eq:equation ca:circa cf:compare ` +
	`incl:including excl:excluding
 temp:temperature qty:quantity rm:room bldg:building lvl:level attn:attention vit:vitamin ea:each rev:revision ` +
	`flr:floor mtg:meeting pls:please btl:bottle
 ave:Avenue blvd:Boulevard rd:Road hwy:Highway ln:Lane sq:Square apt:apartment jr:Junior sr:Senior
 mon:Monday tue:Tuesday tues:Tuesday wed:Wednesday thu:Thursday thurs:Thursday fri:Friday sat:Saturday sun:Sunday
 jan:January feb:February mar:March apr:April jun:June jul:July aug:August sep:September sept:September oct:October ` +
	`nov:November dec:December `

// titleForms stand before a name, with a full stop or, in Britain, without.
const titleForms = ` Dr:Doctor Drs:Doctors Mr:Mister Mrs:Missus Ms:Miz Messrs:Messrs Prof:Professor Rev:Reverend ` +
	`Gen:General Col:Colonel Capt:Captain Lt:Lieutenant Sgt:Sergeant Maj:Major Sen:Senator Rep:Representative ` +
	`Gov:Governor Hon:Honorable Pres:President St:Saint Mt:Mount Ft:Fort `

// capitalForms are those short forms that are names: they count only when
// written with a capital, as their small forms are words ("sat.", "co.").
const capitalForms wordList = " mon sun sat wed fri thu tue tues thurs mar jan jun dec sep oct nov apr aug jul feb " +
	"sept co "

// atHead are short forms that stand before a number and end no sentence.
const atHead wordList = " p pp ch sec eq fig figs vol ca cf tel ext temp qty rm bldg lvl attn vit ea rev flr "

// crowned stand before a name whose "I" is a number, whatever follows.
const crowned wordList = " king queen pope emperor empress tsar czar "

// ruled are the names of kings, queens and popes that were several.
const ruled = `Henry|Louis|Elizabeth|George|Edward|Charles|Richard|William|James|Philip|Paul|Pius|Benedict|` +
	`Catherine|Frederick|Napoleon|Leo|Nicholas|Alexander|Francis|Gregory|Innocent|Clement|John|Peter|Ivan|` +
	`Ferdinand|Wilhelm|Mary|Margaret|Christian|Gustav|Ramesses|Ptolemy`

var rulers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:` + ruled + `) $`) })

// headings are words that a chapter is called by.
const headings wordList = " Introduction Overview Summary Conclusion Conclusions Background Methods Results" +
	" Discussion Definitions Purpose Scope About History General "

// romanBehind are what a Roman number stands behind, romansBehind what one of two signs does.
const (
	romanBehind = `Chapter|Part|Volume|Book|Act|Scene|Section|Phase|Type|Class|War|Bowl|Stage|Level|Figure|Table|` +
		`Title|Article|Appendix|Mark|Episode|Season|Round|Grade|Tier|Step|Unit|Module|Rocky|Olympiad|Version`
	romansBehind = `[Rr]oom|[Gg]allery|[Ww]ard|[Ww]ing|[Hh]all|[Cc]ategory|[Zz]one|[Gg]roup|` +
		`[Ss]tatus|[Ff]actor|[Ss]chedule|[Dd]rawing|Apollo|Gemini|Saturn|Final Fantasy`
)

func (e english) abbreviationRules() []rule {
	return []rule{
		// "IV. The House" at the head of a line, (iv), and Ⅳ
		doubtfulRule("IVXivx", `^([IVX]{1,5}|[ivx]{2,5})([.)])( \S|$)`, func(m match) (string, bool) {
			n := roman(strings.ToUpper(m.group(1)))
			next, _, _ := strings.Cut(strings.TrimSpace(m.group(3))+m.after(), " ")
			heads := next == "" || sentenceStarters.has(strings.ToLower(next)) || headings.has(next)
			return e.cardinal(n) + m.group(2) + m.group(3),
				n != "" && (len(m.group(1)) > 1 || m.group(2) == ")" || heads)
		}),
		doubtfulRule("(", `\(([ivx]{1,5}|[IVX]{1,5})\)`, func(m match) (string, bool) {
			n := roman(strings.ToUpper(m.group(1)))
			listed := strings.Contains(m.text, "ii)") || strings.Contains(m.text, "II)")
			return "(" + e.cardinal(n) + ")", n != "" && (listed || len(m.group(1)) > 1 && m.group(1) != "IV")
		}),
		newRule("", `[Ⅰ-ⅿ]+`, func(m match) string {
			letters := strings.ToUpper(norm.NFKC.String(m.group(0)))
			if n := roman(letters); n != "" && !rulers().MatchString(m.before()) {
				letters = e.cardinal(n)
			}
			return space(m) + letters + spaceAfter(m)
		}),
		newRule("/", `\bc/o\b`, func(match) string { return "care of" }),
		newRule("/", `\bw/o\b ?`, func(match) string { return "without " }),
		newRule("/", `\bw/ ?`, func(match) string { return "with " }),
		newRule("/", `\b([Aa])nd/or\b`, func(m match) string { return m.group(1) + "nd or" }),
		doubtfulRule("", `\b(Drs?|Mr|Mrs|Ms|Messrs|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Maj|Sen|Rep|Gov|Hon|Pres|St|Mt|`+
			`Ft)(\.?)( (?:[A-Z"&]|and\b))`, func(m match) (string, bool) {
			if m.group(2) == "" && !strings.Contains(" Dr Mr Mrs Ms St Prof ", " "+m.group(1)+" ") {
				return "", false
			}
			return formOf(titleForms, m.group(1)) + m.group(3), true
		}),
		// on signs all is in capitals
		newRule(".", `\b(DR|MR|MRS|MS|PROF|REV|CAPT|SGT)\.( [A-Z])`, func(m match) string {
			return formOf(titleForms, m.group(1)[:1]+strings.ToLower(m.group(1)[1:])) + m.group(2)
		}),
		doubtfulRule(".", `(?i)\b(e\.g|i\.e|[a-z]{1,6})\.`, sayShortForm),
		newRule("P", `\b(P\.? ?O\.? Box) (\d{3,5})\b`, func(m match) string {
			return "P-O Box " + e.sayNumbered(m.group(2))
		}),
		// acronyms that would be read as words, and several of others
		newRule("FNEAIOU", `\b(FAQ|NGO|ETA|AKA|ISP|OEM|UAE|IOU|ICU|API|NYC|EOD|OOO|EOB)(s?)\b`,
			func(m match) string { return spell(m.group(1)) + strings.Replace(m.group(2), "s", "'s", 1) }),
		doubtfulRule("s", `\b([B-DF-HJ-NP-TV-Z]{2,4}|[A-Z][B-DF-HJ-NP-TV-Z]{2,3}|[AU][A-Z])s\b`,
			func(m match) (string, bool) {
				return spell(m.group(1)) + "'s", m.apart()
			}),
		newRule("&", `\b([A-Z]{1,3})&([A-Z]{1,3})\b`, func(m match) string {
			return spell(m.group(1)) + " and " + spell(m.group(2))
		}),
		doubtfulRule(")", `(^|[ (])([a-h])\) `, func(m match) (string, bool) {
			return m.group(1) + strings.ToUpper(m.group(2)) + ") ", true
		}),
		newRule("A", `\b((?i:plan|vitamin|point|exit|gate|terminal|platform|block|building|section|part|appendix|`+
			`hepatitis|influenza|class|grade|level|series|size|letter|column|row|zone|wing|option|answer|group|team|`+
			`side|type|blood type|track|line|hall|question|exhibit)) A\b`, func(m match) string {
			return m.group(1) + " " + letterA
		}),
		// Mm-hm, hmm, shh: sounds that have no vowel
		doubtfulRule("mhrzfMHBGSPZ", `\b([Mm]+-? ?[Hh]+m+|[Hh]m{1,9}|[Mm]m{1,9}|[Ss]+h+|[Bb]rr+|[Gg]rr+|[Pp]s?f+t?|`+
			`[Bb]?[Zz]zz+|[Pp]st|[Hh]mph)\b`, sayNoise),
		newRule("", `\b(vs)\b`, func(match) string { return "versus" }),
		doubtfulRule(".", `\b(?:Ph\.D|[A-Za-z](?:\.[A-Za-z])+)\b\.?`, func(m match) (string, bool) { // U.S., a.k.a.
			return spell(strings.ReplaceAll(m.group(0), ".", "")) + m.stop(),
				m.apart() || strings.HasSuffix(m.group(0), ".")
		}),
		doubtfulRule(".", `\b([A-Z])\. ?([A-Z])`, func(m match) (string, bool) { // J. Smith
			next, _, _ := strings.Cut(m.group(2)+m.after(), " ")
			sentence := strings.HasSuffix(m.before(), "-") ||
				len(next) > 1 && sentenceStarters.has(strings.ToLower(next))
			return m.group(1) + " " + m.group(2), !sentence
		}),
		doubtfulRule("IVX", `\b([IVX]{2,5})(th|st|nd|rd)? (century|dynasty)\b`, func(m match) (string, bool) {
			n := roman(m.group(1))
			return e.ordinal(n) + " " + m.group(3), n != ""
		}),
		doubtfulRule("IVXLC", `\b(`+romanBehind+`) ([IVXLC]+)\b|\b(`+romansBehind+`) ([IVX]{2,5})\b`,
			func(m match) (string, bool) {
				n := roman(m.group(2) + m.group(4))
				return m.group(1) + m.group(3) + " " + e.cardinal(n), n != "" && m.group(2) != "C" && m.group(2) != "L"
			}),

		newRule("IVX", `\b(`+ruled+`) ([IVX]+)\b`, func(m match) string {
			n := roman(m.group(2))
			if n == "" || m.group(2) == "I" && m.after() != "" && !strings.ContainsAny(m.after()[:1], ".,;:!?)'") &&
				!strings.HasPrefix(m.after(), " of ") && !crowned.has(strings.ToLower(lastWord(m.before()))) {
				return m.group(0)
			}
			return m.group(1) + " the " + e.ordinal(n)
		}),
		// what no word is: II, VIII, XII
		doubtfulRule("IVX", `\bX{0,3}(?:III?|VIII?)\b|\bX{1,3}(?:IV|VI?|IX|I)\b`, func(m match) (string, bool) {
			return e.cardinal(roman(m.group(0))),
				m.apart() && !strings.HasSuffix(m.before(), ".") && !strings.HasSuffix(m.before(), "-") &&
					!strings.HasPrefix(m.after(), "-")
		}),
	}
}

// sayNoise spells a sound so that it is read as one. "5 mm" is a measure, "run.sh" a file.
func sayNoise(m match) (string, bool) {
	const noises = ` h:Hum m:Hum s:Shush b:Burr g:Gurr p:Puff z:Buzz `
	word := strings.ToLower(m.group(1))
	said := formOf(noises, word[:1])
	switch {
	case word[0] == 'm' && strings.Contains(word, "h"):
		said = "Um-hum"
	case word == "hmph":
		said = "Humph"
	case strings.Contains(word, "z"):
		said = "Buzz"
	}
	if m.group(1)[0] >= 'a' {
		said = strings.ToLower(said)
	}
	before, after := strings.TrimRight(m.before(), " "), strings.TrimLeft(m.after(), ".")
	measure := endsNumber(before) || m.group(1) == "mm" || m.group(1) == "sh"
	return said, !measure && m.apart() && (after == m.after() || !startsWord(after))
}

// sayShortForm says an abbreviation with its full stop.
func sayShortForm(m match) (string, bool) {
	written := m.group(1)
	lower := strings.ToLower(written)
	said := formOf(shortForms, lower)
	capital := unicode.IsUpper(rune(written[0]))
	if said == "" || capitalForms.has(lower) && !capital || strings.HasSuffix(m.before(), ".") ||
		startsWord(m.after()) || strings.HasPrefix(m.after(), ".") {
		return "", false
	}
	stop := m.stop()
	if stop != "" && (atHead.has(lower) || capitalForms.has(lower)) || len(lower) == 1 && capital {
		return "", false // "I ate a fig.", "P. Smith"
	}
	if capital && said[0] >= 'a' && (m.before() == "" || strings.HasSuffix(strings.TrimSpace(m.before()), ".")) {
		said = strings.ToUpper(said[:1]) + said[1:]
	}
	return said + stop, true
}

// formOf finds what an abbreviation stands for in a list of forms, "" if it is
// not there.
func formOf(forms, short string) string {
	_, found, ok := strings.Cut(strings.ReplaceAll(forms, "\n", ""), " "+short+":")
	if !ok || short == "" {
		return ""
	}
	said, _, _ := strings.Cut(found, " ")
	return strings.ReplaceAll(said, "_", " ")
}

// roman turns a Roman numeral to digits, "" if it is not written by the rules.
func roman(s string) string {
	n := 0
	for _, p := range [...]struct {
		value int
		sign  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"},
		{9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		most := 3
		if len(p.sign) == 2 || p.sign == "V" || p.sign == "L" || p.sign == "D" {
			most = 1
		}
		for ; most > 0 && strings.HasPrefix(s, p.sign); most-- {
			n += p.value
			s = s[len(p.sign):]
		}
	}
	if s != "" || n == 0 {
		return ""
	}
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}
