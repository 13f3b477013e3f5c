package speech

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWordsGoToThePhrasesInWhichTheyWereSaid(t *testing.T) {
	for _, c := range []struct {
		whole string
		heard []string
		want  []string
	}{
		{"Leave your message at the tone. When done, hang up.", []string{"leave your message at the tone", "when done hang up"}, []string{"Leave your message at the tone.", "When done, hang up."}},
		{"Dial 500 now, or hang up.", []string{"Dial five hundred now.", "Oh, hang up."}, []string{"Dial 500 now,", "or hang up."}},
		{"One two three four.", []string{"", "two three for", ""}, []string{"", "One two three four.", ""}},
		{"Ten to nine.", []string{"", ""}, []string{"Ten", "to nine."}},
		{"", []string{"hm", "hm"}, []string{"", ""}},
		{"Yes.", []string{"Yes", "and a lot more that the whole does not have"}, []string{"Yes.", ""}},
	} {
		heard := make([][]string, len(c.heard))
		for i, h := range c.heard {
			heard[i] = strings.Fields(h)
		}
		lengths := make([]int, len(heard))
		for i := range lengths {
			lengths[i] = 1000 * (i + 1)
		}
		got := make([]string, len(heard))
		for i, words := range shareOut(strings.Fields(c.whole), heard, lengths) {
			got[i] = strings.Join(words, " ")
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %q: %q, want %q", c.whole, c.heard, got, c.want)
		}
	}
}

// Whatever was heard, no word is lost, doubled or moved.
func TestSharingOutKeepsAllWordsInOrder(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "the", "theatre", "Über", "42", "—", "no."})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 0, 20).Draw(t, "words")
		heard := rapid.SliceOfN(rapid.SliceOfN(word, 0, 8), 1, 6).Draw(t, "heard")
		lengths := rapid.SliceOfN(rapid.IntRange(1, 1e6), len(heard), len(heard)).Draw(t, "lengths")
		var got []string
		for _, share := range shareOut(words, heard, lengths) {
			got = append(got, share...)
		}
		if strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("%q became %q", words, got)
		}
	})
}
