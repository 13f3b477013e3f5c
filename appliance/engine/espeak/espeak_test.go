package espeak

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func openPhonemizer(t testing.TB) *Phonemizer {
	t.Helper()
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestPhonemesAreThoseOfTheVoiceWithTheirPunctuation(t *testing.T) {
	p := openPhonemizer(t)
	for _, row := range []struct{ voice, text, want string }{
		{"en-us", "Sure, I can help you with that.", "ʃˈʊɹ, aɪ kæn hˈɛlp juː wɪð ðˈæt."},
		{"en-gb-x-rp", "hot water", "hˈɒt wˈɔːtɐ"},
		{"en-gb", "hot water", "hˈɒt wˈɔːtɐ"},
		{"en_US", "hot water", "hˈɑːt wˈɔːɾɚ"},
		{"fr-fr", "bonjour", "bɔ̃ʒˈuʁ"},
		{"de-de", "Guten Tag!", "ɡˈuːtən tˈɑːk!"},
		{"en-us", "Yes?! No... \"Oh\" (so)", "jˈɛs? nˈoʊ. ˈoʊ, sˈoʊ,"},
		{"en-us", "", ""},
		{"en-us", "?!", ""},
	} {
		got, err := p.Phonemize(t.Context(), row.text, row.voice)
		if err != nil || got != row.want {
			t.Errorf("%s %q: got %q, %v; want %q", row.voice, row.text, got, err, row.want)
		}
	}
}

func TestAVoiceThatIsNotThereIsAnErrorAndNotTheLastOne(t *testing.T) {
	p := openPhonemizer(t)
	for _, voice := range []string{"", "xx", "klingon-xx", "../../etc/passwd", "en-us\x00",
		strings.Repeat("x", 10000)} {
		if got, err := p.Phonemize(t.Context(), "hot", voice); err == nil && voice != "en-us\x00" {
			t.Errorf("%.20q: %q", voice, got)
		}
		if got, err := p.Phonemize(t.Context(), "hot", "en-us"); err != nil || got != "hˈɑːt" {
			t.Errorf("after %.20q: %q, %v", voice, got, err)
		}
	}
}

func TestACommaInsideANumberIsNoPause(t *testing.T) {
	got, err := openPhonemizer(t).Phonemize(t.Context(), "Das kostet 3,5 Euro", "de")
	if err != nil || strings.Contains(got, ",") || !strings.Contains(got, "kɔm") { // "drei Komma fünf"
		t.Errorf("%q, %v", got, err)
	}
}

func TestLanguageMarksAreRemoved(t *testing.T) {
	got, err := openPhonemizer(t).Phonemize(t.Context(), "le weekend au shopping center", "fr")
	if err != nil || strings.ContainsAny(got, "()") || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAnyTextCanBePhonemized(t *testing.T) {
	p := openPhonemizer(t)
	for _, s := range []string{"a\x00b", "\xff\xfe\xc3", strings.Repeat("word ", 2000), strings.Repeat("x", 10000),
		strings.Repeat("?", 10000), strings.Repeat("日本", 1000), "\u202e\u200f\ufeff"} {
		if got, err := p.Phonemize(t.Context(), s, "en-us"); err != nil || !utf8.ValidString(got) {
			t.Errorf("%.20q: %.40q, %v", s, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		voice := rapid.SampledFrom([]string{"en-us", "en-gb-x-rp", "fr"}).Draw(t, "voice")
		if got, err := p.Phonemize(context.Background(), s, voice); err != nil || !utf8.ValidString(got) {
			t.Fatalf("%q: %q, %v", s, got, err)
		}
	})
}

func TestManyMayAskAtOnce(t *testing.T) {
	p := openPhonemizer(t)
	var wg sync.WaitGroup
	for i := range 8 {
		voice, want := "en-us", "hˈɑːt"
		if i%2 == 1 {
			voice, want = "en-gb", "hˈɒt"
		}
		wg.Go(func() {
			for range 50 {
				if got, err := p.Phonemize(t.Context(), "hot", voice); err != nil || got != want {
					t.Errorf("%s: %q, %v", voice, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// A crash only affects its own text, and the next text is spoken.
func TestAProcessThatIsKilledIsReplaced(t *testing.T) {
	p := openPhonemizer(t)
	for range 3 {
		if err := syscall.Kill(firstProcess(t, p).Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Phonemize(t.Context(), "hot water", "en-us"); err != nil || got != "hˈɑːt wˈɔːɾɚ" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// Mixed scripts and symbols, which nobody writes but anybody may send, and on which espeak-ng 1.51
// sometimes crashes.
func TestMixedScriptsAreSpokenHoweverOftenEspeakDies(t *testing.T) {
	p := openPhonemizer(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 6000 {
		text := make([]rune, 1+random.IntN(40))
		for i := range text {
			from, n := rune(1), 0xd7ff
			switch random.IntN(3) {
			case 0:
				from, n = 'a', 26
			case 1:
				from, n = 0x1d400, 0x800
			}
			text[i] = from + rune(random.IntN(n))
		}
		if _, err := p.Phonemize(t.Context(), string(text), "fr"); err != nil {
			t.Fatalf("%q: %v", string(text), err)
		}
	}
	if got, err := p.Phonemize(t.Context(), "hot water", "en-us"); err != nil || got != "hˈɑːt wˈɔːɾɚ" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

func TestAPhonemizerThatIsClosedSaysSo(t *testing.T) {
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Phonemize(t.Context(), "hot", "en-us"); !errors.Is(err, errClosed) {
		t.Errorf("%v", err)
	}
}

// Signals to all processes of the box do not end this one before the box.
func TestItOutlivesTheSignalsThatStopTheBox(t *testing.T) {
	p := openPhonemizer(t)
	before := firstProcess(t, p)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(before.Pid(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := p.Phonemize(t.Context(), "hot", "en-us"); err != nil || got != "hˈɑːt" ||
		firstProcess(t, p) != before {
		t.Errorf("%q, %v", got, err)
	}
}
