package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestSentenceBoundaries(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                    nil,
		" \n ":                                nil,
		"Hello":                               {"Hello"},
		"Hi. How are you?":                    {"Hi.", "How are you?"},
		"Dr. Smith is in. Ask Mrs. Jones.":    {"Dr. Smith is in.", "Ask Mrs. Jones."},
		"It is 3.5 km. It costs $4.99. Fine.": {"It is 3.5 km.", "It costs $4.99.", "Fine."},
		"Fruit, e.g. this apple, i.e. Granny Smith. Good.": {
			"Fruit, e.g. this apple, i.e. Granny Smith.", "Good."},
		"The U.S. Army left. He lives in the U.S. The army left.": {
			"The U.S. Army left.", "He lives in the U.S.", "The army left."},
		"At 9 a.m. today. At 9 a.m. Monday we open. We close at 5 p.m. Come early.": {
			"At 9 a.m. today.", "At 9 a.m. Monday we open.", "We close at 5 p.m.", "Come early."},
		"Mr. J. R. Smith met J. I. Case. So did I. Then we left.": {
			"Mr. J. R. Smith met J. I. Case.", "So did I.", "Then we left."},
		"See www.example.com for more. Or a.b.c/d?e=f now.": {
			"See www.example.com for more.", "Or a.b.c/d?e=f now."},
		"Wait... what? Well... Then go.": {
			"Wait... what?", "Well...", "Then go."},
		"Wait… what? Well… Then go.": {"Wait… what?",
			"Well…", "Then go."},
		"Take No. 5 please. No. I will not.": {
			"Take No. 5 please.", "No.", "I will not."},
		"1. First item\n2. Second item. With more.\n\nEnd": {
			"1. First item", "2. Second item.", "With more.", "End"},
		"He said \"Go.\" Then he left.": {
			"He said \"Go.\"", "Then he left."},
		"\"Really?\" he asked. (Yes!) Good.": {
			"\"Really?\" he asked.", "(Yes!)", "Good."},
		"What?! No way!!! Ok": {"What?!",
			"No way!!!", "Ok"},
		"We have:\n- red apples\n- green pears\nThat is all": {"We have:",
			"red apples", "green pears", "That is all"},
		"# Title\nSome text": {"Title",
			"Some text"},
		"A title\nThen a text that goes on. Yes.": {"A title",
			"Then a text that goes on.", "Yes."},
		"This is a long line of text that was broken only to fit a page,\nIt seems, and goes on here.": {
			"This is a long line of text that was broken only to fit a page, It seems, and goes on here."},
		"broken in\nthe middle": {
			"broken in the middle"},
		"你好。你好吗？很好！再见": {"你好。", "你好吗？",
			"很好！", "再见"},
		"नमस्ते। आप कैसे हैं? ठीक।चलिए॥ १ बजे। हाँ": {"नमस्ते।", "आप कैसे हैं?", "ठीक।",
			"चलिए॥", "१ बजे।", "हाँ"},
		"السلام عليكم. كيف حالك؟ بخير۔ شکریہ": {"السلام عليكم.", "كيف حالك؟",
			"بخير۔", "شکریہ"},
		"彼は「はい。」と言った。": {"彼は「はい。」", "と言った。"},
		"Apples, pears, etc. are fruit. Bring apples etc. The rest is here.": {"Apples, pears, etc. are fruit.",
			"Bring apples etc.", "The rest is here."},
		"Go to St. Mary on Main St. The shop is there.": {"Go to St. Mary on Main St.",
			"The shop is there."},
		"Acme Inc. makes it. I work at Acme Inc. You too?": {"Acme Inc. makes it.",
			"I work at Acme Inc.", "You too?"},
		"**Hello there.** Use `go test` *now*. See [the docs. All](http://a.b/c).": {"Hello there.", "Use go test now.",
			"See the docs.", "All."},
		"Great! 😀 How are you? 👨‍👩‍👧": {"Great!", "How are you?"},
		"She got a Ph.D. in 2001. She has a Ph.D. She teaches.": {"She got a Ph.D. in 2001.",
			"She has a Ph.D.", "She teaches."},
		"On Nov. 21 we met. Is it the 5. No": {"On Nov. 21 we met.",
			"Is it the 5.", "No"},
		"The temperature is -5. Cold":     {"The temperature is -5.", "Cold"},
		"Yes.\r\nNo.\r\n":                 {"Yes.", "No."},
		"| a | b |\n|---|---|\n| 1 | 2 |": {"a, b", "1, 2"},
		"3 * 4 is snake_case ~5":          {"3 * 4 is snake_case ~5"},
		"```go\nx := 1\n```\nDone.":       {"x := 1", "Done."},
	} {
		if got := Sentences(in); !slices.Equal(got, want) {
			t.Errorf("Sentences(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestSentenceIsCutAsSoonAsItsEndIsCertain(t *testing.T) {
	for _, tc := range []struct{ pending, decides string }{
		{"Hello there.", " "},
		{"Is it?", " "},
		{"We close at 5 p.m.", " Come "},
		{"He said \"Go.\"", " T"},
		{"Wait...", " T"},
		{"你好。", "你"},
		{"A paragraph", "\n\n"},
		{"- an item", "\nN"},
	} {
		var c Cutter
		if got := c.Push(tc.pending); len(got) != 0 {
			t.Errorf("%q: cut too early: %q", tc.pending, got)
		}
		if got := c.Push(tc.decides); len(got) != 1 {
			t.Errorf("%q then %q: cut %q, want one sentence", tc.pending, tc.decides, got)
		}
	}
}

func TestNoSentenceIsTooLong(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("word ", 300), strings.Repeat("x", 1000), strings.Repeat("a clause, ", 100),
		strings.Repeat(".", 1000), strings.Repeat("\"", 1000), "a. " + strings.Repeat("B", 600),
		strings.Repeat("\n", 1000) + "1" + strings.Repeat("\n", 10),
	} {
		for _, s := range Sentences(in) {
			if n := len([]rune(s)); n > maxSentence {
				t.Errorf("%.20q…: a sentence of %d runes", in, n)
			}
		}
	}
}

// prose draws text of what makes cutting hard.
func prose(t *rapid.T) string {
	atom := rapid.SampledFrom([]string{"Dr.", "U.S.", "a.m.", "3.5", "e.g.", "No.", "5", "Hello", "the", "The", "I",
		"and,", "why?", "no!", "...", "…", "\"", "(x)", "\n", "\n\n", "- ", "1. ", " ", " ", ". ", ", ", "。", "你好",
		"St.", "J.", "x", "—", "longwordwithoutanyend", "Ltd.", "12", "\r\n"})
	return strings.Join(rapid.SliceOfN(atom, 0, 120).Draw(t, "atoms"),
		rapid.SampledFrom([]string{"", " "}).Draw(t, "glue"))
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if alnum(r) || terminates(r) {
			return r
		}
		return -1
	}, s)
}

func TestCutterLosesNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := prose(t)
		if got, want := letters(strings.Join(Sentences(in), " ")), letters(in); got != want {
			t.Fatalf("%q\n got %q\nwant %q", in, got, want)
		}
	})
}

func TestPiecesDoNotAffectSentences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := []rune(rapid.OneOf(rapid.Custom(prose), rapid.String()).Draw(t, "text"))
		var whole, pieces Cutter
		want := append(whole.Push(string(in)), whole.Rest())
		var got []string
		for len(in) > 0 {
			n := rapid.IntRange(1, min(len(in), 9)).Draw(t, "n")
			got = append(got, pieces.Push(string(in[:n]))...)
			in = in[n:]
		}
		got = append(got, pieces.Rest())
		if !slices.Equal(got, want) {
			t.Fatalf("\n got %q\nwant %q", got, want)
		}
	})
}

func TestSentencesHaveNoEmojiAndSingleSpaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, s := range Sentences(rapid.String().Draw(t, "text")) {
			if s == "" || s != strings.Join(strings.Fields(s), " ") || strings.ContainsFunc(s, emoji) ||
				strings.ContainsFunc(s, unicode.IsControl) {
				t.Fatalf("%q", s)
			}
		}
	})
}

func TestEarlyReturnsSpeakableBeginning(t *testing.T) {
	for _, row := range []struct {
		said             string
		clause, inPhrase int
		want             string
	}{
		{"I'm sorry, but I do", 1, 0, "I'm sorry,"},
		{"I'm sorry, but I do", 3, 0, ""},
		{"I'm sorry,", 1, 0, "I'm sorry,"},
		{"It costs 1,", 1, 0, ""}, // a thousand
		{"Well, the museum", 1, 0, "Well,"},
		{"It costs 1,000 dollars for", 1, 0, ""},
		{"Yes, of course, it is", 1, 0, "Yes, of course,"},
		{"The agent has logged into the", 1, 0, ""},
		{"The agent has spoken into the", 1, 1, "The agent has spoken"},
		{"The agent has spoken into the", 1, 5, ""},
		{"The museum is open", 1, 1, ""},
		{"The museum opens at ten", 1, 1, ""},   // three words
		{"The agent has spoken into", 1, 1, ""}, // it may become "intolerably"
		{"It is at the", 1, 1, ""},
		{"The number you dialed is not in the", 1, 1, ""},
		{"", 1, 1, ""},
		{"The conference is now being recorded ", 1, 1, ""}, // no place behind any word
		{"The museum is open.", 1, 0, "The museum is open."},
		{"Is it open?", 9, 0, "Is it open?"},
		{"It is open.", 0, 0, "It is open."},
		{"It costs 3.", 1, 0, ""},
		{"Ask Dr.", 1, 0, ""},
		{"It is on Elm St.", 1, 0, ""},
		{"It opens at ten a.m.", 1, 0, ""},
		{"See www.", 1, 0, ""},
		{"See example.org.", 1, 0, ""}, // a path may follow
		{"Well...", 1, 0, ""},
	} {
		var c Cutter
		c.Push(row.said)
		if got, _ := c.Early(row.clause, row.inPhrase); got != row.want {
			t.Errorf("%q: %q, want %q", row.said, got, row.want)
		}
	}
}

// After a sentence that was cut at its stop, quotes and further stops are not spoken
// separately.
func TestClosingSignsAfterACompletedSentenceAreDropped(t *testing.T) {
	for rest, want := range map[string]string{
		" It is red.": "It is red.", "\" It is red.": "It is red.", "!! It is red.": "It is red.", ".) ": "", "": "",
	} {
		var c Cutter
		c.Push("The door is open.")
		if got, ended := c.Early(1, 1); got != "The door is open." || !ended {
			t.Errorf("%q, %v", got, ended)
		}
		c.Push(rest)
		if got := c.Rest(); got != want {
			t.Errorf("%q then: %q, want %q", rest, got, want)
		}
	}
}

func TestEarlyLosesNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := []rune(prose(t))
		var c Cutter
		var got []string
		for _, r := range in {
			got = append(got, c.Push(string(r))...)
			if rapid.Bool().Draw(t, "late") {
				early, _ := c.Early(rapid.IntRange(0, 6).Draw(t, "in a clause"),
					rapid.IntRange(0, 6).Draw(t, "in a phrase"))
				got = append(got, early)
			}
		}
		got = append(got, c.Rest())
		if got, want := oneStop(letters(strings.Join(got, " "))), oneStop(letters(string(in))); got != want {
			t.Fatalf("%q\n got %q\nwant %q", string(in), got, want)
		}
	})
}

// oneStop keeps the first of consecutive stops: after a completed sentence the others are
// dropped.
func oneStop(s string) string {
	var last rune
	return strings.Map(func(r rune) rune {
		again := terminates(r) && terminates(last)
		if last = r; again {
			return -1
		}
		return r
	}, s)
}

// A stage direction is recognised only as a whole, so an early cut never divides one.
func TestEarlyNeverDividesAStageDirection(t *testing.T) {
	const reply = "*waves happily and turns around slowly* Welcome to the old museum of the town"
	for end := range reply {
		c := Cutter{Stars: func(s string) (at []int) {
			for i := range s {
				if s[i] == '*' {
					at = append(at, i)
				}
			}
			return at
		}}
		c.Push(reply[:end])
		begin, _ := c.Early(1, 1)
		if strings.Count(begin, "*") == 1 {
			t.Fatalf("of %q the beginning %q is cut", reply[:end], begin)
		}
	}
}
