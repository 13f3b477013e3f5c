package onnx

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// symbolsOf returns the symbols of a text as a Piper voice reports them.
func symbolsOf(t *testing.T, r *pronouncer, s string) string {
	t.Helper()
	sentences, err := r.sentences(t.Context(), s, engine.SpeakOptions{})
	if err != nil || len(sentences) != 1 {
		t.Fatalf("%q: %d sentences, %v", s, len(sentences), err)
	}
	a := &alphabet{ids: map[rune][]int64{}}
	for _, c := range sentences[0].ipa {
		a.ids[c] = []int64{int64(c)}
	}
	return symbols((&Piper{alphabet: a, pronouncer: r}).phrases(sentences[0], phraseContext{}))
}

func symbols(phrases []phrase) string {
	var all []string
	for _, b := range phrases {
		for _, s := range b.sounds {
			all = append(all, s.symbol)
		}
	}
	return strings.Join(all, " ")
}

// Diphthongs and affricates are one phoneme, marks that lengthen or colour a sound belong to it,
// and stress belongs to none.
func TestAPhonemeIsOneSound(t *testing.T) {
	ph := openPhonemizer(t)
	for _, c := range []struct{ voice, tag, written, want string }{
		{"en-us", "en-US", "going home", "ɡ oʊ ɪ ŋ h oʊ m"},
		{"en-us", "en-US", "today joy now", "t ə d eɪ dʒ ɔɪ n aʊ"},
		{"en-us", "en-US", "judge church", "dʒ ʌ dʒ tʃ ɜː tʃ"},
		{"en-us", "en-US", "cats, fire, four", "k æ t s f aɪ ɚ f ɔː ɹ"},
		{"en-us", "en-US", "naive idea", "n aɪ iː v aɪ d i ə"},
		{"en-us", "en-US", "roses worrying", "ɹ oʊ z ɪ z w ʌ ɹ i ɪ ŋ"},
		{"en-us", "en-US", "get it out", "ɡ ɛ t ɪ ɾ aʊ t"},
		{"en-gb", "en-GB", "home near there", "h əʊ m n iə ð eə"},
		{"es", "es", "muchacho, hay rey", "m u tʃ a tʃ o aɪ r eɪ"},
		{"es", "es", "causa Europa muy", "k aʊ s a eʊ ɾ o p a m u j"},
		{"fr", "fr-FR", "un bon vin blanc", "œ̃ b ɔ̃ v ɛ̃ b l ɑ̃"},
		{"it", "it", "piazza zero gente ciao", "p j a tsː a dz ɛ r o dʒ ɛ n t e tʃ a o"},
		{"pt-br", "pt-BR", "não pão Europa", "n ɐ̃ʊ̃ p ɐ̃ʊ̃ eʊ ɾ ɔ p æ"},
		{"hi", "hi", "घर भाई छात्र", "ɡʰ ʌ ɾ bʰ aː i cʰ aː t ɾ ə"},
		{"de", "de", "Zeit, deutsch, Pferd", "ts aɪ t d ɔø tʃ pf eː ɾ t"},
	} {
		r := readerOf(ph, c.voice, c.tag)
		r.rewrite = norm.NFD.String
		if got := symbolsOf(t, r, c.written); got != norm.NFD.String(c.want) {
			t.Errorf("%s: %q is reported as %s, want %s", c.tag, c.written, got, c.want)
		}
	}
}

// Phonemes of a lexicon are joined whether it writes them with ties or without.
func TestPhonemesOfALexiconAreJoined(t *testing.T) {
	ph := openPhonemizer(t)
	for _, ipa := range []string{"/t͡ʃaɪ/", "/tʃaɪ/", "/ʧˈaɪ/"} {
		r := readerOf(ph, "en-us", "en-US")
		lexicon, err := text.NewLexicon(map[string]string{"Chye": ipa})
		if err != nil {
			t.Fatal(err)
		}
		sentences, err := r.sentences(t.Context(), "Chye", engine.SpeakOptions{Lexicon: lexicon})
		if err != nil || len(sentences) != 1 {
			t.Fatal(sentences, err)
		}
		letters, err := kokoroAlphabet()
		if err != nil {
			t.Fatal(err)
		}
		if got := symbols((&Piper{alphabet: letters, pronouncer: r}).phrases(sentences[0],
			phraseContext{})); got != "tʃ aɪ" {
			t.Errorf("%s is reported as %s", ipa, got)
		}
	}
}

// Kokoro has single letters for some double sounds.
func TestKokorosLettersBecomeIPA(t *testing.T) {
	ph := openPhonemizer(t)
	letters, err := kokoroAlphabet()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ style, written, want string }{
		{"a", "joy today", "dʒ ɔɪ t ə d eɪ"},
		{"e", "muchacho, hay rey", "m u tʃ a tʃ o aɪ r eɪ"},
		{"f", "un bon vin", "œ̃ b ɔ̃ v ɛ̃"},
		{"i", "piazza zero", "p j a tsː a dz ɛ r o"},
		{"p", "não leite", "n ɐ̃ʊ̃ l eɪ tʃ y"},
		{"h", "घर", "ɡʰ ʌ ɾ"},
	} {
		l, _ := kokoroLanguageOf(c.style)
		r := &pronouncer{
			phonemizer: ph,
			voice:      l.espeak,
			tag:        l.tag,
			scripts:    scriptsOf(l.tag),
			rewrite:    l.rewrite,
		}
		sentences, err := r.sentences(t.Context(), c.written, engine.SpeakOptions{})
		if err != nil || len(sentences) != 1 {
			t.Fatal(sentences, err)
		}
		got := symbols((&kokoroVoice{kokoro: &Kokoro{alphabet: letters}, language: l, pronouncer: r}).clauses(
			sentences[0]))
		if got != norm.NFD.String(c.want) {
			t.Errorf("%s: %q is reported as %s, want %s", c.style, c.written, got, c.want)
		}
	}
	// None of the model's special letters is left.
	for letter := range letters.ids {
		if symbol := (phonology{}).written(string(letter)); strings.ContainsAny(symbol, "AIOQWYʤʧʣʦʥʨ") ||
			!utf8.ValidString(symbol) {
			t.Errorf("%c is reported as %s", letter, symbol)
		}
	}
}

// inTime speaks, and fails if a time goes back, or refers to sound that has not been emitted. It
// returns the words.
func inTime(t *testing.T, v engine.Synthesizer, s string, o engine.SpeakOptions) []string {
	t.Helper()
	var words []string
	made, word, phoneme := 0, 0, 0
	err := v.Speak(context.Background(), s, o, func(piece engine.Sound) error {
		made += len(piece.PCM)
		for _, w := range piece.Words {
			if w.Begin < word || w.End < w.Begin || w.End > made {
				t.Fatalf("%q: %+v behind %d, of %d samples", s, w, word, made)
			}
			word = w.End
			words = append(words, w.Text)
		}
		for _, p := range piece.Phonemes {
			if p.Begin < phoneme || p.End < p.Begin || p.End > made || p.Symbol == "" {
				t.Fatalf("%q: %+v behind %d, of %d samples", s, p, phoneme, made)
			}
			phoneme = p.End
		}
		return nil
	})
	if err != nil || made > 0 && phoneme == 0 {
		t.Fatalf("%q: %v; phonemes end at %d of %d samples", s, err, phoneme, made)
	}
	return words
}

// Every word of a text is reported, in order, at any speed.
func TestTimesOfAVoiceNeverGoBack(t *testing.T) {
	rt := openRuntime(t)
	piper := openVoice(t, rt, "voice-joe")
	word := rapid.SampledFrom(strings.Fields("going home judge the of cats £3.50, twenty-five Oh! why? a naive No."))
	speed, goesOn := rapid.SampledFrom([]float64{0.5, 1, 3}), rapid.Bool()
	for i := range 24 {
		written := rapid.SliceOfN(word, 1, 5).Example(i)
		var want []string
		for _, w := range written {
			want = append(want, strings.TrimRight(w, ".,!?"))
		}
		o := engine.SpeakOptions{Speed: speed.Example(i), Temperature: float64(i % 2), Continues: goesOn.Example(i)}
		if got := inTime(t, piper, strings.Join(written, " "), o); !slices.Equal(got, want) {
			t.Errorf("%q: reported %q", written, got)
		}
	}
	kokoro := openKokoro(t, rt)
	for style, written := range map[string]string{
		"if_sara": "Ciao, la piazza è qui.", "pf_dora": "Não, pão e leite.", "ff_siwis": "Un bon vin blanc.",
		"hf_alpha": "घर अच्छा है",
	} {
		v, err := kokoro.Voice([]StyleWeight{{style, 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(inTime(t, v, written, engine.SpeakOptions{Speed: 2})); got != len(strings.Fields(written)) {
			t.Errorf("%q: reported %d words", written, got)
		}
	}
}
