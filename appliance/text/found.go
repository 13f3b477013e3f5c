package text

import (
	"regexp"
	"slices"
	"strings"
)

const (
	currencyNames = `(?:(?:US|Canadian|Australian) )?(?:dollars?|euros?|pounds?|cents?|pence|francs?|yen|rupees?|` +
		`pesos?|roubles?|rubles?|yuan|zloty|crowns|bucks)\b`
	numberWords = `(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|` +
		`sixteen|seventeen|eighteen|nineteen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|` +
		`billion)`
	someNumber = `(?:` + figures + magnitudes + `|\b` + numberWords + `(?:(?:-| and | )` + numberWords + `)*)`

	fullDays   = `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day`
	partOfDay  = `(?: (?:morning|afternoon|evening|night))?`
	fullMonths = `(?:January|February|March|April|May|June|July|August|September|October|November|December)`
	since      = `\b(?i:in|since|until|till|by|from|of|before|after|around|during|between|and|to|last|next|this|` +
		`late|early) `
)

// money matches an amount of money, and moments a date or a time of day. The group is the match without the words that
// only give evidence for it.
var (
	money = either(
		currencyFirst+` ?`+figures+magnitudes,
		`\b`+figures+magnitudes+` ?(?:`+currencySigns+`|`+currencyCodes+`\b)`,
		`(?i:`+someNumber+` `+currencyNames+`)`,
	)
	moments = either(
		`\b\d{4}-\d{2}-\d{2}\b`,
		`\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b`,
		`\b(?:`+fullDays+`,? )?(?:the )?`+day+` (?:of )?`+monthName+`(?:,? \d{4})?\b`,
		`\b(?:`+fullDays+`,? )?`+monthName+` `+day+`(?:,? \d{4})?\b`,
		`\b`+fullMonths+`,? \d{4}\b`,
		`\b`+fullDays+`s?`+partOfDay+`\b`,
		`\b(?:January|February|April|June|July|August|September|October|November|December)\b`,
		`\b(?i:noon|midnight)\b`,
		`\b\d{1,2}(?::[0-5]\d(?::[0-5]\d)?)? ?`+anyHalf,
		`\b\d{1,2}:[0-5]\d\b`,
		`\b\d{1,2} o['’]clock\b`,
		`\b(?:1[1-9]|20)\d0s\b`,
	)
	dated = regexp.MustCompile(since + `(` + fullMonths + `|(?:1[1-9]|20)\d{2})\b`)
)

// either compiles patterns as alternatives.
func either(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?:` + strings.Join(patterns, `|`) + `)`)
}

// Money returns the amounts of money in an English text ("$12.50", "five dollars"), as ranges of bytes in order.
func Money(s string) [][]int { return money.FindAllStringIndex(s, -1) }

// Moments returns the dates and times of day in an English text ("3 May 2026", "Monday evening", "8 p.m.", "in 1905"),
// as ranges of bytes in order.
func Moments(s string) [][]int {
	all := moments.FindAllStringIndex(s, -1)
	for _, at := range dated.FindAllStringSubmatchIndex(s, -1) {
		found := at[2:4]
		if !slices.ContainsFunc(all, func(other []int) bool { return other[0] < found[1] && found[0] < other[1] }) {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, slices.Compare[[]int])
	return all
}
