package text

import (
	"regexp"
	"strings"
	"unicode"
)

// abbreviationRules write out abbreviations, and spell initialisms.
func (e english) abbreviationRules() []rule {
	en := func(name string) string { return listed("en", name).pattern() }
	return []rule{
		rewrite(`\b(`+en("titles")+`|DR|MR|MRS|MS|PROF)(\.?)( (?:[A-Z"&]|and\b))`, func(m match) (string, bool) {
			const british wordList = " Dr Mr Mrs Ms St Prof "
			title := m.group(1)[:1] + strings.ToLower(m.group(1)[1:]) // signs are in capitals throughout
			return listed("en", "titles").spoken[title] + m.group(3), m.group(2) != "" || british.has(m.group(1))
		}),
		rewrite(`(?i)\b(e\.g|i\.e|[a-z]{1,6})\.`, sayShortForm),
		// acronyms that would be read as words, and their plurals
		rewrite(`\b([A-Z]{3})(s?)\b`, func(m match) (string, bool) {
			return spell(m.group(1)) + strings.Replace(m.group(2), "s", "'s", 1),
				listed("en", "acronyms").has(m.group(1))
		}),
		e.says(`\b([B-DF-HJ-NP-TV-Z]{2,4}|[A-Z][B-DF-HJ-NP-TV-Z]{2,3}|[AU][A-Z])s\b`, "{s1}'s", apart),
		e.says(`\b([A-Z]{1,3})&([A-Z]{1,3})\b`, "{s1} and {s2}"),
		e.says(`(^|[ (])([a-h])\) `, "$1{U2}) "),
		e.says(`\b((?i:`+en("before A")+`)) A\b`, "$1 "+letterA),
		e.says(`\b(Ph\.D|[A-Za-z](?:\.[A-Za-z])+)\b\.?`, "{s1}{.}", func(m match) bool { // U.S., a.k.a.
			return m.apart() || strings.HasSuffix(m.group(0), ".")
		}),
		rewrite(`\b([A-Z])\. ?([A-Z])`, func(m match) (string, bool) { // J. Smith
			next, _, _ := strings.Cut(m.group(2)+m.after(), " ")
			sentence := strings.HasSuffix(m.before(), "-") ||
				len(next) > 1 && stops("starters", strings.ToLower(next))
			return m.group(1) + " " + m.group(2), !sentence
		}),
	}
}

// shortRules write out abbreviations that may lack the full stop. They come first.
func (e english) shortRules() []rule {
	plainly := listed("en", "short plainly")
	return append(e.soundRules(),
		rewrite(`(?:\b|^)(`+plainly.pattern()+`)(\.?)( ?)`, func(m match) (string, bool) {
			said, open := plainly.spoken[m.group(1)], strings.HasSuffix(m.group(1), "/")
			if m.group(2) != "" {
				said += endOfSentence(m.group(3) + m.after())
			}
			gap := m.group(3)
			if open && gap == "" {
				gap = " "
			}
			return said + gap, begins(m) && (open || gap != "" || ended(m))
		}),
		rewrite(`\b([A-Za-z]{1,6})\. ?#?(\d|[A-Z]\b|[IVX]+\b|[$£€])`, func(m match) (string, bool) { // rm. 204
			said := listed("en", "short").spoken[strings.ToLower(m.group(1))+"#"]
			initial := len(m.group(1)) == 1 && m.group(1) < "a" || strings.HasSuffix(m.before(), ".") // P.O. Box
			return likeWritten(said, m.group(1)) + " " + m.group(2), said != "" && !initial
		}),
		e.says(`\b((?:in|after|every|within|takes|took|for|than|wait) [1-9]0)s\b`, "$1 seconds"), // in 30s
		e.says(`\bNos (\d)`, "Numbers $1"),
		e.says(`(\d) ?pts\b\.?`, "$1 points{.}"),
		e.says(`\b([a-z]{4,}|[Pp]er|[A-Z][a-z]{3,}) hrs\b\.?`, "$1 hours{.}"), // visiting hrs
		e.says(`\b((?i:every|each|per|this|next|last|a)) mo\b\.?`, "$1 month{.}"),
		e.says(`\b(e|E)st\. ((?:in )?(?:1\d|20)\d{2})\b`, "$1stablished $2"),
		e.says(`\b(e|E)st\.( [a-z0-9$£€])`, "$1stimated$2"),
		e.says(`\b(C|c)onf\. ((?i:no|number|code|#)\b)`, "$1onfirmation $2"),
		e.says(`\b([Rr])m ?(\d{1,4}[A-Za-z]?)\b`, "$1oom $2"),
		e.says(`\bWW ?(II?|[12])\b`, "World War $1"),
		e.says(`\b([A-Z]|XS|XL)–([A-Z]|X{1,3}L)\b`, "$1 to $2"),
		e.says(`\b(\d|[Tt]wo|[Tt]hree)-for-(\d|one|two)\b`, "$1 for $2"),
	)
}

// soundRules spell sounds without a vowel so that they are pronounced.
func (e english) soundRules() []rule {
	sound := func(m match) bool {
		measure := endsNumber(strings.TrimRight(m.before(), " ")) || m.group(0) == "mm" || m.group(0) == "sh"
		file := strings.HasPrefix(m.after(), ".") && startsWord(m.after()[1:])
		return !measure && !file && m.apart()
	}
	var all []rule
	sounds := listed("en", "sounds")
	for _, pattern := range sounds.words {
		all = append(all, e.says(`\b(?:`+pattern+`)\b`, sounds.spoken[pattern], sound))
	}
	return all
}

// sayShortForm writes out an abbreviation with a full stop.
func sayShortForm(m match) (string, bool) {
	forms, written := listed("en", "short"), m.group(1)
	short := strings.ToLower(written)
	said := forms.spoken[short]
	capital := unicode.IsUpper(rune(written[0]))
	name := listed("en", "only with a capital").has(short)
	stop := m.stop()
	switch {
	case said == "", name && !capital, startsWord(m.after()), strings.HasPrefix(m.after(), "."),
		strings.HasSuffix(m.before(), "."):
		return "", false
	case stop != "" && name, len(short) == 1 && capital:
		return "", false // "I saw Mon.", "P. Smith"
	}
	return likeWritten(said, written) + stop, true
}

// likeWritten capitalises a word if its abbreviation is.
func likeWritten(said, written string) string {
	if said == "" || !unicode.IsUpper(rune(written[0])) {
		return said
	}
	return strings.ToUpper(said[:1]) + said[1:]
}

// capitalRules write words in lower case that are in capitals for emphasis and would be spelt:
// eSpeak NG spells every word of up to three letters among others.
func (e english) capitalRules() []rule {
	small, loud := listed("en", "small"), listed("en", "loud")
	return []rule{rewrite(`\b(?:[A-Z]{2,3}|A)\b`, func(m match) (string, bool) {
		word := strings.ToLower(m.group(0))
		joined := strings.HasPrefix(m.after(), "-") || strings.HasSuffix(m.before(), "-") ||
			strings.HasPrefix(m.after(), "&")
		if !m.apart() || joined || strings.HasSuffix(m.before(), ".") {
			return "", false
		}
		return word, small.has(word) || loud.has(word) && m.shouted()
	})}
}

// capitalsBefore and capitalsAfter match the words in capitals next to a word.
var (
	capitalsBefore = regexp.MustCompile(`(?:\b[A-Z][A-Z']* )+$`)
	capitalsAfter  = regexp.MustCompile(`^(?: [A-Z][A-Z']*\b)+`)
)

// shouted reports whether the words around the match are in capitals too, and do not make it an
// acronym.
func (m match) shouted() bool {
	before, after := strings.Fields(capitalsBefore.FindString(m.before())),
		strings.Fields(capitalsAfter.FindString(m.after()))
	if n := len(before); n > 0 && (before[n-1] == "THE" || before[n-1] == "IN" && m.group(0) == "US") {
		return false
	}
	if len(after) > 0 && listed("en", "behind IT").has(after[0]) {
		return false
	}
	count := len(before) + len(after)
	return count > 1 || count == 1 && strings.ToUpper(m.text) == m.text
}

// abbreviations are the rules for abbreviations that eSpeak NG reads letter by letter or as
// words.
func (l language) abbreviations() []rule {
	var all []rule
	for _, pattern := range l.list("patterns").words {
		all = append(all, l.says(pattern, l.list("patterns").spoken[pattern]))
	}
	short, plain := l.list("short"), l.list("short plainly")
	return append(all,
		rewrite(`(?i)(`+strings.NewReplacer("#", "", `\^`, "").Replace(short.pattern())+`)\.`,
			func(m match) (string, bool) {
				form := strings.ToLower(m.group(1))
				said := short.spoken[form]
				if numbered := short.spoken[form+"#"]; numbered != "" && startsFigure(m.rest()) {
					said = numbered
				} else if name := short.spoken[form+"^"]; name != "" && startsName(m.rest()) {
					said = name
				}
				end := m.spaceAfter()
				if strings.TrimSpace(m.after()) == "" && l != "hi" {
					end = "." // also ends the sentence
				}
				return said + end, said != "" && begins(m)
			}),
		rewrite(`(`+plain.pattern()+`)`, func(m match) (string, bool) {
			stopped := strings.HasPrefix(m.after(), ".") && strings.TrimSpace(m.after()) != "."
			return plain.spoken[m.group(1)], !stopped && m.apart()
		}),
		l.says(`(?i)\b(p[aá]g(?:ina|e)?s?\.?) ?(\d+) ?/ ?(\d+)\b`, "$1 $2 [over] $3"),
		l.says(`\b[kK]m (\d+)\b`, "[km] $1"),
	)
}

// startsFigure reports whether s begins with a number, possibly Roman.
func startsFigure(s string) bool {
	word := strings.TrimRight(s[:len(s)-len(strings.TrimLeft(s, "IVXL"))], " ")
	return startsDigit(s) || word != "" && !startsWord(s[len(word):])
}

// startsName reports whether s begins with a capitalised word.
func startsName(s string) bool {
	r := []rune(s[:min(len(s), 8)])
	return len(r) > 1 && unicode.IsUpper(r[0]) && unicode.IsLower(r[1])
}
