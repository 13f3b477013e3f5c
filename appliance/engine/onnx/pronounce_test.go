package onnx

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/appliance/engine"
	"parley/appliance/text"
)

func readerOf(ph phonemizer, voice, tag string) *pronouncer {
	return &pronouncer{
		phonemizer: ph,
		voice:      voice,
		tag:        tag,
		scripts:    scriptsOf(tag),
		rewrite:    func(s string) string { return s },
	}
}

// ofEach returns the phonemes of each word of a sentence.
func ofEach(s sentence) []string {
	said := make([]string, len(s.words))
	for i := range len(s.ipa) {
		if s.wordOf[i] != noWord {
			said[s.wordOf[i]] += s.ipa[i : i+1]
		}
	}
	return said
}

func TestPhonemesGoToTheWordsThatTheyAreOf(t *testing.T) {
	r := readerOf(openPhonemizer(t), "en-us", "en-US")
	lexicon, err := text.NewLexicon(map[string]string{"Nguyen": "/wɪn/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ written, want string }{
		{"Sure, I can help.", "Sure ʃˈʊɹ | I aɪ | can kæn | help hˈɛlp"},
		{"at the end of the day", "at æt | the ðɪ | end ˈɛnd | of ʌv | the ðə | day dˈeɪ"},
		{"It is £3.50 now.", "It ɪɾ | is ɪz | £3.50 θɹˈiːpˈaʊndzændfˈɪftipˈɛns | now nˈaʊ"},
		{"Ask Nguyen, please.", "Ask ˈæsk | Nguyen wɪn | please plˈiːz"},
		{"This is a Nguyen, a use and a record of the day", "This ðɪs | is ɪz | a ɐ | Nguyen wɪn | a ɐ | use jˈuːs | " +
			"and ænd | a ɐ | record ɹˈɛkɚd | of ʌv | the ðə | day dˈeɪ"},
		{"I want to use the lift", "I aɪ | want wˈɔnt | to tə | use jˈuːz | the ðə | lift lˈɪft"},
		{"twenty-five in the sun", "twenty-five twˈɛntifˈaɪv | in ɪn | the ðə | sun sˈʌn"},
		{"**Bold** [link](http://x.y) end", "Bold bˈoʊld | link lˈɪŋk | end ˈɛnd"},
	} {
		all, err := r.sentences(t.Context(), c.written, engine.SpeakOptions{Lexicon: lexicon})
		if err != nil || len(all) != 1 {
			t.Fatalf("%q: %d sentences, %v", c.written, len(all), err)
		}
		var got []string
		for i, ipa := range ofEach(all[0]) {
			got = append(got, all[0].words[i].Text+" "+strings.TrimRight(ipa, ".,"))
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%q is pronounced as\n%s, want\n%s (of %q)", c.written, s, c.want, all[0].ipa)
		}
	}
}

// The words are in order, each with its letters, and no position is out of range.
func TestEveryWordHasItsPhonemesWhateverIsWritten(t *testing.T) {
	ph := openPhonemizer(t)
	readers := []*pronouncer{readerOf(ph, "en-us", "en-US"), readerOf(ph, "fr", "fr-FR"), readerOf(ph, "hi", "hi")}
	odd := rapid.SampledFrom([]string{"of", "the", "in", "£3.50", "twenty-five", "don't", "a/b", "e.V.", "14:05",
		"www.x.org", "🙂", "naïve", "—", "\"", "(", ")", "...", "π", "x²", "BBC", "aB3-x9Z", "é\u0301\u0301", "नमस्ते",
		"你好", "\x00", "\u200d", "1,000,000"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(odd, 1, 12).Draw(t, "words"),
			rapid.SampledFrom([]string{" ", "", ", ", "\n"}).Draw(t, "between"))
		if rapid.Bool().Draw(t, "any") {
			s += rapid.StringN(0, 40, 80).Draw(t, "text")
		}
		r := rapid.SampledFrom(readers).Draw(t, "reader")
		all, err := r.sentences(t.Context(), s, engine.SpeakOptions{})
		var cannot engine.ErrCannotSay
		if errors.As(err, &cannot) {
			if cannot.Writing == "" || cannot.Script == "" || !utf8.ValidString(cannot.Writing) {
				t.Fatalf("%q: %#v", s, cannot)
			}
			if all, err = r.sentences(t.Context(), cannot.Rest, engine.SpeakOptions{}); err != nil {
				t.Fatalf("%q: the rest %q cannot be said either: %v", s, cannot.Rest, err)
			}
			s = cannot.Rest
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		at := 0
		for _, one := range all {
			if len(one.wordOf) != len(one.ipa) {
				t.Fatalf("%q: %d bytes of phonemes, words for %d", s, len(one.ipa), len(one.wordOf))
			}
			last := noWord
			for _, w := range one.wordOf {
				if w == noWord {
					continue
				}
				if w < last || w >= len(one.words) {
					t.Fatalf("%q: word %d after %d of %d in %q", s, w, last, len(one.words), one.ipa)
				}
				last = w
			}
			for _, w := range one.words {
				if w.From < at || w.To <= w.From || s[w.From:w.To] != w.Text {
					t.Fatalf("%q: %+v behind %d", s, w, at)
				}
				at = w.To
			}
		}
	})
}

// A spoken sign without letters belongs to one word as a whole.
func TestASignThatIsSaidIsNotTornApart(t *testing.T) {
	all, err := readerOf(openPhonemizer(t), "hi", "hi").sentences(t.Context(), "of 🙂# A", engine.SpeakOptions{})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if got := strings.Join(ofEach(all[0]), " | "); got != "ɒv | hˈaʃˈeɪ" {
		t.Errorf("of | A are pronounced as %s", got)
	}
}

func TestUnpronounceableWritingIsNamed(t *testing.T) {
	ph := openPhonemizer(t)
	for _, c := range []struct{ voice, tag, written, cannot, script, rest string }{
		{"en-us", "en-US", "Hello 你好!", "你好", "Han", "Hello !"},
		{"en-us", "en-US", "你好。", "你好", "Han", "。"},
		{"en-us", "en-US", "It costs π euros, naïvely 🙂", "", "", ""},
		{"en-us", "en-US", "Say привет and שלום now", "привет שלום", "Cyrillic, Hebrew", "Say  and  now"},
		{"hi", "hi", "नमस्ते world", "", "", ""},
		{"fr", "fr-FR", "Bonjour नमस्ते", "नमस्ते", "Devanagari", "Bonjour "},
	} {
		_, err := readerOf(ph, c.voice, c.tag).sentences(t.Context(), c.written, engine.SpeakOptions{})
		var e engine.ErrCannotSay
		if errors.As(err, &e) != (c.cannot != "") || e.Writing != c.cannot || e.Script != c.script || e.Rest != c.rest {
			t.Errorf("%q: %v, %#v", c.written, err, e)
		}
		var before engine.ErrCannotSay
		if errors.As(readerOf(ph, c.voice, c.tag).canSay(c.written, engine.SpeakOptions{}), &before); before != e {
			t.Errorf("%q: before it is spoken, %#v", c.written, before)
		}
	}
}

func TestPhonemesAreAssignedEvenlyAsALastResort(t *testing.T) {
	words := []spokenWord{{"ab", 0}, {"cd", 1}, {"ef", 2}}
	for _, alone := range [][]string{{"", "", ""}, {"x", "", "zzzzzzzzzzzzzzzzzz"}, {"ab", "kd", "ef"}} {
		of := alignBySound("ˈabkˌdɛːf", words, alone)
		if len(of) != len("ˈabkˌdɛːf") || !slices.IsSorted(of) {
			t.Errorf("%q: %v", alone, of)
		}
	}
	long := strings.Repeat("a", 4000)
	of := alignBySound(long, words, []string{long, long, long})
	if of[0] != 0 || of[len(of)-1] != 2 || !slices.IsSorted(of) {
		t.Error("a very long text is not shared out evenly")
	}
}

// Each word of a text with any sound is in its phrases once, in order, with valid ids.
func TestEveryWordIsInAPhrase(t *testing.T) {
	ph := openPhonemizer(t)
	letters, err := kokoroAlphabet()
	if err != nil {
		t.Fatal(err)
	}
	l, _ := kokoroLanguageOf("a")
	read := &pronouncer{
		phonemizer: ph,
		voice:      l.espeak,
		tag:        l.tag,
		scripts:    scriptsOf(l.tag),
		rewrite:    l.rewrite,
	}
	piper := &Piper{alphabet: letters, pronouncer: read}
	kokoro := &kokoroVoice{kokoro: &Kokoro{alphabet: letters}, language: l, pronouncer: read}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"of", "the", "£3.50", "-", "—", "π", "🙂", "a", ",", "x²", "no.", "Why?", "(",
			")", strings.Repeat("na", 200), "of the", "é"})
		s := strings.Join(rapid.SliceOfN(word, 1, 60).Draw(t, "words"), " ")
		o := engine.SpeakOptions{Continues: rapid.Bool().Draw(t, "goes on")}
		sentences, err := read.sentences(t.Context(), s, o)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, one := range sentences {
			for name, phrases := range map[string][]phrase{
				"piper":  piper.phrases(one, phraseContext{before: "sˈoʊ ", continues: o.Continues}),
				"kokoro": kokoro.clauses(one)} {
				if len(phrases) == 0 {
					continue
				}
				var words []engine.Word
				for _, b := range phrases {
					if len(b.ids) > kokoroLengths+2 || b.begin < 0 || b.end > len(b.ids) {
						t.Fatalf("%s: %q: %d ids, of which %d to %d", name, s, len(b.ids), b.begin, b.end)
					}
					at := b.begin
					for _, w := range b.words {
						if w.begin < at || w.end < w.begin || w.end > b.end {
							t.Fatalf("%s: %q: %+v behind %d of %d", name, s, w, at, b.end)
						}
						at = w.end
						words = append(words, w.word)
					}
				}
				if !slices.Equal(words, one.words) {
					t.Fatalf("%s: %q: words %v, want %v", name, s, words, one.words)
				}
			}
		}
	})
}
