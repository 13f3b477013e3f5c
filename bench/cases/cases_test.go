package cases

import (
	"slices"
	"testing"
)

func TestPatternsJudgeTheirSamples(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	cases, held := 0, 0
	for _, a := range all {
		for i, c := range a.Cases {
			if cases++; c.Held {
				held++
			}
			if !slices.Contains(Kinds, c.Kind) {
				t.Errorf("%s, case %d: kind %q", a.Name, i, c.Kind)
			}
			for answer, want := range map[string]bool{c.SampleRight: true, c.SampleWrong: false, "": false} {
				if ok, err := c.Passes(answer); err != nil || ok != want {
					t.Errorf("%s, %q: %q passes: %v (%v)", a.Name, c.Ask, answer, ok, err)
				}
			}
		}
	}
	if cases != 120 || held != 60 {
		t.Errorf("%d cases, %d held; want 120 and 60", cases, held)
	}
}
