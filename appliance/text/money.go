package text

import "strings"

const (
	currencySigns = `US\$|CA\$|AU\$|C\$|A\$|NZ\$|HK\$|S\$|R\$|MX\$|\bRs\.?|\bkr\b|zł|Kč|[$£€¥₹₩₽₺₪₴฿₫₦₱₵]`
	currencyCodes = `(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|NZD|HKD|SGD|BRL|MXN|ZAR|NOK|SEK|DKK|PLN|CZK|CNY|RMB|` +
		`ILS|UAH|THB|VND|NGN|PHP|KRW|RUB|TRY|RON|HUF|GHS)`
	currencyFirst = `(` + currencySigns + `|\b` + currencyCodes + `)`
	currencyLast  = `(` + currencySigns + `|` + currencyCodes + `)`
	magnitudes    = `(?: ?(hundred|thousand|million|billion|trillion|lakh|crore|[kK]|[mM]n?|[bB]n?|tn|T)\b)?`
)

func (e english) moneyRules() []rule {
	const quantity = `(\d+|\d ?(?:lbs?|oz|kg|pcs|packs?|boxes|cans|bottles))`
	inWord := func(m match) bool { return endsWord(m.group(0)) && startsWord(m.after()) }
	return []rule{
		e.says(`(^|[ (])`+quantity+` ?/ ?([$£€]\d)`, "$1$2 for $3"), // 3/$10
		// $5-10, $5–$10 million
		rewrite(currencyFirst+` ?`+figures+dash+`(?:`+currencyFirst+` ?)?`+figures+magnitudes,
			func(m match) (string, bool) {
				from := e.sayFrom(m.group(1), m.group(2))
				if m.group(5) != "" {
					from = e.decimal(m.group(2))
				}
				return from + " to " + e.sayMoney(m.group(1), m.group(4), m.group(5)), true
			}),
		// 10–12 €, 20-30 CHF
		rewrite(`\b`+figures+dash+figures+magnitudes+` ?`+currencyLast, func(m match) (string, bool) {
			to := e.sayMoney(m.group(4), m.group(2), m.group(3)) + m.spaceAfter()
			// kids 6–12 $9
			return e.sayFrom(m.group(4), m.group(1)) + " to " + to, !inWord(m) && !startsDigit(m.after())
		}),
		rewrite(`(-?)`+currencyFirst+` ?(-?)`+figures+magnitudes, func(m match) (string, bool) {
			said := e.sayMoney(m.group(2), m.group(4), m.group(5))
			if describes(m) {
				said = strings.TrimSuffix(said, "s") // a $5 bill
			}
			return m.space() + minusBefore(m.group(1)+m.group(3), "") + said + m.spaceAfter(), true
		}),
		rewrite(`\b`+figures+magnitudes+` ?`+currencyLast, func(m match) (string, bool) {
			return e.sayMoney(m.group(3), m.group(1), m.group(2)) + m.spaceAfter(), !inWord(m) // 12 złotych
		}),
		rewrite(`(\d+) ?¢`, func(m match) (string, bool) { return e.sayCount(m.group(1), "cent"), true }),
		rewrite(`\b(\d{1,2})p\b`, func(m match) (string, bool) { return e.sayCount(m.group(1), "penny"), m.apart() }),
	}
}

// sayMoney writes out an amount of a currency, given by its sign or code.
func (e english) sayMoney(sign, amount, magnitude string) string {
	name, cent, _ := strings.Cut(listed("en", "currencies").spoken[strings.TrimSuffix(sign, ".")], "|")
	whole, part, _ := strings.Cut(strings.ReplaceAll(amount, ",", ""), ".")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case magnitude != "":
		return e.decimal(amount) + " " + listed("en", "magnitudes").spoken[magnitude] + " " + plural("2", name)
	case len(part) == 2 && part != "00" && cent != "":
		cents := strings.TrimLeft(part, "0")
		said := e.cardinal(cents) + " " + plural(cents, cent)
		if whole == "" {
			return said
		}
		return e.cardinal(whole) + " " + plural(whole, name) + " and " + said
	case strings.Trim(part, "0") != "":
		return e.decimal(amount) + " " + plural("2", name)
	}
	return e.cardinal(whole) + " " + plural(whole, name)
}

// sayFrom writes out the lower end of a range, with its currency only if it has hundredths.
func (e english) sayFrom(sign, amount string) string {
	if _, part, _ := strings.Cut(amount, "."); len(part) == 2 && part != "00" {
		return e.sayMoney(sign, amount, "")
	}
	return e.decimal(strings.TrimSuffix(amount, ".00"))
}

// money are the rules for amounts: 3,50 €, R$ 2,5 mi, $1,250.50.
func (l language) money() []rule {
	const gap = `[ \x{a0}\x{202f}]?`
	signs := l.list("money").pattern()
	many := `(?:` + gap + `(` + l.list("many").pattern() + `))?`
	const whole = `(\d+(?:[ .,\x{a0}\x{202f}]\d{3}|,\d\d,\d{3})*)(?:[.,](\d{1,2}))?`
	return []rule{
		l.says(`\b(\d+(?:,\d+)?)`+dash+`(\d+(?:,\d+)?`+gap+signs+`)`, "$1 [to] $2", apart),
		rewrite(`(?:US|U)?(`+signs+`)`+gap+whole+many, func(m match) (string, bool) {
			if m.group(4) != "" && startsWord(m.after()) { // $5 millas
				return l.amount(m.group(1), m.group(2), m.group(3), "") + " " + m.group(4), true
			}
			return l.amount(m.group(1), m.group(2), m.group(3), m.group(4)), !startsDigit(m.after())
		}),
		rewrite(whole+many+gap+`(`+signs+`)`, func(m match) (string, bool) {
			return l.amount(m.group(4), m.group(1), m.group(2), m.group(3)) + m.spaceAfter(), !endsWord(m.before())
		}),
	}
}

// amount writes out an amount; eSpeak NG reads its numbers, hundredths last.
func (l language) amount(sign, whole, part, magnitude string) string {
	one, more, _ := strings.Cut(l.list("money").spoken[sign], "|")
	more, cents, _ := strings.Cut(more, "|")
	whole = ungrouped.Replace(whole)
	if magnitude != "" {
		if part != "" {
			whole += map[bool]string{true: ".", false: ","}[l == "hi"] + part
		}
		return phrase(whole, l.list("many").spoken[magnitude], more)
	}
	name := more
	if whole == "1" || whole == "0" && l == "fr" {
		name = one
	}
	if len(part) == 1 {
		part += "0"
	}
	if part = strings.TrimLeft(part, "0"); part == "" {
		return phrase(whole, name)
	}
	return phrase(whole, name, l.word("cents"), part, cents)
}
