package answers

import (
	"reflect"
	"testing"

	"parley/appliance/contract"
)

func TestNormalFoldsWhatDoesNotChangeTheWords(t *testing.T) {
	for _, texts := range [][]string{
		{"what's on", "What’s on?", "  WHATS   on!! ", "whats-on"},
		{"café", "CAFE\u0301", "Café."},
		{"10 30", "10:30", "１０：３０"},
		{"???", " ??? "},
		{"東京", "東京。"},
	} {
		for _, text := range texts[1:] {
			if a, b := Normal(texts[0]), Normal(text); a != b {
				t.Errorf("%q becomes %q, and %q %q", texts[0], a, text, b)
			}
		}
	}
	if Normal("cafe") == Normal("café") || Normal("???") == Normal("!!!") || Normal("a b") == Normal("ab") {
		t.Error("different words are folded")
	}
}

func TestConflictsAreItemsThatAskTheSame(t *testing.T) {
	a := museum()
	a.Items[1].Ask = append(a.Items[1].Ask, "Opening times?")                                // the words of item 0
	a.Items[2].Ask = append(a.Items[2].Ask, "is there a park car", "can I eat here, please") // near item 1; own words
	s := ready(t, newFinder(t, Parts{Embedder: with(&embedder{})}), a)
	got := s.Conflicts()
	if len(got) != 2 {
		t.Fatalf("%d conflicts: %+v, want 2", len(got), got)
	}
	if want := (Conflict{Items: [2]int{0, 1}, Ways: [2]int{2, 2}, Likeness: 1}); got[0] != want {
		t.Errorf("the first is %+v, want %+v", got[0], want)
	}
	if got[1].Items != [2]int{1, 2} || got[1].Ways != [2]int{1, 2} || got[1].Likeness < conflictCosine {
		t.Errorf("the second is %+v, want way 1 of item 1 and way 2 of item 2", got[1])
	}
	if again := s.Conflicts(); !reflect.DeepEqual(got, again) {
		t.Errorf("at the second time %+v", again)
	}
}

func TestConflictsOfOneItemAreNone(t *testing.T) {
	a := contract.Answers{Items: []contract.AnswerItem{{
		ID:  "hours",
		Ask: []string{"when are you open", "When are you open?", "are you open when"},
	}}}
	if got := ready(t, newFinder(t, Parts{Embedder: with(&embedder{})}), a).Conflicts(); len(got) != 0 {
		t.Errorf("conflicts %+v", got)
	}
}

func TestGroupsAreQuestionsThatAskAlike(t *testing.T) {
	questions := []string{
		"is there wifi", "do you have wheelchairs", "Is there WiFi?", "is there wifi here", "WHEELCHAIRS, do you have?",
		"is there any wifi",
	}
	f := newFinder(t, Parts{Embedder: with(&embedder{})})
	want := [][]int{{0, 2, 3, 5}, {1, 4}}
	for range 2 {
		got, err := f.Group(t.Context(), questions, nil)
		must(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("groups %v, want %v", got, want)
		}
	}
	got, err := newFinder(t, without()).Group(t.Context(), questions, nil)
	must(t, err)
	if want := [][]int{{0, 2}, {1}, {3}, {4}, {5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("without an embedder: groups %v, want %v", got, want)
	}
	if got, err := f.Group(t.Context(), nil, nil); err != nil || len(got) != 0 {
		t.Errorf("of no questions: %v, %v", got, err)
	}
}
