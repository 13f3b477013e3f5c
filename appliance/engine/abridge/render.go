package abridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A part of an answer that may be shown.
type part struct {
	of    *node
	size  int // tokens of its text, all that is shown of it so far included
	score float64
}

const (
	// maxKeyBytes and maxFactBytes are how many bytes of a name, or of a text that is no
	// prose, are shown.
	maxKeyBytes  = 48
	maxFactBytes = maxShortText + 20
	// fewEntries is how many entries of a list a small model counts by itself.
	fewEntries = 3
)

// proseSizes are how many tokens of a long text are shown: first little of each, and
// more of those that say most.
var proseSizes = [...]int{40, 120, 480}

// renderer judges an answer and returns what draws it in so many tokens.
func (root *node) renderer(a query) func(size int) string {
	root.scoreLeaves(a)
	parts := root.parts(a, false, nil)
	if len(parts) == 0 {
		parts = root.parts(a, true, nil) // it is nothing but codes
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

// children are those of n, in their order.
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
				break // more of what nobody asked for is not worth its time
			}
		}
	default:
		out = append(out, part{n, tokens(cutAt(n.text, maxFactBytes)), n.score})
	}
	return out
}

// choose marks what is shown in a draw: the parts that are wanted most, as far as
// there is room for them.
func (root *node) choose(parts []part, size, nth int) {
	used := 2
	for _, p := range parts {
		cost := p.size
		if p.of.lastRender == nth {
			cost -= p.of.budget // more of what is shown already
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

// render writes what was chosen.
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

// renderList writes entries, and how many others there are.
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

// write writes a text as JSON does.
func write(b *strings.Builder, text string) {
	var quoted strings.Builder
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // of a string it cannot fail
	b.WriteString(strings.TrimSuffix(quoted.String(), "\n"))
}

// cut is a text of n bytes at most, with a mark where that is not all.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return cutAt(text, n-len(ellipsis)) + ellipsis
}
