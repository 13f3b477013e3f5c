package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is written, the rules get pieces of bounded length, and their output is cut into
// pieces of bounded length: the work for a text grows linearly with its length.
func TestWorkIsLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.OneOf(rapid.SampledFrom(
			[]string{"x", " ", "1", "4711 ", "a.", "<", "[", "\"", "<a ", "A1", "$", "1-", "https://a.b/", "漢",
				"e\u0301", "&amp;", "| a "}), rapid.Custom(written), rapid.String()).Draw(t, "unit")
		in := strings.Repeat(unit, 5000/max(len(unit), 1))
		runes := 0
		for _, piece := range sentences(trace(in)) {
			n := len([]rune(piece.s))
			if runes += n; n > 2*maxSentence { // the bars of a table are said as commas
				t.Fatalf("%q…: the rules are given %d runes at once", unit, n)
			}
		}
		if runes > 2*len([]rune(in)) {
			t.Fatalf("%q…: %d runes are looked at, of %d", unit, runes, len([]rune(in)))
		}
	})
}

// Long texts without an end are cut at spaces, and all of their words are spoken.
func TestLongTextWithoutPunctuationIsCutAtSpaces(t *testing.T) {
	for _, in := range []string{strings.Repeat("seven words of text without an end ", 143), strings.Repeat("b", 5000),
		strings.Repeat(" ", 5000)} {
		all := SaySentences(in, Options{Language: "en"})
		letters := 0
		for _, sentence := range all {
			n := 0
			for _, x := range sentence {
				n += len(x.Text)
				letters += len(strings.ReplaceAll(x.Text, " ", ""))
			}
			if n > maxSentence {
				t.Errorf("%.10q…: a breath of %d characters", in, n)
			}
		}
		if want := len(strings.ReplaceAll(in, " ", "")); letters != want {
			t.Errorf("%.10q…: %d letters are said of %d", in, letters, want)
		}
	}
}
