package abridge

import (
	"math"
	"slices"
)

// rarity returns the weight of a word of the question that occurs in often parts of the result.
func rarity(often int) float64 { return 4 / (1 + math.Log2(float64(max(often, 1)))) }

// scoring rates how relevant the leaves of a result are.
type scoring struct {
	query   query
	counts  []int // how many leaves have each word of the question
	matches map[*node][]int
}

// scoreLeaves sets the score of every leaf.
func (root *node) scoreLeaves(a query) {
	j := scoring{query: a, counts: make([]int, len(a.words)), matches: map[*node][]int{}}
	j.scan(root)
	j.score(root, 0, 0)
}

// scan marks noise and finds the words of the question.
func (s *scoring) scan(n *node) {
	for _, kid := range n.children {
		s.scan(kid)
	}
	if n.kind == object || n.kind == list {
		return
	}
	if n.noise = isNoise(n, s.query); n.noise || n.kind != words {
		return
	}
	if len(n.text) > maxShortText {
		p := passagesOf(withoutTags(n.text), s.query)
		n.prose = &p
	}
	var at []int
	for _, w := range wordsOf(cutAt(n.text, maxPassages)) {
		if i := s.query.match(w); i >= 0 && !slices.Contains(at, i) {
			at = append(at, i)
			s.counts[i]++
		}
	}
	if at != nil {
		s.matches[n] = at
	}
}

// matched returns the total weight of the question's words in a leaf.
func (s *scoring) matched(n *node) (sum float64) {
	for _, at := range s.matches[n] {
		sum += rarity(s.counts[at])
	}
	return sum
}

// nameMatch returns how well the name of a field matches the question: directly, or by a synonym.
func (s *scoring) nameMatch(key string) (direct, synonym float64) {
	for _, w := range wordsOf(key) {
		switch {
		case s.query.match(w) >= 0:
			direct++
		case slices.ContainsFunc(s.query.synonyms, func(k string) bool { return sameWord(k, w) }):
			synonym = 1
		}
	}
	return direct, synonym
}

const (
	byName        = 2.5 // the question names the field
	bySynonym     = 1.5 // the question names a synonym
	inherited     = 0.6 // fraction that a leaf inherits from its object
	maxEntryBonus = 6   // limit for what an entry gains by its leaves
)

// score scores the values in n; more is what they inherit.
func (s *scoring) score(n *node, more float64, depth int) {
	if n.kind == list {
		for i, kid := range n.children {
			down := more - min(0.05*float64(i), 3)
			if kid.kind == object || kid.kind == list {
				down += s.entryBonus(kid)
			}
			s.scoreOne(kid, down, depth)
			if kid.kind == object {
				s.promoteName(kid)
			}
		}
		n.score = more + 0.5
		return
	}
	for _, kid := range n.children {
		s.scoreOne(kid, more, depth)
	}
}

// scoreOne scores a value.
func (s *scoring) scoreOne(n *node, more float64, depth int) {
	direct, synonym := s.nameMatch(n.key)
	if n.kind == object || n.kind == list {
		up := more - 0.25
		if n.kind == object || n.key != "" {
			up += inherited * (byName*direct + bySynonym*synonym)
		}
		if dullName(n.key) && direct == 0 {
			up--
		}
		s.score(n, up, depth+1)
		return
	}
	n.score = more + 2 + byName*direct + bySynonym*synonym + min(s.matched(n), maxEntryBonus)
	key := wordsOf(n.key)
	last := lastOf(key)
	switch {
	case n.prose != nil:
		n.score -= 1.2
		if facts[last] {
			n.score += 0.5
		}
	case names[last]:
		n.score += 1.5
	case n.kind == literal && n.text == "false":
		n.score -= byName * direct / 2
	case slices.ContainsFunc(key, func(w string) bool { return facts[w] }):
		n.score += 0.5
	}
	if dullName(n.key) && direct == 0 {
		n.score -= 1.5
	}
}

func dullName(key string) bool {
	return slices.ContainsFunc(wordsOf(key), func(w string) bool { return dull[w] || codes[w] || links[w] })
}

// entryBonus returns what an entry of a list gains by its relevant leaves.
func (s *scoring) entryBonus(n *node) float64 {
	var sum float64
	for _, kid := range n.children {
		switch {
		case kid.kind == object:
			sum += s.entryBonus(kid) / 2
		case kid.kind == literal && kid.text == "true":
			direct, _ := s.nameMatch(kid.key)
			sum += direct
		default:
			sum += s.matched(kid)
		}
	}
	return min(sum, maxEntryBonus)
}

// promoteName gives the name of an entry a higher score than everything else in it.
func (s *scoring) promoteName(entry *node) {
	best := math.Inf(-1)
	for _, kid := range entry.children {
		best = max(best, kid.best())
	}
	for _, of := range []map[string]bool{names, moments} {
		for _, kid := range entry.children {
			if kid.kind <= list || kid.noise || kid.prose != nil || !of[lastOf(wordsOf(kid.key))] {
				continue
			}
			kid.score = max(kid.score, best+0.1)
			return
		}
	}
}

// best returns the highest score in n.
func (n *node) best() float64 {
	if n.kind != object && n.kind != list {
		if n.noise {
			return math.Inf(-1)
		}
		return n.score
	}
	best := math.Inf(-1)
	for _, kid := range n.children {
		best = max(best, kid.best())
	}
	return best
}
