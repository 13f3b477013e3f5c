package answers

import (
	"cmp"
	"slices"

	"parley/appliance/contract"
)

const (
	// conflictCosine is the likeness of two ways of asking from which on they probably ask the same. In six sheets of
	// 20 answers for different things, one pair of 1,140 is above: a question about the time before an operation, and
	// one about the time after it. The others are below 0.86.
	conflictCosine = 0.9
	// maxConflicts is the most pairs that are returned: more than a person resolves at once.
	maxConflicts = 100
	// maxComparisons bounds the comparisons of two ways: about 0.4 s on one core. All pairs of 2,000 ways are fewer.
	// Of more ways, those of the items that are most alike are compared.
	maxComparisons = 2_000_000
)

// Conflict is a pair of items that seem to ask the same, so that the box cannot know which answer is wanted.
type Conflict struct {
	Items    [2]int  // indexes of the items, the lower one first
	Ways     [2]int  // indexes in the Ask of each: the two ways that are most alike
	Likeness float64 // 1 if the ways have the same words, else their cosine
}

// Conflicts returns the pairs of items that seem to ask the same, the most alike first, with at most one for two items.
// Ways that are not embedded yet are only compared by their words.
func (s *Set) Conflicts() []Conflict {
	found := map[[2]int]Conflict{}
	s.sameWords(found)
	s.alike(found)
	return ordered(found)
}

// SameWords returns the pairs of items that have a way of asking with the same words. It needs no embedder.
func SameWords(a contract.Answers) []Conflict {
	found := map[[2]int]Conflict{}
	(&Set{Answers: a}).sameWords(found)
	return ordered(found)
}

// ordered returns at most maxConflicts of the conflicts, the most alike first.
func ordered(found map[[2]int]Conflict) []Conflict {
	list := make([]Conflict, 0, len(found))
	for _, c := range found {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(b.Likeness, a.Likeness), slices.Compare(a.Items[:], b.Items[:]))
	})
	return list[:min(len(list), maxConflicts)]
}

// sameWords finds ways with the same words. Of several items with the same way, each is a pair with the first one.
func (s *Set) sameWords(found map[[2]int]Conflict) {
	type place struct{ item, way int }
	first := map[string]place{}
	for i, item := range s.Answers.Items {
		for w, text := range item.Ask {
			normal := Normal(text)
			p, ok := first[normal]
			if !ok {
				first[normal] = place{i, w}
				continue
			}
			pair := [2]int{p.item, i}
			if _, known := found[pair]; p.item != i && !known {
				found[pair] = Conflict{Items: pair, Ways: [2]int{p.way, w}, Likeness: 1}
			}
		}
	}
}

// alike finds ways of which the vectors are alike.
func (s *Set) alike(found map[[2]int]Conflict) {
	v := s.vectors
	left := maxComparisons
	way := make([]float32, width) // of a
	var cosines []float32         // of way with those of b
	for _, pair := range s.itemPairs() {
		a, b := pair[0], pair[1]
		na, nb := v.begins[a+1]-v.begins[a], v.begins[b+1]-v.begins[b]
		if left -= na * nb; left < 0 {
			return
		}
		if _, known := found[pair]; known {
			continue
		}
		best := Conflict{Items: pair}
		for w := range na {
			v.vector(v.begins[a]+w, way)
			cosines = v.cosinesOf(way, v.begins[b], v.begins[b+1], cosines)
			for x, c := range cosines {
				if float64(c) > best.Likeness {
					best.Ways, best.Likeness = [2]int{w, x}, float64(c)
				}
			}
		}
		if best.Likeness >= conflictCosine {
			best.Likeness = min(best.Likeness, 1)
			found[pair] = best
		}
	}
}

// itemPairs returns all pairs of items, those with the nearest means first.
func (s *Set) itemPairs() [][2]int {
	n := len(s.Answers.Items)
	means := make([][]float32, n)
	for i := range means {
		means[i] = s.vectors.mean(i)
	}
	type scored struct {
		pair   [2]int
		cosine float32
	}
	var all []scored
	for a := range n {
		for b := a + 1; b < n; b++ {
			all = append(all, scored{[2]int{a, b}, dotFloats(means[a], means[b])})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.cosine, a.cosine) })
	pairs := make([][2]int, len(all))
	for i, p := range all {
		pairs[i] = p.pair
	}
	return pairs
}
