package reply

import (
	"math"
	"slices"
	"strings"

	"parley/appliance/text"
)

// clock takes note of how else a time of day may be said: 17:45 is "5:45" and
// "a quarter to six" too.
func (f *facts) clock(n text.Number, next []text.Number) {
	if n.Value < 0 || n.Value > 24 || n.Value != math.Trunc(n.Value) || n.Money || money(n.After) || cents(n.After) {
		return
	}
	afternoon := n.After == "pm" || n.After == "p" || n.After == "in"
	if n.Value > 12 {
		f.hours[n.Value-12] = true
	} else if afternoon {
		f.hours[n.Value+12] = true
	}
	if len(next) > 0 && next[0].Value > 30 && next[0].Value < 60 {
		f.hours[60-next[0].Value] = true
		f.hours[math.Mod(n.Value, 12)+1] = true
	}
}

// knows reports whether a number may be said: one that was told, one that is a
// sum of prices that were, or a word that is hardly a number.
func (f *facts) knows(n text.Number) bool {
	switch {
	case n.Word && !f.Spelt, f.numbers[n.Value]:
		return true
	case f.hours[n.Value] && !n.Money && !money(n.After) && !cents(n.After):
		return true
	case n.Word && n.Ordinal && n.Value <= 2: // "first, …", "a second"
		return true
	case n.Spelt != "":
		return strings.Contains(f.digits, n.Spelt)
	case cents(n.After) && f.numbers[n.Value/100]:
		return true
	}
	return f.priced(n.Value) || f.reckoned(n.Value)
}

// reckoned reports whether a number follows from two that the user has said:
// "what is seven times eight?".
func (f *facts) reckoned(n float64) bool {
	for i, a := range f.counts {
		for j, b := range f.counts {
			if i == j {
				continue
			}
			if n == a+b || n == a-b || n == a*b || b != 0 && math.Abs(n-a/b) < 0.005 {
				return true
			}
		}
	}
	return false
}

const (
	// mostCounts is how many of the user's numbers are kept in mind, the newest.
	mostCounts = 20
	// mostTerms is of how many prices a sum may be made, and mostPrices how many
	// are tried for it, with their multiples: the third power of it is the work.
	mostTerms  = 3
	mostPrices = 100
)

// priced reports whether a number is a sum of prices, each as many times as the
// user has said.
func (f *facts) priced(of float64) bool {
	var terms []float64
	for _, p := range f.prices {
		for _, c := range append([]float64{1}, f.counts...) {
			if t := c * p; t > 0 && t <= of && len(terms) < mostPrices && !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		}
	}
	return adds(terms, of, mostTerms)
}

// adds reports whether at most so many of the terms add up to a sum.
func adds(terms []float64, of float64, most int) bool {
	for i, t := range terms {
		if math.Abs(of-t) < 0.005 || most > 1 && t < of && adds(terms[i+1:], of-t, most-1) {
			return true
		}
	}
	return false
}
