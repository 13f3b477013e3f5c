package llama

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestALoopIsNoticedWhenItHasRepeated(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SliceOfN(rapid.Int32Range(0, 1000), 0, 50).Draw(rt, "before")
		period := rapid.IntRange(1, maxLoopTokens).Draw(rt, "period")
		part := make([]Token, period) // all different, and different from before
		for i := range part {
			part[i] = Token(2000 + i)
		}
		generated := slices.Clone(before)
		for len(generated)-len(before) < max(2*period, minLoopTokens) {
			generated = append(generated, part[(len(generated)-len(before))%period])
		}
		if !loops(generated) {
			rt.Fatalf("period %d went unnoticed", period)
		}
		if loops(generated[:len(generated)-1]) {
			rt.Fatalf("period %d was noticed a token early", period)
		}
	})
}

func TestWhatDoesNotRepeatIsNoLoop(t *testing.T) {
	var counting []Token // "one two three ... " with a comma after each
	for i := range Token(200) {
		counting = append(counting, i, 999)
		if loops(counting) {
			t.Fatalf("counting to %d is no loop", i)
		}
	}
	if loops(nil) || loops([]Token{1, 1, 1}) {
		t.Error("three words are no loop")
	}
}
