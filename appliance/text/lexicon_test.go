package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func lexicon(t testing.TB, entries map[string]string) Lexicon {
	t.Helper()
	l, err := NewLexicon(entries)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLexiconPronunciation(t *testing.T) {
	l := lexicon(t, map[string]string{
		"Nguyen": "/wɪn/", "Joaquín": "hwah-KEEN", "SQL": "sequel", "IT": "eye tee",
		"Mont Saint-Michel": "/mɔ̃ sɛ̃ miʃɛl/",
		"C++":               "see plus plus", "Ives": "/aɪvz/", "Dr": "Drive", "4711": "forty-seven eleven",
		"gif": "jif",
	})
	for in, want := range map[string]string{
		"Dr Nguyen, hello.":       "Drive=Dr | Nguyen,/wɪn/=Nguyen | hello.=hello",
		"NGUYEN's and nguyens":    "NGUYEN's/wɪnz/=NGUYEN's | and=and | nguyens/wɪnz/=nguyens",
		"Nguyen-Smith, Nguyenese": "Nguyen-/wɪn/=Nguyen | Smith,=Smith | Nguyenese=Nguyenese",
		"JOAQUÍN’s":               "JOAQUÍN's/wɑːˈkiːnz/=JOAQUÍN’s",
		"Joaqui\u0301n":           "Joaquín/wɑːˈkiːn/=Joaqui\u0301n",
		"In SQL it is IT.":        "In=In | sequel=SQL | it=it | is=is | eye tee.=IT",
		"sql":                     "sql=sql",
		"See mont saint-michel.":  "See=See | mont saint-michel./mɔ̃ sɛ̃ miʃɛl/=mont saint-michel",
		"Write C++ or c+++.":      "Write=Write | see plus plus=C++ | or=or | c=c | plus=+ | plus=+ | plus.=+",
		"Ives' and Ives's":        "Ives'/aɪvz/=Ives' | and=and | Ives's/aɪvzɪz/=Ives's",
		"order 4711 gifs":         "order=order | forty-seven eleven=4711 | jifs=gifs",
	} {
		got := shown(in, Say(in, Options{Language: "en-US", Lexicon: l}))
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestLexiconNumberIsAWholeWord(t *testing.T) {
	l := lexicon(t, map[string]string{"4711": "forty-seven eleven", "7": "/sɛfən/", "360": "three sixty"})
	for in, want := range map[string]string{
		"Order no. 4711, please.": "Order=Order | number=no. | forty-seven eleven,=4711 | please.=please",
		"She said no. 8 left.":    "She=She | said=said | number eight=no. 8 | left.=left",
		"1,360 of 360":            "one thousand three hundred sixty=1,360 | of=of | three sixty=360",
		"at 7:30, 24/7, 1.7":      "at=at | seven thirty,=7:30 | twenty-four seven,=24/7 | one point seven=1.7",
		"7, 8/7":                  "7,/sɛfən/=7 | eight out of seven=8/7",
		"It is 7.":                "It=It | is=is | 7./sɛfən/=7",
	} {
		if got := shown(in, Say(in, Options{Language: "en-US", Lexicon: l})); got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestLexiconOver(t *testing.T) {
	under := lexicon(t, map[string]string{"Leon": "lee-on", "Bath": "bahth"})
	over := lexicon(t, map[string]string{"leon": "/leɪˈɒn/"})
	got := shown("Leon Bath", Say("Leon Bath", Options{Language: "en", Lexicon: over.Over(under)}))
	if want := "Leon/leɪˈɒn/=Leon | bahth=Bath"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(under["leon"]); n != 1 || len(over["bath"]) != 0 {
		t.Error("a lexicon was changed")
	}
}

func TestRespellingSyllables(t *testing.T) {
	for in, want := range map[string]string{
		"hwah-KEEN": "wɑːˈkiːn", "shi-VAWN": "ʃɪˈvɔːn", "NEE-uhv": "ˈniːəv", "wus-ter": "ˈwʌstɚ",
		"kee-ah-nu":      "ˈkiːɑːnʌ",
		"ZHAHK koo-STOH": "ˈʒɑːk kuːˈstoʊ",
	} {
		if _, got := respelt(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"win": "win", "WIN": "win", "wooster-xqz": "wooster-xqz",
		"forty-7": "forty seven"} {
		if got, ipa := respelt(in); got != want || ipa != "" {
			t.Errorf("%s: %s, %s, want %s", in, got, ipa, want)
		}
	}
}

func TestInvalidEntriesAreNamed(t *testing.T) {
	for _, row := range []struct{ word, said, why string }{
		{"", "x", "begin with a letter"},
		{"++", "x", "begin with a letter"},
		{"a\nb", "x", "U+000A"}, {"a\x00b", "x", "U+0000"}, {"a\u200bb", "x", "U+200B"}, {"a\u202eb", "x", "U+202E"},
		{"Nguyen", "", "pronunciation is empty"},
		{"Nguyen", "/wɪn", "between two slashes"},
		{"Nguyen", "/w€n/", "'€' is not a phoneme"},
		{"Nguyen", "/ˈ/", "no phoneme"},
		{"Nguyen", "😀", "nothing that can be said"},
		{strings.Repeat("x", 101), "x", "at most 100"},
		{"x", strings.Repeat("x", 201), "at most 200"},
		{"\xff", "x", "UTF-8"},
	} {
		_, err := NewLexicon(map[string]string{row.word: row.said})
		if err == nil || !strings.Contains(err.Error(), row.why) {
			t.Errorf("%q: %q: %v, want %q", row.word, row.said, err, row.why)
		}
	}
	if _, err := NewLexicon(map[string]string{"Ann": "an", "ann": "on"}); err == nil {
		t.Error("two entries for one word")
	}
}

// A word of a lexicon is pronounced as the lexicon says, whatever surrounds it, and the laws of
// spoken text hold.
func TestLawsOfALexicon(t *testing.T) {
	l := lexicon(t, map[string]string{"Nguyen": "/wɪn/", "the": "thee", "12": "a dozen", "St": "street",
		"a.m.": "in the morning", "No": "/noʊ/"})
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		o.Lexicon = l
		in := anyText(t) + " Nguyen " + anyText(t)
		said := Say(in, o)
		if err := checkStretches(in, said); err != nil {
			t.Fatalf("%q: %v\n%s", in, err, shown(in, said))
		}
		without := o
		without.Lexicon = nil
		if !slices.ContainsFunc(Say(in, without), func(x Spoken) bool {
			return strings.Contains(in[x.From:x.To], "Nguyen")
		}) {
			return // what stands around it hides it, as "~~~" does the rest of its line
		}
		found := false
		for _, x := range said {
			found = found || x.Phonemes == "wɪn" && strings.Contains(in[x.From:x.To], "Nguyen")
		}
		if !found {
			t.Fatalf("%q: %s", in, shown(in, said))
		}
	})
}

func TestAnyEntryParsesOrFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Custom(written), rapid.String()).Draw(t, "word")
		said := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"/wɪn/", "a-b", "1"})).Draw(t, "said")
		l, err := NewLexicon(map[string]string{word: said})
		if err != nil {
			return
		}
		in := "x " + word + "'s y"
		if err := checkStretches(in, Say(in, Options{Language: "en", Lexicon: l})); err != nil {
			t.Fatal(err)
		}
	})
}
