package onnx

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestARunawayEndsBeforeItRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loop := rapid.SliceOfN(rapid.Int64Range(10, 20), 1, maxLoopTokens).Draw(t, "loop")
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(100, 200), 0, 30, rapid.ID).Draw(t, "said")
		g := greedy{limit: 1000, end: 2}
		for _, id := range ids {
			if !g.add(id) {
				t.Fatal("ended in text without a repetition")
			}
		}
		steps := 0
		for g.add(loop[steps%len(loop)]) {
			if steps++; steps > 3*maxLoopTokens+maxLoopTokens {
				t.Fatalf("still repeating after %d tokens", steps)
			}
		}
		if len(ids) == 0 && len(loop) <= maxMurmurTokens {
			if len(g.ids) != 0 {
				t.Fatalf("%v from a text that is nothing but a loop", g.ids)
			}
			return
		}
		if len(ids) == 0 && len(g.ids) == 0 {
			return // a long loop may be several rounds of a short one
		}
		if !slices.Equal(g.ids[:len(ids)], ids) || len(g.ids) > len(ids)+len(loop) {
			t.Fatalf("%v from %v and the loop %v", g.ids, ids, loop)
		}
	})
}

func TestPeopleMayRepeatThemselves(t *testing.T) {
	for name, ids := range map[string][]int64{
		"no, five times":             {10, 11, 10, 11, 10, 11, 10, 11, 10},
		"zero, ten times":            {10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
		"three words, three times":   {10, 11, 12, 10, 11, 12, 10, 11, 12},
		"seven words, three times":   {1, 3, 4, 5, 6, 7, 8, 1, 3, 4, 5, 6, 7, 8, 1, 3, 4, 5, 6, 7, 8},
		"thank you so, four times 3": {10, 11, 12, 10, 11, 12, 10, 11, 12, 10, 11, 12},
	} {
		g := greedy{limit: 100, end: 2}
		for _, id := range ids {
			if !g.add(id) {
				t.Errorf("%s: ended after %d tokens", name, len(g.ids))
				break
			}
		}
		if !slices.Equal(g.ids, ids) {
			t.Errorf("%s: the text is %v", name, g.ids)
		}
	}
}

func TestASentenceSaidAgainAndAgainIsKeptOnce(t *testing.T) {
	sentence := []int64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	g := greedy{limit: 100, end: 2}
	for i := 0; g.add(sentence[i%len(sentence)]); i++ {
	}
	if !slices.Equal(g.ids, sentence) {
		t.Errorf("%v, want %v", g.ids, sentence)
	}
}

func TestATextEndsAtItsEndOrItsLimit(t *testing.T) {
	g := greedy{limit: 3, end: 2}
	for i, id := range []int64{5, 6, 7} {
		if more := g.add(id); more != (i < 2) {
			t.Errorf("token %d of 3: goes on %v", i+1, more)
		}
	}
	g = greedy{limit: 3, end: 2}
	g.add(5)
	if g.add(2) || !slices.Equal(g.ids, []int64{5}) {
		t.Errorf("the end was taken as a token: %v", g.ids)
	}
}

func TestArgmaxIsTheFirstLargest(t *testing.T) {
	for _, c := range []struct {
		x    []float32
		want int64
	}{{[]float32{1}, 0}, {[]float32{1, 3, 3, 2}, 1}, {[]float32{-5, -4}, 1}} {
		if got := argmax(c.x); got != c.want {
			t.Errorf("argmax(%v) = %d, want %d", c.x, got, c.want)
		}
	}
}
