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
func cardinal(n string) string {
	n = strings.TrimLeft(n, "0")
	if n == "" {
		return "zero"
	}
	if len(n) > maxCardinal {
		return digitByDigit(n)
	}
	var words []string
	for len(n) > 0 {
		scale := (len(n) - 1) / 3
		head := len(n) - 3*scale
		if w := belowThousand(atoi(n[:head])); w != "" {
			words = append(words, w+scales[scale])
		}
		n = n[head:]
	}
	return strings.Join(words, " ")
}

// belowThousand says 1 to 999, and nothing for 0.
func belowThousand(n int) string {
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
	}
	return units[n/100] + " hundred " + belowThousand(n%100)
}

// ordinal says a place in a row: "42" is "forty-second".
func ordinal(n string) string {
	words := cardinal(n)
	cut := strings.LastIndexAny(words, " -") + 1
	last := words[cut:]
	switch last {
	case "one":
		last = "first"
	case "two":
		last = "second"
	case "three":
		last = "third"
	case "five":
		last = "fifth"
	case "eight":
		last = "eighth"
	case "nine":
		last = "ninth"
	case "twelve":
		last = "twelfth"
	default:
		if strings.HasSuffix(last, "y") {
			last = last[:len(last)-1] + "ie"
		}
		last += "th"
	}
	return words[:cut] + last
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
func year(y string) string {
	century, rest := atoi(y[:2]), atoi(y[2:])
	switch {
	case y[1] == '0' && rest < 10 || century == 0:
		return cardinal(y) // two thousand five
	case rest == 0:
		return belowThousand(century) + " hundred"
	case rest < 10:
		return belowThousand(century) + " oh " + units[rest]
	}
	return belowThousand(century) + " " + belowThousand(rest)
}

// decimal says a number with commas between thousands and a point: "1,234.5"
// is "one thousand two hundred thirty-four point five".
func decimal(s string) string {
	whole, fraction, pointed := strings.Cut(strings.ReplaceAll(s, ",", ""), ".")
	words := cardinal(whole)
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
	for _, behind := range [...]string{" per ", " Celsius", " Fahrenheit"} {
		if i := strings.Index(noun, behind); i >= 0 {
			return plural(n, noun[:i]) + noun[i:]
		}
	}
	cut := strings.LastIndexByte(noun, ' ') + 1
	head, last := noun[:cut], noun[cut:]
	switch {
	case last == "foot":
		return head + "feet"
	case last == "inch":
		return head + "inches"
	case last == "penny":
		return head + "pence"
	case last == "paisa":
		return head + "paise"
	case last == "yen", last == "won", strings.HasSuffix(last, "hertz"), last == "percent":
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
