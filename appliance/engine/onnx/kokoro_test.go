package onnx

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/internal/packtest"
)

func openKokoro(t testing.TB, rt *Runtime) *Kokoro {
	t.Helper()
	ph := openPhonemizer(t)
	return sharedOf(t, "Kokoro", func() (*Kokoro, error) {
		return LoadKokoro(rt, filepath.Dir(packtest.File(t, "kokoro", "model.onnx")), engine.NewGate(2), ph)
	})
}

// TestKokoroSpeaks speaks as little as possible: the model takes a fifth of its sound's duration on
// two free cores.
func TestKokoroSpeaks(t *testing.T) {
	k := openKokoro(t, openRuntime(t))
	v, err := k.Voice([]StyleWeight{{"af_heart", 1}})
	if err != nil {
		t.Fatal(err)
	}
	speech, err := engine.SpeakWhole(t.Context(), v, "Good morning.", engine.SpeakOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if seconds := float64(len(speech.PCM)) / kokoroRateHz; seconds < 0.4 || seconds > 2 {
		t.Errorf("%.2f s of sound", seconds)
	}
	if loudness := audio.Loudness(speech.PCM, kokoroRateHz); math.Abs(loudness-voiceLUFS) > 1 {
		t.Errorf("the loudness is %.1f LUFS, want %d", loudness, voiceLUFS)
	}
	if speech.PCM[0] != 0 || speech.PCM[len(speech.PCM)-1] != 0 {
		t.Error("the sound does not begin and end at zero")
	}
	if len(speech.Phonemes) < 8 || speech.Phonemes[0].Symbol != "ɡ" {
		t.Errorf("phonemes %v", speech.Phonemes)
	}
	t.Run("the same seed gives the same samples", func(t *testing.T) {
		speak := func(o engine.SpeakOptions) []float32 {
			speech, err := engine.SpeakWhole(t.Context(), v, "Yes, please.", o)
			if err != nil {
				t.Fatal(err)
			}
			return speech.PCM
		}
		first := speak(engine.SpeakOptions{Temperature: 0.8, Seed: 7})
		if !slices.Equal(first, speak(engine.SpeakOptions{Temperature: 0.8, Seed: 7})) {
			t.Error("the same seed gives other samples")
		}
		if slices.Equal(first, speak(engine.SpeakOptions{Seed: 7})) {
			t.Error("the temperature changes nothing")
		}
	})
	t.Run("a passage gives way to a request that is short", func(t *testing.T) {
		done := make(chan error, 1)
		go func() {
			_, err := engine.SpeakWhole(t.Context(), v, "Good morning to all of you.",
				engine.SpeakOptions{Urgency: engine.Request.Urgency()})
			done <- err
		}()
		for busy := 0; busy == 0; time.Sleep(time.Millisecond) {
			busy, _ = k.gate.Load()
		}
		if err := k.gate.Do(t.Context(), engine.Request.Urgency(), 2, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			t.Errorf("the voice synthesised the whole passage first (%v)", err)
		default:
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Run("it breaks off", func(t *testing.T) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(enough)
		b := k.alphabet.phrase("", strings.Repeat("ˈa", 100), "")
		if _, _, err := k.run(ctx, b.ids, k.styles["af_heart"][:kokoroStyle], 1); !errors.Is(err, enough) {
			t.Errorf("%v", err)
		}
	})
	t.Run("what is wrong with a blend is said", func(t *testing.T) {
		for _, c := range []struct {
			blend []StyleWeight
			want  string
		}{
			{nil, "at least one"},
			{[]StyleWeight{{"af_heart", 0}}, "weight"},
			{[]StyleWeight{{"af_heart", math.NaN()}}, "weight"},
			{[]StyleWeight{{"af_nobody", 1}}, "no voice \"af_nobody\""},
			{[]StyleWeight{{"../voices/af_heart", 1}}, "no voice"},
			{[]StyleWeight{{"zf_xiaobei", 1}}, "no voice"},
			{[]StyleWeight{{"af_heart", 1}, {"ff_siwis", 1}}, "one language"},
		} {
			if _, err := k.Voice(c.blend); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v", c.blend, err)
			}
		}
	})
	t.Run("a blend lies between its styles", func(t *testing.T) {
		style, l, err := k.blend([]StyleWeight{{"af_heart", 1}, {"bm_george", 3}})
		if err != nil || l.tag != "en-GB" {
			t.Fatal(l.tag, err)
		}
		a, b := k.styles["af_heart"], k.styles["bm_george"]
		for i := range style {
			if want := 0.25*a[i] + 0.75*b[i]; math.Abs(float64(style[i]-want)) > 1e-6 {
				t.Fatalf("number %d is %g, want %g", i, style[i], want)
			}
		}
	})
}

// TestKokoroKnowsThePhonemesOfItsLanguages pronounces a little of each language with eSpeak NG and
// checks that the model knows the phonemes.
func TestKokoroKnowsThePhonemesOfItsLanguages(t *testing.T) {
	ph := openPhonemizer(t)
	letters, err := kokoroAlphabet()
	if err != nil {
		t.Fatal(err)
	}
	for style, s := range map[string]string{
		"a": "The quick brown fox jumps over the lazy dog; the judge of the measure had a vision, a church and " +
			"ninety things.",
		"b": "The quick brown fox jumps over the lazy dog; the judge of the measure had a vision, a loch and ninety " +
			"things.",
		"e": "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; añoraba a su querido cachorro. " +
			"Ayer, jugué con la guitarra.",
		"f": "Portez ce vieux whisky au juge blond qui fume; un bon vin blanc, l'œuf, la fille, où, ça, huit, " +
			"garçon, montagne.",
		"h": "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले भगवान श्रीराम। घड़ी, छह, ठंडा, " +
			"झंडा, ढोल, पढ़ना।",
		"i": "Pranzo d'acqua fa volti sghembi; gli gnocchi, la zucca, il ghiaccio, cento, città, sciarpa, mezzo.",
		"p": "Luís argüia à Júlia que brações, fé, chá, óxido, pôr, zângão eram palavras do português; não, mãe, " +
			"coração, muito.",
	} {
		l, _ := kokoroLanguageOf(style)
		ipa, err := ph.Phonemize(t.Context(), s, l.espeak)
		if err != nil {
			t.Fatal(err)
		}
		var missing []string
		for _, r := range l.rewrite(ipa) {
			if letters.ids[r] == nil && !slices.Contains(missing, string(r)) {
				missing = append(missing, string(r))
			}
		}
		t.Logf("%s: %s", style, l.rewrite(ipa))
		if missing != nil {
			t.Errorf("%s: the model does not know %q", l.tag, missing)
		}
	}
}

// The model was trained on diphthongs as single letters in the languages for which it only uses
// eSpeak NG.
func TestPhonemesAreWrittenAsKokoroKnowsThem(t *testing.T) {
	for _, c := range []struct{ style, ipa, want string }{
		{"e", "sˈeɪs ˈaʊto ˈaɪ", "sˈAs ˈWto ˈI"},
		{"p", "prˌimˈeɪɾʊ tʃiˈɔɪ", "prˌimˈAɾʊ ʧiˈY"},
		{"p", "ʒaɾədʒˈiŋ sˈiŋku fˈiŋ.", "ʒaɾəʤˈiɲ sˈiŋku fˈiɲ."},
		{"i", "dˌeɪ kˈaʊza", "dˌA kˈaʊza"},
		{"i", "famˈiʎa biʎˈetːo ʎi", "famˈiʎja biʎjˈetːo ʎi"},
		{"f", "də- mɛtʁ", "də mɛtʁ"},
		{"a", "hˈeɪ", "hˈeɪ"},
	} {
		l, _ := kokoroLanguageOf(c.style)
		if got := l.rewrite(c.ipa); got != c.want {
			t.Errorf("%s: %s is written %s, want %s", l.tag, c.ipa, got, c.want)
		}
	}
}

func TestClausesAreSaidByThemselvesWhereTheyAreLongEnough(t *testing.T) {
	long := strings.Repeat("a", 40)
	for _, c := range []struct {
		ipa  string
		want []string
	}{
		{"", []string{""}},
		{"həlˈoʊ.", []string{"həlˈoʊ."}},
		{"sˈʊɹ, aɪ kæn hˈɛlp juː wɪð ðˈæt.", []string{"sˈʊɹ, aɪ kæn hˈɛlp juː wɪð ðˈæt."}},
		{long + ", " + long + ".", []string{long + ", ", long + "."}},
		{long + ", " + long + ", " + long + ".", []string{long + ", ", long + ", " + long + "."}},
		{long + ", " + long + ", " + long + ", " + long + ".",
			[]string{long + ", ", long + ", " + long + ", ", long + "."}},
		{strings.Repeat("a", 450), []string{strings.Repeat("a", 200), strings.Repeat("a", 200),
			strings.Repeat("a", 50)}},
	} {
		if got := clauses(c.ipa); !slices.Equal(got, c.want) {
			t.Errorf("%q\nis cut into %q,\nwant %q", c.ipa, got, c.want)
		}
	}
}

// The first clause is emitted while the next is still to be synthesized, with a pause between them
// and no click.
func TestKokoroSaysItsClausesOneAfterTheOther(t *testing.T) {
	k := openKokoro(t, openRuntime(t))
	v, err := k.Voice([]StyleWeight{{"bm_george", 1}})
	if err != nil {
		t.Fatal(err)
	}
	const s = "It opens at ten every day, and the price is £3.50."
	var pcm []float32
	var words []engine.Word
	given := 0 // samples at the last passage of the gate
	passages := 0
	k.gate.Observe(func(engine.Passage) { passages++; given = len(pcm) })
	defer k.gate.Observe(func(engine.Passage) {})
	err = v.Speak(t.Context(), s, engine.SpeakOptions{Temperature: 0.5, Seed: 3}, func(piece engine.Sound) error {
		pcm = append(pcm, piece.PCM...)
		words = append(words, piece.Words...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if passages != 2 || given == 0 {
		t.Errorf("%d calls of the model, %d samples given before the last", passages, given)
	}
	at := 0
	for _, w := range words {
		if w.Begin < at || w.End <= w.Begin || w.End > len(pcm) || s[w.From:w.To] != w.Text {
			t.Errorf("%+v after %d, of %d samples", w, at, len(pcm))
		}
		at = w.End
	}
	if len(words) != 11 || words[10].Text != "£3.50" {
		t.Fatalf("words %v", words)
	}
	pause := words[6].Begin - words[5].End // day, and
	t.Logf("%.2f s, the pause at the comma is %d ms", float64(len(pcm))/kokoroRateHz, pause*1000/kokoroRateHz)
	for i, x := range pcm[1:] {
		if math.Abs(float64(x-pcm[i])) > 0.5 {
			t.Errorf("a step from %g to %g at sample %d", pcm[i], x, i)
		}
	}
}
