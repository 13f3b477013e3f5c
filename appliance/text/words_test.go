package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWordsUnifyNotations(t *testing.T) {
	for in, want := range map[string]string{
		"Press 1, to hear it.":            "press one to hear it",
		"press one to hear it":            "press one to hear it",
		"Voice-mail for 20 of 21":         "voicemail for twenty of two one",
		"That's O.K.; it’s 'fine'":        "that's okay it's fine",
		"Well, ok? OK!":                   "well okay okay",
		"voicemail, Voice mail":           "voicemail voicemail",
		"100% of # and *":                 "one zero zero percent of pound and star",
		"007":                             "seven",
		"3.5":                             "three five",
		"99999999999999999999":            strings.TrimSpace(strings.Repeat("nine ", 20)),
		"café":                            "caf",
		"":                                "",
		"... !":                           "",
		"If you’re done press the # key.": "if you're done press the pound key",
	} {
		if got := strings.Join(Words(in), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWordErrors(t *testing.T) {
	for _, row := range []struct {
		want, got string
		errors    int
	}{
		{"the box is open", "the box is open", 0},
		{"the box is open", "the fox is open", 1},
		{"the box is open", "box is wide open", 2},
		{"the box is open", "", 4},
		{"", "you", 1},
		{"a b c d", "d a b c", 2},
	} {
		if n := WordErrors(strings.Fields(row.want), strings.Fields(row.got)); n != row.errors {
			t.Errorf("%q heard as %q: %d errors, want %d", row.want, row.got, n, row.errors)
		}
	}
}

// The edit distance is a metric, and Words is idempotent.
func TestLawsOfWords(t *testing.T) {
	text := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := Words(text.Draw(t, "a")), Words(text.Draw(t, "b")), Words(text.Draw(t, "c"))
		for _, w := range a {
			if w == "" || !utf8.ValidString(w) || strings.ContainsFunc(w, func(r rune) bool {
				return (r < 'a' || r > 'z') && r != '\''
			}) {
				t.Fatalf("%q is not a word", w)
			}
		}
		if again := Words(strings.Join(a, " ")); WordErrors(a, again) != 0 {
			t.Fatalf("%q becomes %q", a, again)
		}
		ab, ba := WordErrors(a, b), WordErrors(b, a)
		if ab != ba || WordErrors(a, a) != 0 || ab > max(len(a), len(b)) ||
			ab < max(len(a), len(b))-min(len(a), len(b)) {
			t.Fatalf("%d and %d words: %d one way, %d the other", len(a), len(b), ab, ba)
		}
		if WordErrors(a, c) > ab+WordErrors(b, c) {
			t.Fatal("a detour is shorter")
		}
	})
}
