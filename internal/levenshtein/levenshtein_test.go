package levenshtein

import "testing"

func TestDistanceCountsChangedAddedAndMissing(t *testing.T) {
	for _, c := range []struct {
		want, got string
		is        int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"abcd", "bcda", 2}, {"flaw", "lawn", 2},
	} {
		if got := Distance([]rune(c.want), []rune(c.got)); got != c.is {
			t.Errorf("%q to %q: %d, want %d", c.want, c.got, got, c.is)
		}
	}
}
