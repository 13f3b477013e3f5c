package analysis

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/appliance/contract"
)

// written returns a text as a Transcript.
func written(text string) Transcript {
	t, _ := ofText(text, freely)
	return t
}

// said returns the texts of units.
func said(t Transcript, us []unit) string {
	var all []string
	for _, u := range us {
		all = append(all, t.Text[u.from:u.to])
	}
	return strings.Join(all, "|")
}

func TestATextIsCutIntoWords(t *testing.T) {
	for text, want := range map[string]string{
		"I don't know, mother-in-law.":  "I|don't|know|mother-in-law",
		"It's 3.14 or 1,000 – “maybe”!": "It's|3.14|or|1,000|maybe",
		"Great 😀👩‍👩‍👧 day :)":           "Great|😀|👩‍👩‍👧|day",
		"nai\u0308ve cafe\u0301":        "nai\u0308ve|cafe\u0301",
		"今日は東京":                         "今|日|は|東|京",
		"カタカナ です":                       "カタカナ|で|す",
		"สวัสดีครับ ผม":                 "สวัสดีครับ|ผม",
		"안녕하세요 여러분":                     "안녕하세요|여러분",
		"שלום עולם":                     "שלום|עולם",
		"a\x00b":                        "a|b",
		"":                              "",
		" \n ":                          "",
		"…!?":                           "",
		"bad \xff byte":                 "bad|byte",
		"joined \u200d😀":                "joined|\u200d😀",
		"rock'n'roll l’été e-mail – and - x": "rock'n'roll|l’été|e-mail|and|x",
	} {
		tr := written(text)
		if got := said(tr, units(tr, contract.ByWord)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestATextIsCutIntoSentences(t *testing.T) {
	for text, want := range map[string]string{
		"Dr. Smith paid $3.50. Really?! \"Yes.\" He left.": "Dr. Smith paid $3.50.|Really?!|\"Yes.\"|He left.",
		"One line\nAnother line":                           "One line|Another line",
		"No stop":                                          "No stop",
		"😀":                                                "😀",
		"Good. 😀":                                          "Good. 😀",
		"!!!":                                              "!!!",
		"今日は。明日は？":                                         "今日は。|明日は？",
		"":                                                 "",
	} {
		tr := written(text)
		if got := said(tr, units(tr, contract.BySentence)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A long text is cut in parts, and its sentences are those that it has in one piece.
func TestPartsOfALongTextCutNoSentence(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := 0; text.Len() < 4*maxPart; i++ {
		s := "Then Dr. Smith" + strings.Repeat(" went on", i%40) + " for $3.50."
		want = append(want, s)
		text.WriteString(s + " ")
	}
	tr := written(text.String())
	if got := said(tr, units(tr, contract.BySentence)); got != strings.Join(want, "|") {
		t.Errorf("%d characters in sentences, want %d", len(got), len(strings.Join(want, "|")))
	}
}

// A sentence that the cutter for speech divides for its length is whole again.
func TestALongSentenceIsOneUnit(t *testing.T) {
	tr := written(strings.Repeat("and then we went on, ", 40) + "until the end. Then we slept.")
	if us := units(tr, contract.BySentence); len(us) != 2 {
		t.Errorf("%d units: %q", len(us), said(tr, us))
	}
}

func TestALineOfATextIsAnUtteranceAndTheWholeATurn(t *testing.T) {
	tr := written("(One two. Three!)\n\nFour five?\r\n…six")
	if got, want := said(tr, units(tr, contract.ByUtterance)), "(One two. Three!)|Four five?|…six"; got != want {
		t.Errorf("utterances %q, want %q", got, want)
	}
	if got := said(tr, units(tr, contract.ByTurn)); got != tr.Text {
		t.Errorf("turn %q", got)
	}
}

func TestATurnEndsWhereAnotherSpeakerBegins(t *testing.T) {
	tr := written("Hello there. How are you? Fine, thanks. Good.")
	for i := range tr.Words {
		if i >= 5 && i < 7 {
			tr.Words[i].Speaker = 1
		}
	}
	if got, want := said(tr, units(tr, contract.ByTurn)), "Hello there. How are you?|Fine, thanks.|Good."; got != want {
		t.Errorf("turns %q, want %q", got, want)
	}
	want := "Hello there.|How are you?|Fine, thanks.|Good."
	if got := said(tr, units(tr, contract.BySentence)); got != want {
		t.Errorf("sentences %q, want %q", got, want)
	}
}

// Of any text, the units are in order, have no space around them, and cover every word exactly once; all but words
// cover everything that is not space.
func TestUnitsCoverTheText(t *testing.T) {
	letters := []string{"a", "B", " ", "\n", ".", "!", "?", "'", "-", "…", "\u0301", "é", "😀", "\u200d", "\u05d0",
		"\u202e", "\x00", "\xff", "東", "ก", "1", ",", "\u2028", "(", "”", "\r", "Dr. ", "and then"}
	rapid.Check(t, func(t *rapid.T) {
		tr := written(strings.Join(rapid.SliceOf(rapid.SampledFrom(letters)).Draw(t, "text"), ""))
		for i := range tr.Words {
			if i > 0 {
				tr.Words[i].Speaker = tr.Words[i-1].Speaker ^ rapid.IntRange(0, 9).Draw(t, "change")/9
			}
		}
		for _, by := range granularities {
			end, word := 0, 0
			for _, u := range units(tr, by) {
				gap := tr.Text[end:u.from]
				if by != contract.ByWord && strings.TrimSpace(gap) != "" {
					t.Fatalf("%s of %q leave out %q", by, tr.Text, gap)
				}
				if s := tr.Text[u.from:u.to]; s == "" || strings.TrimSpace(s) != s || !utf8.ValidString(s) {
					t.Fatalf("%s of %q: %q", by, tr.Text, s)
				}
				if u.words.From != word {
					t.Fatalf("%s of %q: words %v after %d", by, tr.Text, u.words, word)
				}
				end, word = u.to, u.words.To
			}
			if word != len(tr.Words) || by != contract.ByWord && strings.TrimSpace(tr.Text[end:]) != "" {
				t.Fatalf("%s of %q leave out the end", by, tr.Text)
			}
		}
	})
}

func TestPositionsAreCodePoints(t *testing.T) {
	at := positions("é😀x")
	for _, row := range [][2]int{{0, 0}, {2, 1}, {6, 2}, {7, 3}, {2, 1}} {
		if got := at(row[0]); got != row[1] {
			t.Errorf("byte %d is code point %d, want %d", row[0], got, row[1])
		}
	}
}

// A long text of anything takes no time that grows faster than its length: a mebibyte of "a.a.a" takes 3 s.
func TestALargeTextIsCutInLinearTime(t *testing.T) {
	for name, piece := range map[string]string{"prose": "The museum opens at ten, and we went. ", "letters": "a",
		"Thai": "ก", "marks": "\u0301", "stops": ".", "dotted": "a.", "lines": "\n", "spaces": " ", "quotes": "\"",
		"emoji": "😀"} {
		begin := time.Now()
		tr := written(strings.Repeat(piece, 1<<18/len(piece)))
		for _, by := range granularities {
			units(tr, by)
		}
		t.Logf("%s: %v", name, time.Since(begin))
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestOtherLanguagesThanEnglishAreTold(t *testing.T) {
	for text, want := range map[string]string{
		"I am not sure what you mean by that.":                                 "en",
		"Please call Rosa Parks and Marie Curie before you go to Oslo.":        "en",
		"Gestern war ich mit meiner Schwester in Berlin, und es hat geregnet.": undetermined,
		"Je ne sais pas ce que vous voulez dire, mais je vous écoute.":         undetermined,
		"Я не знаю, что вы хотите сказать.":                                    undetermined,
		"今日はとても天気がいいですね。":                                                      undetermined,
		"¿Dónde está la estación de tren más cercana, por favor?":              undetermined,
		"Guten Morgen": "",
		"😀 123 !!!":    "",
		"Ada Lovelace Charles Babbage Marie Curie Rosa Parks Albert Einstein": "",
	} {
		if got := written(text).language(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
