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
	case oneOf(n.Before, numbered) && n.Spelt == "":
		return false
	case f.hours[n.Value] && !n.Money && !money(n.After) && !cents(n.After):
		return true
	case n.Word && n.Ordinal && n.Value <= 2: // "first, …", "a second"
		return true
	case n.Spelt != "":
		return strings.Contains(f.digits, n.Spelt)
	case cents(n.After) && f.numbers[n.Value/100]:
		return true
	}
	return payable(n) && f.priced(n.Value) || f.reckoned(n.Value) || f.measured && f.converted(n.Value)
}

// converted reports whether a number is one that a tool brought, as people say it:
// rounded, a share as percent, minutes as hours and the rest of them.
func (f *facts) converted(n float64) bool {
	for k := range f.numbers {
		if math.Round(k) == n || math.Abs(k*100-n) < 0.005 ||
			k > 60 && (math.Floor(k/60) == n || k/60 == n || math.Mod(k, 60) == n) {
			return true
		}
	}
	return false
}

// payable reports whether a number may be a sum of prices: of "10 seats" that is
// nothing to go by.
func payable(n text.Number) bool {
	return n.Money || n.After == "" || money(n.After) || cents(n.After) || oneOf(n.After, joining)
}

// joining are words that may stand behind a sum.
const joining = "for in all together altogether total and or if per with without but to each as plus when at on " +
	"including from so a an the is because since would of by"

// numbered are words before a number that is a name, and no time of day: where
// something closes at 22 o'clock, there is no "train number 10".
const numbered = "number no nr room platform track gate line bus train tram floor counter desk door"

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
