package speech

import (
	"slices"
	"testing"
)

func TestSeedsOfAGenerationDiffer(t *testing.T) {
	var all []int64
	for snippet := range 50 {
		for try := range 2 {
			all = append(all, seedOf(7, snippet, try))
		}
	}
	slices.Sort(all)
	if again := seedOf(7, 3, 1); len(slices.Compact(all)) != 100 || !slices.Contains(all, again) {
		t.Error(all)
	}
}
