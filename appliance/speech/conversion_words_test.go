package speech

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/engine"
)

func TestDistributeFollowsTheHeardWords(t *testing.T) {
	for _, c := range []struct {
		whole string
		heard []string
		want  []string
	}{
		{"Leave your message at the tone. When done, hang up.",
			[]string{"leave your message at the tone", "when done hang up"},
			[]string{"Leave your message at the tone.", "When done, hang up."}},
		{"Dial 500 now, or hang up.", []string{"Dial five hundred now.", "Oh, hang up."},
			[]string{"Dial 500 now,", "or hang up."}},
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
		for i, words := range distribute(strings.Fields(c.whole), heard, lengths) {
			got[i] = strings.Join(words, " ")
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %q: %q, want %q", c.whole, c.heard, got, c.want)
		}
	}
}

// Whatever the transcripts are, no word is lost, repeated or moved.
func TestDistributeKeepsAllWordsInOrder(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "the", "theatre", "Über", "42", "—", "no."})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 0, 20).Draw(t, "words")
		heard := rapid.SliceOfN(rapid.SliceOfN(word, 0, 8), 1, 6).Draw(t, "heard")
		lengths := rapid.SliceOfN(rapid.IntRange(1, 1e6), len(heard), len(heard)).Draw(t, "lengths")
		var got []string
		for _, share := range distribute(words, heard, lengths) {
			got = append(got, share...)
		}
		if strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("%q became %q", words, got)
		}
	})
}

// Within a phrase there was no pause, so the voice gets no full stop to pause at.
func TestWithoutFullStops(t *testing.T) {
	for in, want := range map[string]string{
		"Press one now. Otherwise,":             "Press one now, Otherwise,",
		"Is it open? Yes! Come in.":             "Is it open, Yes, Come in.",
		"Dr. Smith paid $3.50 at 9 a.m. today.": "Dr. Smith paid $3.50 at 9 a.m. today.",
		"Good morning.":                         "Good morning.",
		"well":                                  "well", "": "", "…": "…",
	} {
		if got := withoutFullStops(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// The text of the snippet is the transcript, not the text given to the voice.
func TestPhraseIsSpokenInOnePiece(t *testing.T) {
	var asked []string
	voice := metronome{0.25, 4}.noting(func(text string, _ engine.SpeakOptions) { asked = append(asked, text) })
	_, snippets := recite(t, voice, 4*time.Second,
		said(500, 2000, "One now. Otherwise two."))
	for _, one := range asked {
		if one != "One now, Otherwise two." {
			t.Errorf("the voice is given %q", one)
		}
	}
	if len(asked) == 0 || snippets[0].snippet.text != "One now. Otherwise two." {
		t.Errorf("the voice was called %d times, and the snippet has %q", len(asked), snippets[0].snippet.text)
	}
}
