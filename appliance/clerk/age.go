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

const numberWord = `(\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[- ` +
	`](?:one|two|three|four|five|six|seven|eight|nine)|` +
	`one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|` +
	`thirty|forty|fifty|sixty|seventy|eighty|ninety)`

type agePatterns struct{ limit, orMore, span, band, from, least, said, of, old, further, young *regexp.Regexp }

var ages = sync.OnceValue(func() agePatterns {
	return agePatterns{
		limit: regexp.MustCompile(`(?i)\b(under|below|younger than|over|above|older than|at least|up to(?: and ` +
			`including)?)[- ](?:the age of |age )?` + numberWord + `(?:'?s)?\b`),
		orMore: regexp.MustCompile(`(?i)\b(?:aged? |of )?` + numberWord +
			`(?: years?)?(?: old| of age)?,? (?:or|and) (over|above|older|up|upwards|under|below|younger)\b`),
		span: regexp.MustCompile(`(?i)\b(?:from|between|aged?|ages) ` + numberWord + `(?: to | and |-|–)` +
			numberWord + `\b`),
		band: regexp.MustCompile(`(?i)\b(?:children|kids|teenagers|juniors|pupils|youths|seniors),? (?:of )?\(?` +
			numberWord + `(?: to | ?- ?| ?– ?)` + numberWord + `\b`),
		from: regexp.MustCompile(`(?i)\bfrom (?:the )?age (?:of )?` + numberWord + `\b`),
		least: regexp.MustCompile(`(?i)\b(minimum|maximum) age(?: for [a-z -]+?)?(?: is| of|:)? ` + numberWord +
			`\b`),
		said: regexp.MustCompile(`(?i)\b(?:i am|i'm|(?:he|she|who|they|are|is|was|be)(?: is|'s|'re| ` +
			`are)?|turns|turned|turning) (?:only |just |already |almost |now |both )?` + numberWord + `\b`),
		of: regexp.MustCompile(`(?i)\b(?:aged?|age of|(?:child|children|boys?|girls?|kids?|sons?|daughters?|` +
			`baby|adults?|man|woman) of) ` + numberWord + `\b`),
		old:     regexp.MustCompile(`(?i)\b` + numberWord + `[- ]years?[- ]olds?\b`),
		further: regexp.MustCompile(`(?i)^(?:,| and|, and) ` + numberWord + `\b`),
		young: regexp.MustCompile(`(?i)\b(?:child|children|kids?|people|persons?|visitors?|guests?|patients?|` +
			`students?|adults?|seniors?|pupils?|passengers?|riders?|teenagers?|youths?|aged?|ages|years)\b`),
	}
})

// ageRules are those of a line. A limit that is one of weight, money or time is
// none of age.
func ageRules(l line) []ageRule {
	p := ages()
	var out []ageRule
	add := func(at []int, number int, least, most float64) {
		if !measured(l.text[at[2*number+1]:]) && !ofMany(l.text[:at[0]]) {
			out = append(out, ageRule{
				line:   l,
				phrase: l.text[at[0]:at[1]],
				least:  least,
				most:   most,
			})
		}
	}
	group := func(at []int, i int) string { return strings.ToLower(l.text[at[2*i]:at[2*i+1]]) }
	for _, at := range p.orMore.FindAllStringSubmatchIndex(l.text, -1) {
		if n, ok := oneNumber(group(at, 1)); ok && in(group(at, 2), "under below younger") {
			add(at, 2, 0, n)
		} else if ok {
			add(at, 2, n, oldest)
		}
	}
	for _, at := range p.limit.FindAllStringSubmatchIndex(l.text, -1) {
		n, ok := oneNumber(group(at, 2))
		if !ok || slices.ContainsFunc(out, func(r ageRule) bool {
			return strings.Contains(r.phrase, l.text[at[4]:at[5]])
		}) {
			continue // "at least 18 or older" is one limit
		}
		switch how := group(at, 1); {
		case in(how, "under below") || how == "younger than":
			add(at, 2, 0, n-0.5)
		case in(how, "over above") || how == "older than":
			add(at, 2, n+0.5, oldest)
		case how == "at least":
			add(at, 2, n, oldest)
		default:
			add(at, 2, 0, n)
		}
	}
	for _, at := range p.from.FindAllStringSubmatchIndex(l.text, -1) {
		if n, ok := oneNumber(group(at, 1)); ok && !p.span.MatchString(l.text) {
			add(at, 1, n, oldest)
		}
	}
	for _, at := range p.least.FindAllStringSubmatchIndex(l.text, -1) {
		if n, ok := oneNumber(group(at, 2)); ok && group(at, 1) == "minimum" {
			add(at, 2, n, oldest)
		} else if ok {
			add(at, 2, 0, n)
		}
	}
	for _, by := range [...]*regexp.Regexp{p.span, p.band} {
		for _, at := range by.FindAllStringSubmatchIndex(l.text, -1) {
			from, ok := oneNumber(group(at, 1))
			to, ok2 := oneNumber(group(at, 2))
			if ok && ok2 && from < to && p.young.MatchString(l.text) && !slices.ContainsFunc(out, func(r ageRule) bool {
				return r.least == from && r.most == to
			}) {
				add(at, 2, from, to)
			}
		}
	}
	return out
}

// ofMany reports whether a limit behind these words is one of how many come, or of
// what something costs.
func ofMany(before string) bool {
	words := split(before)
	return len(words) > 0 && in(words[len(words)-1], "group groups party parties order orders bill bills parcel "+
		"parcels purchase purchases amount amounts distance distances stay stays")
}

// measured reports whether what follows a number makes it no age.
func measured(after string) bool {
	after = strings.TrimLeft(after, " -")
	if strings.HasPrefix(after, ":") || strings.HasPrefix(after, "%") || strings.HasPrefix(after, "$") ||
		strings.HasPrefix(after, "€") {
		return true
	}
	words := split(after)
	return strings.HasPrefix(after, "a.m") || strings.HasPrefix(after, "p.m") ||
		len(words) > 0 && in(words[0], "kg kilo kilos kilogram kilograms pound pounds gram grams g km kilometer "+
			"kilometers mile miles meter meters metre metres m cm inch inches feet foot "+
			"dollar dollars euro euros cent cents percent degree degrees minute minutes hour hours second seconds day "+
			"days week weeks month months o'clock am pm in watt watts volt volts page pages item items piece pieces "+
			"person persons people books times")
}

func oneNumber(s string) (float64, bool) {
	n := text.Numbers(s)
	if len(n) != 1 {
		return 0, false
	}
	return n[0].Value, true
}

func isNumber(w string) bool { return len(text.Numbers(w)) > 0 }

// agesIn are the ages that somebody speaks of, mostAges at most.
func agesIn(asked string) []float64 {
	p := ages()
	asked = strings.ReplaceAll(asked, "’", "'")
	var out []float64
	add := func(n float64) {
		if n <= 120 && len(out) < mostAges && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, by := range [...]*regexp.Regexp{p.said, p.of, p.old} {
		for _, at := range by.FindAllStringSubmatchIndex(asked, -1) {
			n, ok := oneNumber(asked[at[2]:at[3]])
			if !ok || by == p.said && ofNobody(asked[:at[0]], asked[at[0]:at[1]]) {
				continue
			}
			all, rest := []float64{n}, asked[at[3]:]
			for by != p.old { // "my kids are 4 and 7"
				next := p.further.FindStringSubmatchIndex(rest)
				if next == nil {
					break
				}
				if n, ok = oneNumber(rest[next[2]:next[3]]); !ok {
					break
				}
				all, rest = append(all, n), rest[next[3]:]
			}
			if by == p.said && !endsClause(rest) || by == p.of && measured(rest) {
				continue
			}
			for _, n := range all {
				add(n)
			}
		}
	}
	return out
}

// mostAges is how many ages one question has: a family's.
const mostAges = 6

// ofNobody reports whether what "is ten" is a time or a price.
func ofNobody(before, said string) bool {
	words := split(before)
	return len(words) > 0 && in(split(said)[0], "is was are be") && in(words[len(words)-1], "it time clock price "+
		"prices cost total there this that which what bill fee limit answer number room we us")
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
	about := stems(asked)
	wanted := map[string]bool{}
	for w := range about {
		if !people()[w] {
			wanted[w] = true
		}
	}
	whom := ""
	for i, age := range agesIn(asked) {
		r, ok := d.priceFor(age, about, wanted)
		if !ok || i > 0 && r.whom() != whom {
			return ""
		}
		whom = r.whom()
	}
	return whom
}

// priceFor is the one rule of prices that holds for an age, of those that are
// nearest to a question.
func (d *Desk) priceFor(age float64, about, wanted map[string]bool) (r ageRule, ok bool) {
	most := 0
	var nearest []ageRule
	for _, r := range d.rules {
		if !r.holds(age) || !isPriced(r.line.text) || len(wanted) > 0 && !near(wanted, r.line.stems) {
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
		return ageRule{}, false
	}
	return nearest[0], true
}

// people are the stems of who pays, and of paying: what else a question has is what
// is paid for.
var people = sync.OnceValue(func() map[string]bool {
	return stems("ticket tickets admission entrance entry costs price prices pays paid charge charges fee fees owe " +
		"money little old young year years age aged alone himself herself " +
		"child children kid kids boy boys girl girls son sons daughter daughters baby toddler teenager man woman " +
		"person people adult adults senior seniors student students " +
		"mother father mom dad parents grandmother grandfather grandma grandpa grandson granddaughter wife husband " +
		"sister brother aunt uncle nephew niece friend friends partner " +
		"pensioner pensioners retiree retirees infant infants teen teens youngster youngsters grown up ups guest " +
		"guests visitor visitors passenger passengers pupil pupils rider riders driver drivers member members young")
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
	rest, _, _ := strings.Cut(strings.TrimPrefix(r.line.text, before+r.phrase), ";")
	comma := ""
	if after, found := strings.CutPrefix(rest, ", "); found && strings.HasPrefix(strings.ToLower(whom), "for ") {
		comma, rest = ", ", after // "For children under 16, a helmet is 3 dollars"
	}
	rest, _, _ = strings.Cut(rest, ", ")
	switch {
	case isPriced(rest):
		whom += comma + strings.TrimRight(rest, " .!") + "."
	case slices.ContainsFunc(split(rest), func(w string) bool {
		return in(w, "must may can need needs should have has")
	}):
		return "" // a rule for something else, beside a price
	}
	first, size := utf8.DecodeRuneInString(whom)
	return string(unicode.ToUpper(first)) + whom[size:]
}

// isPriced reports whether a line says what somebody pays.
func isPriced(line string) bool {
	return len(moneyIn(line).prices) > 0 || slices.ContainsFunc(split(line), func(w string) bool {
		return in(w, "free nothing half pay pays price")
	})
}

// yesOrNo reports whether a question, the last one of what was said, can be
// answered by yes or no.
func yesOrNo(asked string) bool {
	all := text.Sentences(asked)
	if len(all) == 0 {
		return false
	}
	words := split(all[len(all)-1])
	return len(words) > 0 && in(words[0],
		"is are was were am do does did can could may might must shall should will would has have had")
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
