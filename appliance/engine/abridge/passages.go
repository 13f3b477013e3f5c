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
	// passageBytes is how long a passage gets, which is a sentence or a line: what is
	// longer has several.
	passageBytes = 200
	// maxPassages is how many of a text are looked at: 100,000 bytes or so.
	maxPassages = 4000
)

// passages is a text that is no JSON, or a long text in it, cut into pieces of which
// some are shown.
type passages struct {
	pieces []passage
	order  []int // the best first
	more   int   // lines that were not even looked at
}

type passage struct {
	text  string
	line  int // in which it stands
	score float64
}

// sentenceEnd is where a sentence is over.
var sentenceEnd = regexp.MustCompile(`[.!?][)"'”’]*\s+|[。！？]`)

// passagesOf cuts a text.
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

// score says how much each passage has of what is wanted: words that few others have
// count most.
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
			piece.score++ // what it is about, or the head of a table
		}
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(i, j int) int { return cmp.Compare(p.pieces[j].score, p.pieces[i].score) })
}

// matched is the score of the best passage, as far as the question has its words.
func (p passages) matched() float64 {
	if len(p.order) == 0 {
		return 0
	}
	return max(0, p.pieces[p.order[0]].score-1.3)
}

// chosen are passages of so many tokens together, in their order.
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

// excerpt is what of a text within JSON is shown in so many tokens.
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

// lines is what of a text is shown in so many tokens, where its lines stay lines.
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

// sentences are those of a line, none longer than passageBytes.
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

// cutAtWordEnd is the beginning of a text of at most n bytes, up to the end of a word
// if there is one in its second half.
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

// cutAtWord is the same, with a mark.
func cutAtWord(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.TrimSpace(cutAtWordEnd(text, n)) + ellipsis
}

// withoutCodes is a line without what nobody can say: links, and words that are codes.
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
