package text

import "strings"

var (
	units = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	tens   = [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	scales = [...]string{"", " thousand", " million", " billion", " trillion"}
)

// maxCardinal is how many digits a number may have to be said as one; longer
// ones are said digit by digit.
const maxCardinal = 3 * len(scales)

// cardinal says a whole number, given in digits: "42" is "forty-two".
func (e english) cardinal(n string) string {
	n = strings.TrimLeft(n, "0")
	if n == "" {
		return "zero"
	}
	if len(n) > maxCardinal {
		return digitByDigit(n)
	}
	var words []string
	for len(n) > 0 {
		head, scale := e.scale(len(n))
		switch count := strings.TrimLeft(n[:head], "0"); {
		case count == "":
		case len(count) > 3: // crores
			words = append(words, e.cardinal(count)+scale)
		case e.and && scale == "" && len(count) < 3 && len(words) > 0: // a thousand and one
			words = append(words, "and "+e.belowThousand(atoi(count)))
		default:
			words = append(words, e.belowThousand(atoi(count))+scale)
		}
		n = n[head:]
	}
	return strings.Join(words, " ")
}

// scale returns how many of n digits count the first scale, and its name.
func (e english) scale(n int) (head int, name string) {
	switch {
	case !e.lakhs || n <= 3:
		scale := (n - 1) / 3
		return n - 3*scale, scales[scale]
	case n <= 5:
		return n - 3, " thousand"
	case n <= 7:
		return n - 5, " lakh"
	}
	return n - 7, " crore"
}

// belowThousand says 1 to 999, and nothing for 0.
func (e english) belowThousand(n int) string {
	switch {
	case n == 0:
		return ""
	case n < 20:
		return units[n]
	case n < 100 && n%10 == 0:
		return tens[n/10]
	case n < 100:
		return tens[n/10] + "-" + units[n%10]
	case n%100 == 0:
		return units[n/100] + " hundred"
	case e.and:
		return units[n/100] + " hundred and " + e.belowThousand(n%100)
	}
	return units[n/100] + " hundred " + e.belowThousand(n%100)
}

// ordinal says a place in a row: "42" is "forty-second".
func (e english) ordinal(n string) string {
	words := e.cardinal(n)
	cut := strings.LastIndexAny(words, " -") + 1
	const irregular = ` one:first two:second three:third five:fifth eight:eighth nine:ninth twelve:twelfth `
	last := words[cut:]
	if place := formOf(irregular, last); place != "" {
		return words[:cut] + place
	}
	if base, ok := strings.CutSuffix(last, "y"); ok {
		last = base + "ie"
	}
	return words[:cut] + last + "th"
}

// digitByDigit says each digit of s and leaves out what is none.
func digitByDigit(s string) string {
	var words []string
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			words = append(words, units[s[i]-'0'])
		}
	}
	return strings.Join(words, " ")
}

// year says a year of four digits: "1905" is "nineteen oh five".
func (e english) year(y string) string {
	century, rest := atoi(y[:2]), atoi(y[2:])
	switch {
	case y[1] == '0' && rest < 10 || century == 0:
		return e.cardinal(y) // two thousand five
	case rest == 0:
		return e.belowThousand(century) + " hundred"
	case rest < 10:
		return e.belowThousand(century) + " oh " + units[rest]
	}
	return e.belowThousand(century) + " " + e.belowThousand(rest)
}

// decimal says a number with commas between thousands and a point: "1,234.5"
// is "one thousand two hundred thirty-four point five".
func (e english) decimal(s string) string {
	whole, fraction, pointed := strings.Cut(strings.ReplaceAll(s, ",", ""), ".")
	words := e.cardinal(whole)
	if whole == "" {
		words = "" // ".5" is "point five"
	}
	if pointed && fraction != "" {
		words = strings.TrimSpace(words + " point " + digitByDigit(fraction))
	}
	return words
}

// atoi reads a few digits.
func atoi(s string) int {
	n := 0
	for i := range len(s) {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

// plural makes a noun plural for a number written as n: one stays. Of several
// words it is the last before "per" or the name of a scale that changes.
func plural(n, noun string) string {
	if n == "1" {
		return noun
	}
	for _, behind := range [...]string{" per ", " of ", " Celsius", " Fahrenheit"} {
		if i := strings.Index(noun, behind); i >= 0 {
			return plural(n, noun[:i]) + noun[i:]
		}
	}
	cut := strings.LastIndexByte(noun, ' ') + 1
	head, last := noun[:cut], noun[cut:]
	const irregular = ` foot:feet inch:inches penny:pence paisa:paise krone:kroner krona:kronor real:reais
 grosz:groszy leu:lei lira:lira rand:rand baht:baht dong:dong naira:naira yuan:yuan bitcoin:bitcoin kelvin:kelvin
 kobo:kobo fils:fils złoty:złoty yen:yen won:won percent:percent `
	switch several := formOf(irregular, last); {
	case several != "":
		return head + several
	case strings.HasSuffix(last, "hertz"):
		return noun
	}
	return noun + "s"
}

// pluralWord makes the last word of a decade plural: "nineteen eighty" is
// "nineteen eighties".
func pluralWord(words string) string {
	if strings.HasSuffix(words, "y") {
		return words[:len(words)-1] + "ies"
	}
	if strings.HasSuffix(words, "x") {
		return words + "es"
	}
	return words + "s"
}
