package clerk

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"parley/appliance/text"
)

// ageRule is for whom of some age something holds.
type ageRule struct {
	line        line
	phrase      string // as the facts have it: "under eighteen"
	least, most float64
}

func (r ageRule) holds(age float64) bool { return r.least <= age && age <= r.most }

// oldest is older than anybody.
const oldest = 150

const numberWord = `(\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[- ](?:one|two|three|four|five|six|seven|eight|nine)|` +
	`one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)`

type agePatterns struct{ limit, span, said, of, old, young *regexp.Regexp }

var ages = sync.OnceValue(func() agePatterns {
	return agePatterns{
		limit: regexp.MustCompile(`(?i)\b(under|below|younger than|over|above|older than|at least|up to)(?: the age of| age)? ` + numberWord + `\b`),
		span:  regexp.MustCompile(`(?i)\b(?:from|between|aged?|ages) ` + numberWord + `(?: to | and |-|–)` + numberWord + `\b`),
		said:  regexp.MustCompile(`(?i)\b(?:i am|i'm|(?:he|she|who|they|are|is|was)(?: is|'s| are)?|turns|turned|turning) (?:only |just |already |almost |now )?` + numberWord + `\b`),
		of:    regexp.MustCompile(`(?i)\b(?:aged?|age of|(?:child|children|boys?|girls?|kids?|sons?|daughters?|baby|adults?|man|woman) of) ` + numberWord + `\b`),
		old:   regexp.MustCompile(`(?i)\b` + numberWord + `[- ]years?(?:[- ]olds?)?\b`),
		young: regexp.MustCompile(`(?i)\b(?:child|children|kids?|people|persons?|visitors?|guests?|patients?|students?|adults?|seniors?|pupils?|passengers?|riders?|teenagers?|youths?|aged?|ages|years)\b`),
	}
})

// ageRules are those of a line. A limit that is one of weight, money or time is
// none of age.
func ageRules(l line) []ageRule {
	p := ages()
	var out []ageRule
	for _, at := range p.limit.FindAllStringSubmatchIndex(l.text, -1) {
		n, ok := oneNumber(l.text[at[4]:at[5]])
		if !ok || measured(l.text[at[5]:]) {
			continue
		}
		r := ageRule{line: l, phrase: l.text[at[0]:at[1]], most: oldest}
		switch strings.ToLower(l.text[at[2]:at[3]]) {
		case "under", "below", "younger than":
			r.most = n - 0.5
		case "over", "above", "older than":
			r.least = n + 0.5
		case "at least":
			r.least = n
		case "up to":
			r.most = n
		}
		out = append(out, r)
	}
	if p.young.MatchString(l.text) {
		for _, at := range p.span.FindAllStringSubmatchIndex(l.text, -1) {
			from, ok := oneNumber(l.text[at[2]:at[3]])
			to, ok2 := oneNumber(l.text[at[4]:at[5]])
			if ok && ok2 && from < to && !measured(l.text[at[5]:]) {
				out = append(out, ageRule{line: l, phrase: l.text[at[0]:at[1]], least: from, most: to})
			}
		}
	}
	return out
}

// measured reports whether what follows a number makes it no age.
func measured(after string) bool {
	after = strings.TrimLeft(after, " -")
	if strings.HasPrefix(after, ":") || strings.HasPrefix(after, "%") || strings.HasPrefix(after, "$") || strings.HasPrefix(after, "€") {
		return true
	}
	words := split(after)
	return strings.HasPrefix(after, "a.m") || strings.HasPrefix(after, "p.m") || len(words) > 0 && in(words[0], "kg kilo kilos kilogram kilograms pound pounds gram grams g km kilometer kilometers mile miles meter meters metre metres m cm inch inches feet foot "+
		"dollar dollars euro euros cent cents percent degree degrees minute minutes hour hours second seconds day days week weeks month months o'clock am pm in watt watts volt volts page pages item items piece pieces person persons people books times")
}

func oneNumber(s string) (float64, bool) {
	n := text.Numbers(s)
	if len(n) != 1 {
		return 0, false
	}
	return n[0].Value, true
}

func isNumber(w string) bool { return len(text.Numbers(w)) > 0 }

// agesIn are the ages that somebody speaks of, two at most.
func agesIn(asked string) []float64 {
	p := ages()
	var out []float64
	for _, by := range [...]*regexp.Regexp{p.said, p.of, p.old} {
		for _, at := range by.FindAllStringSubmatchIndex(asked, -1) {
			n, ok := oneNumber(asked[at[2]:at[3]])
			if !ok || n > 120 || len(out) == 2 || slices.Contains(out, n) || by == p.said && !endsClause(asked[at[3]:]) || by == p.of && measured(asked[at[3]:]) {
				continue
			}
			out = append(out, n)
		}
	}
	return out
}

// endsClause reports whether what follows "I am fourteen" leaves it an age.
func endsClause(after string) bool {
	words := split(after)
	return len(words) == 0 || strings.ContainsAny(after[:1], ".,;?!") || in(words[0], "year years and or now too old")
}

// Opening is how an answer begins to what somebody of an age pays, where exactly one
// rule of prices holds for it: with that rule in the facts' words ("For people under
// eighteen it is free."). Empty: it is not sure.
func (d *Desk) Opening(asked string) string {
	if d == nil || len(d.rules) == 0 || len(asked) > longest || yesOrNo(asked) || !asksPrice(split(asked)) {
		return ""
	}
	ages := agesIn(asked)
	if len(ages) != 1 {
		return ""
	}
	about := stems(asked)
	wanted := map[string]bool{}
	for w := range about {
		if !people()[w] {
			wanted[w] = true
		}
	}
	most := 0
	var nearest []ageRule
	for _, r := range d.rules {
		if !r.holds(ages[0]) || !isPriced(r.line.text) || len(wanted) > 0 && !near(wanted, r.line.stems) {
			continue
		}
		switch n := shared(r.line.stems, about); {
		case n > most:
			most, nearest = n, []ageRule{r}
		case n == most:
			nearest = append(nearest, r)
		}
	}
	if len(nearest) != 1 {
		return ""
	}
	return nearest[0].whom()
}

// people are the stems of who pays, and of paying: what else a question has is what
// is paid for.
var people = sync.OnceValue(func() map[string]bool {
	return stems("ticket tickets admission entrance entry costs price prices pays paid charge charges fee fees owe money little old young year years age aged alone himself herself " +
		"child children kid kids boy boys girl girls son sons daughter daughters baby toddler teenager man woman person people adult adults senior seniors student students " +
		"mother father mom dad parents grandmother grandfather grandma grandpa grandson granddaughter wife husband sister brother aunt uncle nephew niece friend friends partner")
})

// near reports whether one of some stems, or one that is kin to it, is among others.
func near(wanted, among map[string]bool) bool {
	for w := range wanted {
		if among[w] || slices.ContainsFunc(kin()[w], func(k string) bool { return among[stem(k)] }) {
			return true
		}
	}
	return false
}

// whom is the clause of the rule: "For people under eighteen it is free.", or where
// what they pay is not behind it, up to its limit.
func (r ageRule) whom() string {
	before, _, _ := strings.Cut(r.line.text, r.phrase)
	begin := 0
	for _, mark := range [...]string{", and ", "; ", ", ", ": ", " and ", " but "} {
		if at := strings.LastIndex(before, mark); at >= 0 {
			begin = max(begin, at+len(mark))
		}
	}
	whom := before[begin:] + r.phrase
	if rest, _, _ := strings.Cut(strings.TrimPrefix(r.line.text, before+r.phrase), ";"); isPriced(rest) {
		rest, _, _ = strings.Cut(rest, ", ")
		whom += strings.TrimRight(rest, " .!") + "."
	}
	first, size := utf8.DecodeRuneInString(whom)
	return string(unicode.ToUpper(first)) + whom[size:]
}

// isPriced reports whether a line says what somebody pays.
func isPriced(line string) bool {
	return len(moneyIn(line).prices) > 0 || slices.ContainsFunc(split(line), func(w string) bool { return in(w, "free nothing half pay pays price") })
}

// yesOrNo reports whether a question, the last one of what was said, can be
// answered by yes or no.
func yesOrNo(asked string) bool {
	all := text.Sentences(asked)
	if len(all) == 0 {
		return false
	}
	words := split(all[len(all)-1])
	return len(words) > 0 && in(words[0], "is are was were am do does did can could may might must shall should will would has have had")
}

// shared is how many stems two texts have both.
func shared(a, b map[string]bool) int {
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}
