package abridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A part of a result that may be shown.
type part struct {
	of    *node
	size  int // tokens of its text, including what is already shown of it
	score float64
}

const (
	// maxKeyBytes and maxFactBytes limit how much is shown of a field name and of a text that is
	// not prose.
	maxKeyBytes  = 48
	maxFactBytes = maxShortText + 20
	// fewEntries is how many entries of a list a small model can count by itself.
	fewEntries = 3
)

// proseSizes are the sizes, in tokens, in which a long text is shown: first little of each, then
// more of the most relevant ones.
var proseSizes = [...]int{40, 120, 480}

// renderer scores a result and returns the function that renders it in a number of tokens.
func (root *node) renderer(a query) func(size int) string {
	root.scoreLeaves(a)
	parts := root.parts(a, false, nil)
	if len(parts) == 0 {
		parts = root.parts(a, true, nil) // it consists of codes only
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.score, a.score) })
	nth := 0
	return func(size int) string {
		nth++
		root.choose(parts, size, nth)
		var b strings.Builder
		root.render(&b, a, nth)
		return b.String()
	}
}

// parts returns the parts of n in order.
func (n *node) parts(a query, noise bool, out []part) []part {
	switch {
	case n.kind == object || n.kind == list:
		for _, kid := range n.children {
			out = kid.parts(a, noise, out)
		}
		if n.kind == list && n.parent != nil && len(n.children)+n.omitted > 1 {
			out = append(out, part{n, 1, n.score})
		}
	case n.noise != noise:
	case n.prose != nil:
		whole := tokens(n.text)
		for i, size := range proseSizes {
			score := n.score + n.prose.matched()*0.5 - 1.5*float64(i)
			if out = append(out, part{n, min(size, whole), score}); whole <= size || n.prose.matched() == 0 {
				break // more of an irrelevant text is not worth its time
			}
		}
	default:
		out = append(out, part{n, tokens(cutAt(n.text, maxFactBytes)), n.score})
	}
	return out
}

// choose marks what a render shows: the most relevant parts that fit.
func (root *node) choose(parts []part, size, nth int) {
	used := 2
	for _, p := range parts {
		cost := p.size
		if p.of.lastRender == nth {
			cost -= p.of.budget // more of a text that is shown already
		} else {
			for n := p.of; n != nil && n.lastRender != nth; n = n.parent {
				cost += tokens(cutAt(n.key, maxKeyBytes)) + 2
			}
		}
		if used+cost > size {
			continue
		}
		used += cost
		p.of.budget = max(p.size, 1)
		for n := p.of; n != nil && n.lastRender != nth; n = n.parent {
			n.lastRender = nth
		}
	}
}

// render writes the chosen parts.
func (n *node) render(b *strings.Builder, a query, nth int) {
	switch n.kind {
	case object:
		b.WriteByte('{')
		first := true
		for _, kid := range n.children {
			if kid.lastRender != nth {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			write(b, cut(kid.key, maxKeyBytes))
			b.WriteByte(':')
			kid.render(b, a, nth)
		}
		b.WriteByte('}')
	case list:
		n.renderList(b, a, nth)
	case words:
		switch {
		case n.prose != nil:
			write(b, n.prose.excerpt(n.budget))
		default:
			write(b, cut(n.text, maxFactBytes))
		}
	default:
		b.WriteString(cut(n.text, maxFactBytes))
	}
}

// renderList writes the chosen entries and the number of the others.
func (n *node) renderList(b *strings.Builder, a query, nth int) {
	b.WriteByte('[')
	shown, all := 0, len(n.children)+n.omitted
	for _, kid := range n.children {
		if kid.lastRender != nth {
			continue
		}
		if shown > 0 {
			b.WriteByte(',')
		}
		shown++
		kid.render(b, a, nth)
	}
	left := ""
	switch {
	case shown == 0 || shown == all && a.wantsCount && all > fewEntries:
		left = fmt.Sprintf("%s %d in all", ellipsis, all)
	case shown < all && a.wantsCount:
		left = fmt.Sprintf("%s %d more, %d in all", ellipsis, all-shown, all)
	case shown < all:
		left = fmt.Sprintf("%s %d more", ellipsis, all-shown)
	}
	if left != "" {
		if shown > 0 {
			b.WriteByte(',')
		}
		write(b, left)
	}
	b.WriteByte(']')
}

// write writes a JSON string.
func write(b *strings.Builder, text string) {
	var quoted strings.Builder
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // encoding a string cannot fail
	b.WriteString(strings.TrimSuffix(quoted.String(), "\n"))
}

// cut returns a text of at most n bytes, with an ellipsis if it was cut.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return cutAt(text, n-len(ellipsis)) + ellipsis
}
