package abridge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// passageBytes is the length of a passage, which is a sentence or a line; a longer one is
	// split.
	passageBytes = 200
	// maxPassages is how many passages of a text are examined: 100,000 bytes or so.
	maxPassages = 4000
)

// passages is a text that is not JSON, or a long text in JSON, cut into passages. Only the most
// relevant ones are shown.
type passages struct {
	pieces []passage
	order  []int // the best first
	more   int   // lines that were not examined
}

type passage struct {
	text  string
	line  int // its line number
	score float64
}

// sentenceEnd matches the end of a sentence.
var sentenceEnd = regexp.MustCompile(`[.!?][)"'”’]*\s+|[。！？]`)

// passagesOf cuts a text into passages.
func passagesOf(text string, a query) passages {
	var p passages
	line := 0
	for l := range strings.Lines(text) {
		if l = withoutCodes(l, a); l == "" {
			continue
		}
		if len(p.pieces) >= maxPassages {
			p.more++
			continue
		}
		for _, s := range sentences(l) {
			p.pieces = append(p.pieces, passage{text: s, line: line})
		}
		line++
	}
	p.score(a)
	return p
}

// score rates how relevant each passage is; words of the question that few passages have count
// most.
func (p *passages) score(a query) {
	of := make([][]int, len(p.pieces))
	often := make([]int, len(a.words))
	for i, piece := range p.pieces {
		for _, w := range wordsOf(piece.text) {
			if at := a.match(w); at >= 0 && !slices.Contains(of[i], at) {
				of[i] = append(of[i], at)
				often[at]++
			}
		}
	}
	p.order = make([]int, len(p.pieces))
	for i := range p.pieces {
		piece := &p.pieces[i]
		piece.score = -min(0.02*float64(i), 1)
		for _, at := range of[i] {
			piece.score += rarity(often[at])
		}
		if strings.ContainsFunc(piece.text, unicode.IsDigit) {
			piece.score += 0.3
		}
		if piece.line == 0 {
			piece.score++ // the subject, or the head of a table
		}
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(i, j int) int { return cmp.Compare(p.pieces[j].score, p.pieces[i].score) })
}

// matched returns the score of the best passage, as far as the question's words contribute.
func (p passages) matched() float64 {
	if len(p.order) == 0 {
		return 0
	}
	return max(0, p.pieces[p.order[0]].score-1.3)
}

// chosen returns the passages that fit into size tokens, in their order.
func (p passages) chosen(size int) []int {
	var out []int
	used := 0
	for _, i := range p.order {
		if n := tokens(p.pieces[i].text) + 1; used+n <= size {
			used += n
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// excerpt returns what is shown, in size tokens, of a text within JSON.
func (p passages) excerpt(size int) string {
	chosen := p.chosen(size)
	if len(chosen) == 0 && len(p.order) > 0 {
		return cutAtWord(p.pieces[p.order[0]].text, 3*size)
	}
	var b strings.Builder
	next := 0
	for _, i := range chosen {
		if i > next {
			b.WriteString(ellipsis + " ")
		}
		b.WriteString(p.pieces[i].text + " ")
		next = i + 1
	}
	if next < len(p.pieces) || p.more > 0 {
		return strings.TrimSpace(b.String()) + ellipsis
	}
	return strings.TrimSpace(b.String())
}

// lines returns what is shown of a text, in size tokens, and keeps its line breaks.
func (p passages) lines(size int) string {
	chosen := p.chosen(size)
	if len(chosen) == 0 {
		return p.excerpt(size)
	}
	var b strings.Builder
	next, shown := 0, map[int]bool{}
	for _, i := range chosen {
		piece := p.pieces[i]
		if i > 0 && b.Len() > 0 {
			if piece.line == p.pieces[next-1].line {
				b.WriteString(" ")
			} else {
				b.WriteString("\n")
			}
		}
		if i > next {
			b.WriteString(ellipsis + " ")
		}
		b.WriteString(piece.text)
		next, shown[piece.line] = i+1, true
	}
	all := p.more
	if n := len(p.pieces); n > 0 {
		all += p.pieces[n-1].line + 1
	}
	if left := all - len(shown); left > 0 {
		fmt.Fprintf(&b, "\n%s %d more lines", ellipsis, left)
	} else if next < len(p.pieces) {
		b.WriteString(" " + ellipsis)
	}
	return b.String()
}

// sentences splits a line into sentences, none longer than passageBytes.
func sentences(line string) (out []string) {
	for line != "" {
		end := len(line)
		if at := sentenceEnd.FindStringIndex(cutAt(line, passageBytes)); at != nil {
			end = at[1]
		}
		if end > passageBytes {
			end = len(cutAtWordEnd(line, passageBytes))
		}
		if s := strings.TrimSpace(line[:end]); s != "" {
			out = append(out, s)
		}
		line = line[end:]
	}
	return out
}

// cutAtWordEnd returns the beginning of a text with at most n bytes, up to the end of a word if
// there is one in its second half.
func cutAtWordEnd(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = cutAt(text, max(n, utf8.UTFMax))
	if at := strings.LastIndexFunc(text, unicode.IsSpace); at > len(text)/2 {
		_, size := utf8.DecodeRuneInString(text[at:])
		return text[:at+size]
	}
	return text
}

// cutAtWord is like cutAtWordEnd with an ellipsis.
func cutAtWord(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.TrimSpace(cutAtWordEnd(text, n)) + ellipsis
}

// withoutCodes removes from a line what nobody can say: links, and words that are codes.
func withoutCodes(line string, a query) string {
	words := strings.Fields(line)
	for i, w := range words {
		if len(w) >= minCodeLength && isOpaque(w) && !(isLink(w) && a.wantsLink) &&
			!(a.wantsID && len(w) <= maxSpokenCode) {
			words[i] = ""
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
