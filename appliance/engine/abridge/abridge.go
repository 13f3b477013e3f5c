// Package abridge shortens tool results to what a small language model has time to process. It
// keeps the structure, cuts long lists and texts with a mark, and drops identifiers and links
// unless the question asks for them. The same result and question always give the same text.
package abridge

import (
	"strings"
	"unicode/utf8"
)

// Question is the purpose for which a result is shortened.
type Question struct {
	Words     string // the user's last words
	Arguments string // of the call, a JSON object
}

const (
	// maxTries is how often a text is rendered to approach its budget from below.
	maxTries = 6
	// goodEnough is the fraction of the budget that is enough; another try costs more than it
	// gains.
	goodEnough = 0.85
)

// Text returns content in at most budget tokens, as counted by count: unchanged if it fits, else
// JSON as shorter JSON and anything else as passages of it.
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

// fit returns a result of draw with at most budget tokens, and not many fewer if there is more to
// show. The argument of draw is its own estimate of tokens.
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

// truncate returns the beginning of a text, with at most budget tokens. It is for a result that
// consists of a single key longer than that.
func truncate(text string, budget int, count func(string) int) string {
	for len(text) > 0 && count(text+ellipsis) > budget {
		text = cutAt(text, len(text)/2)
	}
	return text + ellipsis
}

// ellipsis marks where something was left out.
const ellipsis = "…"

// cutAt returns the beginning of a text with at most n bytes, in whole runes.
func cutAt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// tokens estimates how many tokens a text has; models write digits one by one.
func tokens(text string) int {
	digits := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			digits++
		}
	}
	return (len(text)-digits+2)/3 + digits
}
