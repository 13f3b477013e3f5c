package text

import "strings"

// comparisonRules write out the signs between compared things, before those are written out.
func (e english) comparisonRules() []rule {
	compared := func(m match) (string, bool) {
		sign := strings.NewReplacer("<=", "≤", ">=", "≥", "!=", "≠").Replace(m.group(1))
		return " " + listed("signs", "compared").spoken[sign] + " " + m.group(2), true
	}
	return []rule{
		e.says(`(^|[ (])~ ?([$£€¥]?\d)`, "$1about $2"),
		e.says(`\+/-`, "±"),
		rewrite(` ?(<=|>=|!=|[<>≤≥≠]) ?(-?[$£€]?\d)`, compared),
		e.says(`(\pL) > (\pL)`, "$1, $2"), // Home > Settings
		rewrite(` ?([≠≤≥])() ?`, compared),
	}
}

// signRules write out the signs that remain after all other rules, and drop those that are not
// spoken.
func (e english) signRules() []rule {
	return []rule{
		e.says(`\b([A-G])#`, "$1 sharp"),
		e.says(` ?♭`, " flat{>}"),
		e.says(` ?♯`, " sharp{>}"),
		e.says(` ?♮`, " natural{>}"),
		e.says(`(\pL)[†‡*]+`, "$1"),
		e.says(` ?&+ ?`, " and "),
		e.says(` ?=+ ?`, " equals "),
		e.says(`§+ ?`, "section "),
		e.says(`\$([A-Z])`, "$1"), // $HOME
		e.says(` ?[°º] ?`, " degrees "),
		rewrite(` ?([√±≈×÷$£€¢@%+]) ?`, func(m match) (string, bool) {
			return " " + listed("signs", "signs").spoken[m.group(1)] + " ", true
		}),
		rewrite(` ?/+ ?`, func(m match) (string, bool) { return saySlash(m), true }),
		e.says(`#(\w)`, "hashtag $1"),
		e.says(` [-–—]+ `, ", "),
		e.says(`—+`, ", "),
		e.says(` ?(?:->|=>|[→⇒←↑↓]) ?`, ", "),
		e.says("[#*_\\\\|<>{}\\[\\]^~`]+", " "),
		e.says(`([a-z]),([a-z])`, "$1, $2"), // (1,5)
		e.says(` +([,;:.!?])`, "$1"),
	}
}

// saySlash writes out the slash between alternatives: "he/she" is "he or she"; a slash between
// capitals is silent.
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

// signs are the rules for signs that eSpeak NG drops or reads in English.
func (l language) signs() []rule {
	return []rule{
		l.says(`(\d) ?[°º]C? ?[-–—] ?([-−]?\d+(?:[.,]\d+)? ?[°º])`, "$1 [to] $2"), // 5°–10°C
		// -5 °C, de -7 à -3, −4,5°
		l.says(`(^|[\s(:])(?:[-–]|− ?)(\d)`, "$1[minus] $2", func(m match) bool {
			before := lastWord(m.before())
			return !endsNumber(strings.TrimRight(before, "h€%")) || strings.HasSuffix(before, ",")
		}),
		l.says(`≥ ?(\p{Sc}? ?\d)`, "{<}[at least] $1"),
		l.says(`≤ ?(\p{Sc}? ?\d)`, "{<}[at most] $1"),
		l.says(`± ?(\p{Sc}? ?\d)`, "{<}[plus or minus] $1"),
		l.says(`[~≈] ?(\p{Sc}? ?\d)`, "{<}[about] $1"),
		l.says(` & `, " [and] "),
		l.says(`§+ ?`, "[section] "),
	}
}
