package text

import (
	"cmp"
	_ "embed"
	"strings"
)

// A currency has the names of its whole and of its hundredth.
type currency struct{ whole, part string }

// currencies are the signs and codes of each, its name, and that of its hundredth.
//
//go:embed currencies.txt
var currencies string

// currencyOf is the currency of a sign or a code, dollars where it is not known.
func currencyOf(sign string) currency {
	for line := range strings.Lines(currencies) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if wordList(" " + c[0] + " ").has(sign) {
			return currency{c[1], c[2]}
		}
	}
	return currency{"dollar", "cent"}
}

const (
	currencySigns = `US\$|CA\$|AU\$|C\$|A\$|NZ\$|HK\$|S\$|R\$|MX\$|\bRs\.?|\bkr\b|zł|Kč|[$£€¥₹₩₽₺₪₴฿₫₦₱₵]`
	currencyCodes = `(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|NZD|HKD|SGD|BRL|MXN|ZAR|NOK|SEK|DKK|PLN|CZK|CNY|RMB|` +
		`ILS|UAH|THB|VND|NGN|PHP|KRW|RUB|TRY|RON|HUF|GHS)`
	currencyFirst = `(` + currencySigns + `|\b` + currencyCodes + `)`
	currencyLast  = `(` + currencySigns + `|` + currencyCodes + `)`
	amountPattern = `(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)`
	magnitudes    = `(?: ?(hundred|thousand|million|billion|trillion|lakh|crore|[kK]|[mM]n?|[bB]n?|tn|T)\b)?`
)

func (e english) moneyRules() []rule {
	const needs = "$£€¥₹₩₽₺₪₴฿₫₦₱₵RkłKUEGJCAINHSBMZDPTV"
	const dash = ` ?[-–—] ?`
	inWord := func(m match) bool { return endsWord(m.group(0)) && startsWord(m.after()) }
	return []rule{
		// $5-10, $5–$10 million
		newRule(needs, currencyFirst+` ?`+amountPattern+dash+`(?:`+currencyFirst+` ?)?`+amountPattern+magnitudes,
			func(m match) string {
				from := e.sayFrom(m.group(1), m.group(2))
				if m.group(5) != "" {
					from = e.decimal(m.group(2))
				}
				return from + " to " + e.sayMoney(m.group(1), m.group(4), m.group(5))
			}),
		// 10–12 €, 20-30 CHF
		doubtfulRule(needs, `\b`+amountPattern+dash+amountPattern+magnitudes+` ?`+currencyLast,
			func(m match) (string, bool) {
				to := e.sayMoney(m.group(4), m.group(2), m.group(3)) + spaceAfter(m)
				said := e.sayFrom(m.group(4), m.group(1)) + " to " + to
				return said, !inWord(m) && !startsDigit(m.after()) // kids 6–12 $9
			}),
		newRule(needs, `(-?)`+currencyFirst+` ?(-?)`+amountPattern+magnitudes, func(m match) string {
			said := e.sayMoney(m.group(2), m.group(4), m.group(5))
			if describes(m) {
				said = strings.TrimSuffix(said, "s") // a $5 bill
			}
			return space(m) + minusBefore(m.group(1)+m.group(3), "") + said + spaceAfter(m)
		}),
		doubtfulRule(needs, `\b`+amountPattern+magnitudes+` ?`+currencyLast, func(m match) (string, bool) {
			return e.sayMoney(m.group(3), m.group(1), m.group(2)) + spaceAfter(m), !inWord(m) // 12 złotych
		}),
		doubtfulRule("¢", `(\d+) ?¢`, func(m match) (string, bool) { return e.sayCount(m.group(1), "cent"), true }),
		doubtfulRule("p", `\b(\d{1,3})p\b`, func(m match) (string, bool) { // 50p; a video has 720p
			return e.sayCount(m.group(1), "penny"), m.apart() && len(m.group(1)) < 3
		}),
	}
}

// sayMoney says an amount of a currency, given by its sign or code.
func (e english) sayMoney(sign, amount, magnitude string) string {
	c := currencyOf(sign)
	whole, part, _ := strings.Cut(strings.ReplaceAll(amount, ",", ""), ".")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case magnitude != "":
		return e.decimal(amount) + " " + sayMagnitude(magnitude) + " " + plural("2", c.whole)
	case len(part) == 2 && part != "00" && c.part != "":
		cents := strings.TrimLeft(part, "0")
		said := e.cardinal(cents) + " " + plural(cents, c.part)
		if whole == "" {
			return said
		}
		return e.cardinal(whole) + " " + plural(whole, c.whole) + " and " + said
	case part != "" && strings.Trim(part, "0") != "":
		return e.decimal(amount) + " " + plural("2", c.whole)
	}
	return e.cardinal(whole) + " " + plural(whole, c.whole)
}

// sayFrom says the lower end of a range: with its currency where it has hundredths.
func (e english) sayFrom(sign, amount string) string {
	if _, part, _ := strings.Cut(amount, "."); len(part) == 2 && part != "00" {
		return e.sayMoney(sign, amount, "")
	}
	return e.decimal(strings.TrimSuffix(amount, ".00"))
}

// sayMagnitude says what stands for thousands and millions behind an amount.
func sayMagnitude(s string) string {
	const short = ` k:thousand K:thousand m:million mn:million M:million Mn:million b:billion bn:billion B:billion
 Bn:billion T:trillion tn:trillion `
	return cmp.Or(formOf(short, s), s)
}

// space parts a match from a word that touches it on the left, spaceAfter on
// the right.
func space(m match) string {
	if endsWord(m.before()) {
		return " "
	}
	return ""
}

func spaceAfter(m match) string {
	if startsWord(m.after()) {
		return " "
	}
	return ""
}
