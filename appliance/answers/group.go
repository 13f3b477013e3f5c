package answers

import (
	"cmp"
	"context"
	"slices"

	"parley/appliance/engine"
)

const (
	// groupCosine is the likeness from which on two questions are in one group. Of 450 unrelated questions to three
	// desks it joined 35 to others, all that were looked at rightly.
	groupCosine = 0.7
	// maxGrouped bounds the different questions that are compared by likeness, of which each takes 3 ms. Those after
	// them are grouped by their words alone.
	maxGrouped = 500
)

// Group puts questions that ask alike into groups, the largest group first. A group has the indexes of its questions in
// their order. The first question of a group is what the others are compared to. The order of the questions decides,
// so that the same questions always have the same groups. Without an embedder only questions with the same words are
// alike.
func (f *Finder) Group(ctx context.Context, questions []string, u *engine.Urgency) ([][]int, error) {
	groups := sameWords(questions)
	if _, err := f.parts.Embedder(); err != nil {
		return bySize(groups), nil
	}
	var joined [][]int
	var leaders [][]float32
	for n, g := range groups {
		if n >= maxGrouped {
			joined = append(joined, g)
			continue
		}
		v, err := f.embed(ctx, questions[g[0]], u)
		if err != nil {
			return nil, err
		}
		if i := nearestOf(leaders, v); i >= 0 {
			joined[i] = append(joined[i], g...)
			continue
		}
		leaders, joined = append(leaders, v), append(joined, g)
	}
	for _, g := range joined {
		slices.Sort(g[1:])
	}
	return bySize(joined), nil
}

// sameWords groups questions with the same words, in the order of the first of each group.
func sameWords(questions []string) (groups [][]int) {
	byWords := map[string]int{}
	for i, q := range questions {
		normal := Normal(q)
		g, ok := byWords[normal]
		if !ok {
			g = len(groups)
			byWords[normal] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// nearestOf returns the nearest leader, or -1 if none is near enough.
func nearestOf(leaders [][]float32, v []float32) int {
	nearest, most := -1, float32(groupCosine)
	for i, l := range leaders {
		if c := dotFloats(l, v); c >= most {
			nearest, most = i, c
		}
	}
	return nearest
}

func bySize(groups [][]int) [][]int {
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return groups
}
