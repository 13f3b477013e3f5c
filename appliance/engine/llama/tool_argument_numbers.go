package llama

import (
	"slices"
	"strconv"
	"strings"
)

// numerals are the number words of English, which the speech recognition writes.
var numerals = map[string]int{
	"zero":        0,
	"oh":          0,
	"one":         1,
	"two":         2,
	"three":       3,
	"four":        4,
	"five":        5,
	"six":         6,
	"seven":       7,
	"eight":       8,
	"nine":        9,
	"ten":         10,
	"eleven":      11,
	"twelve":      12,
	"thirteen":    13,
	"fourteen":    14,
	"fifteen":     15,
	"sixteen":     16,
	"seventeen":   17,
	"eighteen":    18,
	"nineteen":    19,
	"twenty":      20,
	"thirty":      30,
	"forty":       40,
	"fifty":       50,
	"sixty":       60,
	"seventy":     70,
	"eighty":      80,
	"ninety":      90,
	"hundred":     100,
	"thousand":    1000,
	"dozen":       12,
	"couple":      2,
	"pair":        2,
	"both":        2,
	"first":       1,
	"second":      2,
	"third":       3,
	"fourth":      4,
	"fifth":       5,
	"sixth":       6,
	"seventh":     7,
	"eighth":      8,
	"ninth":       9,
	"tenth":       10,
	"eleventh":    11,
	"twelfth":     12,
	"thirteenth":  13,
	"fourteenth":  14,
	"fifteenth":   15,
	"sixteenth":   16,
	"seventeenth": 17,
	"eighteenth":  18,
	"nineteenth":  19,
	"twentieth":   20,
	"thirtieth":   30,
	"once":        1,
	"twice":       2,
	"single":      1,
	"midnight":    0,
	"noon":        12,
}

// numbersOf returns the numbers in words as digits: combined ("two hundred and twelve" is 212),
// spelled ("three oh four" is 304), and each word for itself.
func numbersOf(words []string) map[string]bool {
	out := map[string]bool{}
	add := func(n int) { out[strconv.Itoa(n)] = true }
	for i, w := range words {
		switch next := strings.Join(words[i+1:min(i+4, len(words))], " "); {
		case w == "half" && strings.HasPrefix(next, "an hour"):
			add(30)
		case w == "quarter" && strings.HasPrefix(next, "of an hour"):
			add(15)
		case (w == "an" || w == "one") && strings.HasPrefix(next, "hour"):
			add(60)
		}
		total, part, spelled, run := 0, 0, "", false
		for _, w := range words[i:] {
			n, digits := 0, false
			if _, err := strconv.Atoi(w); err == nil && len(w) < 16 {
				n, _ = strconv.Atoi(w)
				digits = true
			} else if m, ok := numerals[w]; ok {
				n = m
			} else if w == "and" && run {
				continue
			} else {
				break
			}
			switch {
			case !digits && n == 1000:
				total, part = total+max(part, 1)*1000, 0
			case !digits && n == 100:
				part = max(part, 1) * 100
			default:
				part += n
			}
			if digits {
				spelled += w
			} else if n < 100 {
				spelled += strconv.Itoa(n)
			}
			run = true
			add(n)
			add(total + part)
			out[spelled] = true
			if hours := total + part; hours <= 24 && slices.Contains(words, "hours") {
				add(hours * 60)
			}
		}
	}
	return out
}
