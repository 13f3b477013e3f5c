package speech

import (
	"strings"
	"unicode"

	"parley/appliance/text"
	"parley/internal/levenshtein"
)

const (
	// maxWordDistance is the distance of two words that have nothing in common. skipCost is the
	// cost of leaving a word unmatched: a little more than half, so that different words are
	// matched in order.
	maxWordDistance = 1.0
	skipCost        = 0.55
)

// distribute assigns the words of a text to the parts in which they were spoken, in order.
// heard is the transcript of each part alone, which may have wrong, additional or missing
// words; lengths are the lengths of the parts, for when no part has a transcript.
func distribute(words []string, heard [][]string, lengths []int) [][]string {
	var flat []string
	var part []int // of each word in flat
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

// alignWords returns for each word of a the index of its match in b, or -1: the alignment with
// the least cost.
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

// plain returns words in lower case and without punctuation.
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

// wordDistance returns the edit distance of two words, relative to the longer, from 0 to
// maxWordDistance.
func wordDistance(a, b []rune) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 0
	}
	return maxWordDistance * float64(levenshtein.Distance(a, b)) / float64(max(len(a), len(b)))
}

// byLength gives each part letters in proportion to its length.
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

// withoutFullStops turns the sentences of a text into clauses, so that it is spoken without
// long pauses. After a full stop a voice pauses for 300 to 370 ms, after a comma for 210 to
// 280, and the speaker paused for less than phrasePause.
func withoutFullStops(s string) string {
	var b strings.Builder
	parts := text.Segments(s)
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
