package text

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestSegmentsAreTheWrittenText(t *testing.T) {
	tests := []struct {
		text string
		want []string // "+" behind one whose sentence goes on, "¶" one that ends a paragraph
	}{
		{"Dr. Smith paid £3.50. She left!", []string{"Dr. Smith paid £3.50.", "She left!"}},
		{`  "Wait!" he said. (Nobody did.)  `, []string{`"Wait!" he said.`, "(Nobody did.)"}},
		{"**Bold** words. 😀 And more.", []string{"**Bold** words.", "😀 And more."}},
		{"One.\n\nTwo\nthree", []string{"One.¶", "Two\nthree"}},
		{"😀 🎉", nil},
		{"  \n ", nil},
		{"", nil},
	}
	for _, c := range tests {
		var got []string
		for _, s := range Segments(c.text) {
			one := c.text[s.From:s.To]
			if s.GoesOn {
				one += "+"
			}
			if s.Paragraph {
				one += "¶"
			}
			got = append(got, one)
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	long := strings.Repeat("and then one more thing, ", 30) + "the end. Really."
	all := Segments(long)
	if len(all) != 5 || !all[0].GoesOn || !all[2].GoesOn || all[3].GoesOn || all[4].GoesOn {
		t.Errorf("%+v", all)
	}
}

func TestSegmentsLoseNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab .!?\n\"*)(,😀\u2029…1#-"))).Draw(t, "text")
		at := 0
		all := Segments(s)
		for _, p := range all {
			if p.From < at || p.To <= p.From || strings.TrimFunc(s[at:p.From], unicode.IsSpace) != "" {
				t.Fatalf("%q: %+v behind %d", s, p, at)
			}
			at = p.To
		}
		if len(all) > 0 && strings.TrimFunc(s[at:], unicode.IsSpace) != "" {
			t.Fatalf("%q: left is %q", s, s[at:])
		}
		if (len(all) == 0) != (len(Sentences(s)) == 0) {
			t.Fatalf("%q: %d segments, %q", s, len(all), Sentences(s))
		}
	})
}

func TestEndsSentenceInEveryScript(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "Yes.": true, "Yes": false, `He said "no." `: true, "**Really?** ": true, "and then,": false,
		"开了。": true, "ठीक है।": true, "ठीक है": false, "كيف حالك؟": true, "1.5": false,
	} {
		if got := EndsSentence(s); got != want {
			t.Errorf("%q ends its sentence: %v", s, got)
		}
	}
}
