package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// shown formats units as "spoken=written".
func shown(s string, stretches []Spoken) string {
	var all []string
	for _, x := range stretches {
		said := strings.TrimSpace(x.Text)
		if x.Phonemes != "" {
			said += "/" + x.Phonemes + "/"
		}
		all = append(all, fmt.Sprintf("%s=%s", said, s[x.From:x.To]))
	}
	return strings.Join(all, " | ")
}

func TestSayKeepsOrigins(t *testing.T) {
	for in, want := range map[string]string{
		"Hello, world!": "Hello,=Hello | world!=world",
		"It is £3.50 (or 20%).": "It=It | is=is | three pounds and fifty pence=£3.50 | (or=or " +
			"| twenty percent).=20%",
		"Room 101 on Nov 21, 2026": "Room=Room | one oh one=101 | on=on | November twenty-first, " +
			"twenty twenty-six=Nov 21, 2026",
		"**Bold** and [a link](http://a.b/c) 😀 there": "Bold=Bold | and=and | a=a | link=link | there=there",
		"\"Well\" - yes…":         "\"Well\",=Well | yes…=yes",
		"At 5 p.m. we met. Then?": "At=At | five P-M=5 p.m. | we=we | met.=met | Then?=Then",
		"Henry VIII's":            "Henry=Henry | the eighth's=VIII's",
		"cafe\u0301 １２":           "café=cafe\u0301 | twelve=１２",
		"...":                     "...=...",
		"":                        "",
	} {
		if got := shown(in, Say(in, Options{Language: "en-US"})); got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	}
}

// anyText draws what people write, and what they do not.
func anyText(t *rapid.T) string {
	return rapid.OneOf(rapid.Custom(written), rapid.Custom(prose), rapid.String()).Draw(t, "text")
}

func anyOptions(t *rapid.T) Options {
	return Options{
		Language: rapid.SampledFrom([]string{"en", "en-US", "en-GB", "fr", "hi", "ja", ""}).Draw(t, "language"),
		Locale:   rapid.SampledFrom([]string{"", "en-GB", "en-IN", "fr-FR", "x"}).Draw(t, "locale"),
	}
}

// checkStretches checks the laws of Say's result.
func checkStretches(s string, stretches []Spoken) error {
	at := 0
	for _, x := range stretches {
		switch {
		case x.Text == "":
			return fmt.Errorf("a stretch of nothing: %+v", x)
		case x.From < at || x.To < x.From || x.To > len(s):
			return fmt.Errorf("%+v does not follow byte %d", x, at)
		case !utf8.ValidString(x.Text):
			return fmt.Errorf("%+v is not UTF-8", x)
		case x.From < len(s) && !utf8.RuneStart(s[x.From]) && utf8.ValidString(s):
			return fmt.Errorf("%+v begins within a rune", x)
		}
		at = x.To
	}
	return nil
}

func TestLawsOfSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, o := anyText(t), anyOptions(t)
		said := Say(in, o)
		if err := checkStretches(in, said); err != nil {
			t.Fatalf("%q: %v\n%s", in, err, shown(in, said))
		}
		var texts, joined []string
		for _, x := range said {
			texts = append(texts, x.Text)
		}
		for _, sentence := range Sentences(in) {
			joined = append(joined, Sentences(Verbalize(sentence, o))...)
		}
		if got, want := strings.Join(texts, ""), strings.Join(joined, " "); got != want {
			t.Fatalf("%q: stretches make %q of %q", in, got, want)
		}
	})
}

// Every letter and digit outside mark-up is spoken in one unit.
func TestSayLosesNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.Custom(prose),
			rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.Nd, unicode.Po, unicode.Zs))).Draw(t, "text")
		if strings.ContainsAny(in, "<[") || smiley.MatchString(in) {
			t.Skip("mark-up")
		}
		for i, r := range in {
			if !alnum(r) || mute(r) {
				continue
			}
			if !slices.ContainsFunc(Say(in, Options{Language: "en"}), func(x Spoken) bool {
				return x.From <= i && i < x.To
			}) {
				t.Fatalf("%q: %q at %d is not said: %s", in, r, i, shown(in, Say(in, Options{Language: "en"})))
			}
		}
	})
}

// mute reports whether a letter has no spoken form: ʼ is an apostrophe.
func mute(r rune) bool { return r == 'ʼ' || strings.TrimSpace(legibleRune(r)) == "" }

func FuzzSay(f *testing.F) {
	for _, s := range []string{"It costs £3.50.", "| a | b |", "[x](y", "1/2\u0301", "\xff\xfe", "e\u0301\u0301",
		"A.B.C. 3:4"} {
		f.Add(s, "en-GB", "")
	}
	f.Fuzz(func(t *testing.T, s, language, locale string) {
		if err := checkStretches(s, Say(s, Options{Language: language, Locale: locale})); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	})
}

func TestSpeakable(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "... !!! ??? --- ,,,": false, "\u200b\u200c\u200d\ufeff": false, "«»“”": false, "😀": false,
		"a": true, "7": true, "%": true, "5' tall": true, "你好": true, "…and so on": true,
	} {
		if got := Speakable(s, Options{}); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
