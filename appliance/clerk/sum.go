package clerk

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"parley/appliance/text"
)

// price is one of the facts'.
type price struct {
	said  string // as a term has it: "14", or "50 cents" where there are dollars too
	value float64
}

// money is how prices are given at a desk.
type money struct {
	prices []price
	unit   string // of a sum: "dollars"
	half   bool   // somebody pays half
	free   bool   // somebody pays nothing
	mixed  bool   // in several currencies
	per    map[string]bool
}

const (
	currencies = "dollar dollars euro euros pound pounds franc francs buck bucks"
	smallCoins = "cent cents penny pence"
)

var perUnit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:dollars?|euros?|pounds?|francs?|cents?|pence|free|[$€£]\s?\d+(?:\.\d+)?) ` +
		`(?:an?|per|each|every) ([a-z]+)`)
})

// moneyIn are the prices of a text.
func moneyIn(told string) money {
	m := money{per: map[string]bool{}}
	units, coins, without := map[string]int{}, false, false
	for _, n := range text.Numbers(told) {
		coins = coins || in(n.After, smallCoins)
	}
	add := func(p price) {
		if p.value > 0 && p.value < dearest && len(m.prices) <= mostPrices &&
			!slices.ContainsFunc(m.prices, func(q price) bool {
				return q.said == p.said
			}) {
			m.prices = append(m.prices, p)
		}
	}
	for _, n := range text.Numbers(told) {
		plain := strconv.FormatFloat(n.Value, 'f', -1, 64)
		switch {
		case in(n.After, smallCoins):
			add(price{plain + " cents", n.Value / 100})
		case n.Money || in(n.After, currencies):
			unit := strings.TrimSuffix(n.After, "s") + "s"
			if !in(n.After, currencies) {
				unit = signOf(told)
			}
			units[unit]++
			if coins {
				plain += " " + unit
			}
			if n.Value != math.Trunc(n.Value) {
				plain = strings.Replace(plain, strconv.FormatFloat(n.Value, 'f', -1, 64),
					strconv.FormatFloat(n.Value, 'f', 2, 64), 1)
			}
			add(price{plain, n.Value})
		case bareNumber(n, told):
			without = true
			add(price{strconv.FormatFloat(n.Value, 'f', 2, 64), n.Value})
		}
	}
	if m.unit = "dollars"; without && len(units) == 0 {
		m.unit = ""
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if units[unit] > units[m.unit] {
			m.unit = unit
		}
	}
	words := " " + strings.Join(split(told), " ") + " "
	m.mixed = len(units) > 1
	m.half = strings.Contains(words, " half ")
	m.free = strings.Contains(words, " free ") || strings.Contains(words, " nothing ")
	for _, found := range perUnit().FindAllStringSubmatch(told, -1) {
		m.per[stem(strings.ToLower(found[1]))] = true
	}
	return m
}

// bareNumber reports whether a number is a price without its currency, as in "roses are
// 3.50 each": it has cents, and is neither a time nor measured.
func bareNumber(n text.Number, told string) bool {
	return n.Value != math.Trunc(n.Value) && !n.Clock &&
		strings.Contains(told, strconv.FormatFloat(n.Value, 'f', 2, 64)) &&
		!in(n.Before, "at from to till until by between since before after version number") &&
		!in(n.After, "to and till until o'clock am pm") && !measured(n.After)
}

// signOf is the currency whose sign a text has.
func signOf(told string) string {
	switch {
	case strings.Contains(told, "€"):
		return "euros"
	case strings.Contains(told, "£"):
		return "pounds"
	}
	return "dollars"
}

// Sum is what was asked for: what several things cost together. The model says
// of which prices it is made, under a grammar; what that makes is reckoned.
type Sum struct {
	desk   *Desk
	counts []float64
	more   bool   // beside what was counted something else was named
	named  []wish // each of the things that were named, where that is all that was said
	long   float64
	free   bool // what is free may be asked for
	bill   bill // what is sure without the model
	sure   bool
}

const (
	summed    = "together altogether total sum both"
	mostCount = 1000
)

// priceAsked finds a question for a price: by its word, by "how much" where nothing
// is measured, or for a total of what was named.
var priceAsked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` (?:what|how) .*(?:cost|costs|pay|price|prices|charge|charges|owe|fee|fees) | how ` +
		`much (?:$|is |are |does |do |would |will |for |to |must |should |money |it |together |altogether )|` +
		` what (?:is |are |does |do |will |would )?(?:it |that |this |they |these |those |we |i ` +
		`)(?:.*)(?:altogether|total|together) |` +
		` what (?:is|are|do|does|would|will) (?:be )?(?:an?|two|three|four|five|six|seven|eight|nine|ten|\d+) ` +
		`.*(?:altogether|total|together) $`)
})

// asksPrice reports whether the words of a question ask for a price.
func asksPrice(words []string) bool {
	return priceAsked().MatchString(" " + strings.Join(words, " ") + " ")
}

// Sum is nil where the question asks for none.
func (d *Desk) Sum(asked string) *Sum {
	if d == nil || len(asked) > longest || len(d.money.prices) == 0 || len(d.money.prices) > mostPrices ||
		d.money.mixed {
		return nil
	}
	words := split(asked)
	if !asksPrice(words) {
		return nil
	}
	line := " " + strings.Join(words, " ") + " "
	for _, other := range [...]string{" how many ", " how long ", " much time ", " how old ", " how far "} {
		if strings.Contains(line, other) {
			return nil
		}
	}
	if own := moneyIn(asked); len(own.prices) > 0 {
		return nil // it is to be reckoned with other prices than the facts'
	}
	s := &Sum{desk: d, counts: d.countsIn(asked), more: slices.ContainsFunc(words, func(w string) bool {
		return in(w, "and plus with one")
	})}
	several := strings.Contains(line, " and a ") || strings.Contains(line, " and an ") ||
		strings.Contains(line, " and one ")
	if len(s.counts) == 0 && !several && !slices.ContainsFunc(words, func(w string) bool { return in(w, summed) }) {
		return nil
	}
	if len(s.counts) == 0 && !several &&
		(strings.Contains(line, " both ") || strings.Contains(line, " couple ") || strings.Contains(line, " and i ") ||
			strings.Contains(line, " me and ")) {
		s.counts, s.more = []float64{2}, false
	}
	s.bill, s.sure = d.reckon(asked)
	s.free = d.freeFor(asked)
	if all, long, unit, ok := wishes(asked); ok && len(all) <= mostWishes {
		s.named = all
		if unit != "" {
			s.long = long
		}
	}
	return s
}

// freeFor reports whether something that is free may be among what a question names:
// people, or what the line about it speaks of.
func (d *Desk) freeFor(asked string) bool {
	about := stems(asked)
	for _, w := range split(asked) {
		if in(w, "we us i me he she they him her them") || people()[stem(w)] && !neutral()[thing(w)] {
			return true
		}
	}
	return slices.ContainsFunc(d.lines, func(l line) bool {
		return slices.ContainsFunc(l.clauses, func(c line) bool {
			return slices.ContainsFunc(split(c.text), func(w string) bool {
				return in(w, "free nothing")
			}) && shared(c.stems, about) > 0
		})
	})
}

// countsIn are how many of something a question speaks of: "thirty pages", and
// not "hall 2", "at five", "of ten years" or what the facts name so themselves
// ("a ten-visit card").
func (d *Desk) countsIn(asked string) []float64 {
	var out []float64
	old := agesIn(asked)
	for _, n := range text.Numbers(asked) {
		whole := n.Value == math.Trunc(n.Value) && n.Value >= 2 && n.Value <= mostCount
		switch {
		case !whole || n.Clock || n.Ordinal || n.Money || n.Spelt != "" || n.After == "" && n.Before != "for":
		case in(n.After, currencies+" "+smallCoins+" year years old o'clock am pm a p percent degrees and or is are "+
			"do does for at to in on i we the what how who where when can may will would plus minus times divided by"):
		case in(n.Before, "at under over below above age aged number room hall gate line floor platform until till "+
			"from since before after around about i'm am"):
		case in(n.After, "hour hours day days night nights week weeks month months minute minutes") &&
			!d.money.per[stem(n.After)]:
		case slices.Contains(old, n.Value) && in(n.Before, "is are was be he's she's who's they're turns turned just "+
			"only already almost now both of aged and he she who they"):
		case d.names(n):
		case !slices.Contains(out, n.Value):
			out = append(out, n.Value)
		}
	}
	return out
}

// names reports whether the facts have a number before the same word.
func (d *Desk) names(n text.Number) bool {
	return slices.ContainsFunc(d.numbers, func(o text.Number) bool {
		return o.Value == n.Value && stem(o.After) == stem(n.After)
	})
}

const (
	// mostPrices is how many prices a grammar lists; where there are more, sums are
	// left to the model.
	mostPrices = 100
	// dearest is more than anything costs that is sold at a desk.
	dearest = 1e7
)

// Grammar is what the model's part of the answer has to follow, in GBNF: "2 times
// 14 plus 9, that is", or instead that it does not know.
func (s *Sum) Grammar(unknown string) string {
	switch {
	case s.bill.missing:
		return fmt.Sprintf("root ::= %q\n", unknown)
	case s.sure:
		return fmt.Sprintf("root ::= %q\n", s.bill.terms)
	}
	m := s.desk.money
	var prices, counts []string
	for _, p := range m.prices {
		prices = append(prices, strconv.Quote(p.said))
	}
	if m.free && s.free {
		prices = append(prices, `"0"`)
	}
	for _, c := range s.counts {
		counts = append(counts, strconv.Quote(strconv.FormatFloat(c, 'f', -1, 64)))
	}
	price := "price"
	if m.half {
		price = `("half of ")? price`
	}
	// What was counted in the question is counted in the answer, in that order.
	sum := ""
	switch {
	case len(s.named) > 0:
		sum = s.terms()
		counts = append(counts, `"1"`)
	case len(counts) == 0:
		counts = []string{`"1"`}
		sum = "item moreItems moreItems moreItems"
	case len(counts) == 1:
		sum = "counted" // and nothing else, where nothing else was named
		if s.more {
			sum = `counted | counted " plus " item moreItems | item " plus " counted moreItems | item " plus " item ` +
				`" plus " counted`
		}
	default:
		for i, c := range counts[:min(len(counts), mostCounted)] {
			if i > 0 {
				sum += ` " plus " `
			}
			sum += c + ` " times " item`
		}
		sum += " more"
	}
	return fmt.Sprintf("root ::= sum %q | %q\nsum ::= %s\nmore ::= (\" plus \" term)?\nmoreItems ::= (\" plus \" "+
		"item)?\nterm ::= counted | item\n"+
		"counted ::= count \" times \" item\ncount ::= %s\nitem ::= %s\nprice ::= %s\n", thatIs, unknown, sum,
		strings.Join(counts, " | "), price, strings.Join(prices, " | "))
}

// terms are those of the things that were named, one each, in their order.
func (s *Sum) terms() string {
	var out []string
	for _, w := range s.named {
		term := ""
		if w.count != 1 {
			term = strconv.Quote(plain(w.count)+" times ") + " "
		}
		if s.long > 1 { // of what is paid by the day; a helmet is not
			term += "(" + strconv.Quote(plain(s.long)+" times ") + ")? "
		}
		out = append(out, term+"item")
	}
	return strings.Join(out, ` " plus " `)
}

// mostCounted is how many things are counted in one sum.
const mostCounted = 3

// thatIs is what stands between terms and their sum.
const thatIs = ", that is"

// Total is how the answer goes on that the model has begun so, and what it says;
// false where there is no sum in it.
func (s *Sum) Total(begun string) (rest string, value float64, ok bool) {
	if s.sure && !s.bill.missing && strings.TrimSpace(begun) == s.bill.terms {
		return s.bill.total, s.bill.value, true
	}
	terms, found := strings.CutSuffix(strings.TrimSpace(begun), thatIs)
	if !found {
		return "", 0, false
	}
	for term := range strings.SplitSeq(terms, " plus ") {
		times := 1.0
		for count, of, found := strings.Cut(term, " times "); found; count, of, found = strings.Cut(term, " times ") {
			n, err := strconv.ParseFloat(count, 64)
			if err != nil {
				return "", 0, false
			}
			times, term = times*n, of
		}
		if of, found := strings.CutPrefix(term, "half of "); found {
			times, term = times/2, of
		}
		at := slices.IndexFunc(s.desk.money.prices, func(p price) bool { return p.said == term })
		switch {
		case at >= 0:
			value += times * s.desk.money.prices[at].value
		case term != "0":
			return "", 0, false
		}
	}
	return " " + s.desk.money.say(value) + ".", value, true
}

// say is a sum in words that are spoken well.
func (m money) say(value float64) string {
	cents := int(math.Round(value * 100))
	whole, part := cents/100, cents%100
	unit := m.unit
	if whole == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	coin := "cents"
	if m.unit == "pounds" {
		coin = "pence"
	}
	switch {
	case cents == 0:
		return "nothing"
	case unit == "" && part != 0:
		return fmt.Sprintf("%d.%02d", whole, part)
	case unit == "":
		return strconv.Itoa(whole)
	case part == 0:
		return fmt.Sprintf("%d %s", whole, unit)
	case whole == 0:
		return fmt.Sprintf("%d %s", part, coin)
	}
	return fmt.Sprintf("%d %s and %d %s", whole, unit, part, coin)
}
