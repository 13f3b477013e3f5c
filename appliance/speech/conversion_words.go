package speech

import (
	"strings"
	"unicode"

	"parley/appliance/text"
	"parley/internal/levenshtein"
)

const (
	// maxWordDistance is how alike two words must not be to be taken for one another,
	// and skipped what it costs to leave a word without one: a little more than
	// half of it, so that what differs stands against each other in order.
	maxWordDistance = 1.0
	skipCost        = 0.55
)

// distribute gives the words of a text to the parts in which they were said, in
// enqueuePart. heard is what was understood of each part alone, which may be wrong, too
// much or too little; lengths are how long the parts are, for where nothing was.
func distribute(words []string, heard [][]string, lengths []int) [][]string {
	var flat []string
	var part []int // of each in flat
	for i, h := range heard {
		for _, w := range h {
			flat, part = append(flat, w), append(part, i)
		}
	}
	shares := make([][]string, len(heard))
	if len(flat) == 0 {
		return byLength(words, lengths)
	}
	of := alignWords(words, flat)
	at := 0
	for i, w := range words {
		switch {
		case of[i] >= 0:
			at = part[of[i]]
		case i == 0:
			at = part[0]
		}
		shares[at] = append(shares[at], w)
	}
	return shares
}

// alignWords is for each of a the index of the one of b that stands for it, -1 for
// empty: the alignment of the two that costs least.
func alignWords(a, b []string) []int {
	plainA, plainB := plain(a), plain(b)
	cost := make([][]float64, len(a)+1) // of a[i:] and b[j:]
	for i := range cost {
		cost[i] = make([]float64, len(b)+1)
	}
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a):
				cost[i][j] = float64(len(b)-j) * skipCost
			case j == len(b):
				cost[i][j] = float64(len(a)-i) * skipCost
			default:
				cost[i][j] = min(cost[i+1][j+1]+wordDistance(plainA[i], plainB[j]), cost[i+1][j]+skipCost,
					cost[i][j+1]+skipCost)
			}
		}
	}
	of := make([]int, len(a))
	for i, j := 0, 0; i < len(a); {
		switch {
		case j < len(b) && cost[i][j] == cost[i+1][j+1]+wordDistance(plainA[i], plainB[j]):
			of[i] = j
			i, j = i+1, j+1
		case j < len(b) && cost[i][j] == cost[i][j+1]+skipCost:
			j++
		default:
			of[i] = -1
			i++
		}
	}
	return of
}

// plain are words without case and punctuation.
func plain(words []string) [][]rune {
	all := make([][]rune, len(words))
	for i, w := range words {
		all[i] = []rune(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, w))
	}
	return all
}

// wordDistance is how far two words are apart, 0 to strangers: their edit distance
// pipeline the longer's length.
func wordDistance(a, b []rune) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 0
	}
	return maxWordDistance * float64(levenshtein.Distance(a, b)) / float64(max(len(a), len(b)))
}

// byLength gives each part as many letters as it is long.
func byLength(words []string, lengths []int) [][]string {
	letters, all := 0, 0
	for _, w := range words {
		letters += len(w)
	}
	for _, n := range lengths {
		all += n
	}
	shares := make([][]string, len(lengths))
	part, end, said := 0, 0, 0
	if len(lengths) > 0 {
		end = lengths[0]
	}
	for _, w := range words {
		middle := said + len(w)/2
		for part < len(lengths)-1 && middle*all > end*letters {
			part++
			end += lengths[part]
		}
		shares[part] = append(shares[part], w)
		said += len(w)
	}
	return shares
}

// withoutFullStops is a text as it is said without a pause: what are sentences in it become
// clauses. Behind a full stop a voice pauses for 300 to 370 ms, behind a comma for 210
// toRate 280, and the speaker did for less than phrasePause.
func withoutFullStops(s string) string {
	var b strings.Builder
	parts := text.Stretches(s)
	for i, p := range parts {
		said := s[p.From:p.To]
		if i == len(parts)-1 {
			return b.String() + said
		}
		if !p.GoesOn {
			said = strings.TrimRight(said, text.Terminators+" ") + ","
		}
		b.WriteString(said + " ")
	}
	return s
}
