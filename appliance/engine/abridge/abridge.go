// Package abridge shortens what a tool answered to what a small language model has
// time to read: structure stays, long lists and texts are cut with a mark, and
// identifiers and links go, unless the question asks for them. The same answer and
// question always give the same text.
package abridge

import (
	"strings"
	"unicode/utf8"
)

// Question is what an answer is read for.
type Question struct {
	Words     string // what the user said last
	Arguments string // of the call, a JSON object
}

const (
	// maxTries is how often a text is drawn anew to come close to its budget from below.
	maxTries = 6
	// goodEnough is how much of the budget is enough: another try costs more than
	// what it would bring.
	goodEnough = 0.85
)

// Text is content in at most budget tokens, as count counts them: as it is where it
// fits, else JSON as shorter JSON and anything else as passages of it.
func Text(content string, q Question, budget int, count func(string) int) string {
	if count(content) <= budget {
		return content
	}
	content = strings.ToValidUTF8(content, "")
	asked := q.query()
	if root := parse(content, asked); root != nil {
		return fit(root.renderer(asked), budget, count)
	}
	text := strings.TrimSpace(withoutTags(content))
	return fit(passagesOf(text, asked).lines, budget, count)
}

// fit is what draw makes that has at most budget tokens, and not many fewer where
// there is more to show. What draw is given is its own estimate of tokens.
func fit(draw func(size int) string, budget int, count func(string) int) string {
	best, last, size := "", "", budget
	for range maxTries {
		out := draw(size)
		if out == last || size < 1 {
			break
		}
		last = out
		n := max(count(out), 1)
		if n > budget {
			size = min(size-1, size*budget*9/10/n)
			continue
		}
		if len(out) > len(best) {
			best = out
		}
		if float64(n) >= goodEnough*float64(budget) {
			break
		}
		size = min(2*size, size*budget*95/100/n)
	}
	if best == "" {
		best = truncate(last, budget, count)
	}
	return best
}

// truncate is the beginning of a text that has at most budget tokens: for what is
// nothing but one key that is longer than that.
func truncate(text string, budget int, count func(string) int) string {
	for len(text) > 0 && count(text+ellipsis) > budget {
		text = cutAt(text, len(text)/2)
	}
	return text + ellipsis
}

// ellipsis stands where something was left out.
const ellipsis = "…"

// cutAt is the beginning of a text of at most n bytes, in whole runes.
func cutAt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// tokens estimates how many tokens a text has: models write digits one by one.
func tokens(text string) int {
	digits := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			digits++
		}
	}
	return (len(text)-digits+2)/3 + digits
}
