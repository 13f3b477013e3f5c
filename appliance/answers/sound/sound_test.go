package sound

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/disk"
)

const testRateHz = 22050

// speaker is a voice whose sound depends on the text. It counts what it synthesises.
type speaker struct {
	identity string
	seconds  float64 // of each text; 0: 1

	mu   sync.Mutex
	said []string
	fail map[string]error
}

func (s *speaker) RateHz() int      { return testRateHz }
func (s *speaker) Identity() string { return s.identity }

func (s *speaker) Speak(ctx context.Context, text string, _ engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	s.mu.Lock()
	s.said = append(s.said, text)
	err := s.fail[text]
	s.mu.Unlock()
	if err != nil {
		return err
	}
	pcm := noise(text, s.seconds)
	for at := 0; at < len(pcm); at += 5000 {
		end := min(at+5000, len(pcm))
		s := engine.Sound{PCM: pcm[at:end], TotalSamples: len(pcm) + 10, Last: end == len(pcm)}
		if err := emit(s); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (s *speaker) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.said)
}

func noise(text string, seconds float64) []float32 {
	if seconds == 0 {
		seconds = 1
	}
	dice := rand.New(rand.NewPCG(uint64(len(text)), uint64(text[0]))) //nolint:gosec // a test
	pcm := make([]float32, int(seconds*testRateHz))
	for i := range pcm {
		pcm[i] = 2*dice.Float32() - 1
	}
	return pcm
}

func open(t *testing.T, dir string, limit int64) *Store {
	t.Helper()
	s := Open(dir, limit, slog.New(slog.DiscardHandler))
	s.free = func(string) (int64, error) { return 1 << 40, nil }
	return s
}

// writing has what is spoken written until the test ends.
func writing(t *testing.T, s *Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var over sync.WaitGroup
	over.Go(func() { s.Write(ctx) })
	t.Cleanup(func() { cancel(); over.Wait() })
}

// waitFor waits until a store has n sounds.
func waitFor(t *testing.T, s *Store, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		have := len(s.files)
		s.mu.Unlock()
		if have == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are %d sounds, want %d", have, n)
		}
	}
}

func speak(t *testing.T, v engine.Synthesizer, text string, o engine.SpeakOptions) (pieces []engine.Sound) {
	t.Helper()
	err := v.Speak(t.Context(), text, o, func(s engine.Sound) error { pieces = append(pieces, s); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

func joined(pieces []engine.Sound) (pcm []float32) {
	for _, p := range pieces {
		pcm = append(pcm, p.PCM...)
	}
	return pcm
}

func TestStoredSoundIsTheSoundThatWasSpoken(t *testing.T) {
	dir := t.TempDir()
	v := &speaker{identity: "joe", seconds: 2.7}
	s := open(t, dir, 1<<20)
	writing(t, s)
	want := joined(speak(t, s.Voice(v), "We open at ten.", engine.SpeakOptions{}))
	waitFor(t, s, 1)
	for _, store := range []*Store{s, open(t, dir, 1<<20)} { // the second as after a restart
		pieces := speak(t, store.Voice(v), "We open at ten.", engine.SpeakOptions{Speed: 1})
		if v.times() != 1 {
			t.Fatal("it was synthesised again")
		}
		got := joined(pieces)
		if len(got) != len(want) {
			t.Fatalf("%d samples, want %d", len(got), len(want))
		}
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 0.5/math.MaxInt16+1e-7 {
				t.Fatalf("sample %d is %v, want %v", i, got[i], want[i])
			}
		}
		for i, p := range pieces {
			longest := testRateHz
			if i == 0 {
				longest = testRateHz / 4
			}
			last := i == len(pieces)-1
			if p.TotalSamples != len(want) || p.Last != last || len(p.PCM) == 0 || len(p.PCM) > longest {
				t.Errorf("piece %d of %d: %d samples of %d, last: %v", i, len(pieces), len(p.PCM), p.TotalSamples,
					p.Last)
			}
		}
	}
}

// What changes the sound of a sentence is never answered with the sound from before the change.
func TestSoundIsFoundOnlyForExactlyTheSameRequest(t *testing.T) {
	lexicon := func(word, said string, under text.Lexicon) func(*engine.SpeakOptions) {
		l, err := text.NewLexicon(map[string]string{word: said})
		if err != nil {
			t.Fatal(err)
		}
		return func(o *engine.SpeakOptions) { o.Lexicon = l.Over(under) }
	}
	base := engine.SpeakOptions{Locale: "en-GB"}
	lexicon("Nguyen", "win", nil)(&base)
	with := func(change func(*engine.SpeakOptions)) engine.SpeakOptions {
		o := base
		change(&o)
		return o
	}
	urgent := func(o *engine.SpeakOptions) { o.Urgency = engine.Live.Urgency() }
	const words = "Ask Nguyen."
	for name, c := range map[string]struct {
		identity, words string
		o               engine.SpeakOptions
		same            bool
	}{
		"the same":                 {"joe", words, base, true},
		"the default speed":        {"joe", words, with(func(o *engine.SpeakOptions) { o.Speed = 1 }), true},
		"more urgent":              {"joe", words, with(urgent), true},
		"an entry of another word": {"joe", words, with(lexicon("Siobhan", "shiv", base.Lexicon)), true},
		"another voice":            {"jenny", words, base, false},
		"another text":             {"joe", "Ask Nguyen!", base, false},
		"another speed":            {"joe", words, with(func(o *engine.SpeakOptions) { o.Speed = 1.1 }), false},
		"another locale":           {"joe", words, with(func(o *engine.SpeakOptions) { o.Locale = "en-US" }), false},
		"another pronunciation":    {"joe", words, with(lexicon("Nguyen", "en-WIN", nil)), false},
		"no lexicon":               {"joe", words, with(func(o *engine.SpeakOptions) { o.Lexicon = nil }), false},
		"the rest of a sentence":   {"joe", words, with(func(o *engine.SpeakOptions) { o.Previous = "Well, " }), false},
		"a beginning":              {"joe", words, with(func(o *engine.SpeakOptions) { o.Continues = true }), false},
	} {
		want, ok1 := keyOf(&speaker{identity: "joe"}, words, base)
		got, ok2 := keyOf(&speaker{identity: c.identity}, c.words, c.o)
		if !ok1 || !ok2 || (got == want) != c.same {
			t.Errorf("%s: the same key: %v, want %v", name, got == want, c.same)
		}
	}
	for name, c := range map[string]struct {
		identity string
		o        engine.SpeakOptions
	}{
		"an unknown voice": {"", base},
		"variation":        {"joe", with(func(o *engine.SpeakOptions) { o.Temperature = 0.1 })},
	} {
		s := open(t, t.TempDir(), 1<<20)
		v := &speaker{identity: c.identity}
		for range 2 {
			speak(t, s.Voice(v), words, c.o)
		}
		if v.times() != 2 || len(s.pending) != 0 {
			t.Errorf("%s is stored", name)
		}
	}
}

func TestDamagedSoundIsMadeAgain(t *testing.T) {
	const words = "We open at ten."
	for name, damage := range map[string]func([]byte) []byte{
		"cut":            func(b []byte) []byte { return b[:len(b)-100] },
		"empty":          func([]byte) []byte { return nil },
		"longer":         func(b []byte) []byte { return append(b, 0, 0) },
		"a changed bit":  func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"another rate":   func(b []byte) []byte { b[5] ^= 1; return b },
		"another format": func(b []byte) []byte { copy(b, "RIFF"); return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			v := &speaker{identity: "joe"}
			s := open(t, dir, 1<<20)
			writing(t, s)
			want := joined(speak(t, s.Voice(v), words, engine.SpeakOptions{}))
			waitFor(t, s, 1)
			k, _ := keyOf(v, words, engine.SpeakOptions{})
			content, err := os.ReadFile(s.path(k))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.path(k), damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			got := joined(speak(t, s.Voice(v), words, engine.SpeakOptions{}))
			if !slices.Equal(got, want) || v.times() != 2 {
				t.Errorf("%d samples, want %d; synthesised %d times", len(got), len(want), v.times())
			}
			waitFor(t, s, 1)
			got = joined(speak(t, s.Voice(v), words, engine.SpeakOptions{}))
			if len(got) != len(want) || v.times() != 2 {
				t.Errorf("afterwards: %d samples, synthesised %d times", len(got), v.times())
			}
		})
	}
}

func TestTheLeastRecentlyUsedSoundMakesSpace(t *testing.T) {
	dir := t.TempDir()
	size := fileSize(testRateHz)
	s := open(t, dir, 3*size)
	v := &speaker{identity: "joe"}
	keyFor := func(words string) key { k, _ := keyOf(v, words, engine.SpeakOptions{}); return k }
	save := func(words string) {
		t.Helper()
		if err := s.save(keyFor(words), engine.Speech{PCM: noise(words, 1), RateHz: testRateHz}); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"a", "b", "c"} {
		save(words)
	}
	if _, ok := s.load(keyFor("a")); !ok {
		t.Fatal("a is gone")
	}
	save("d")
	stored := func() (all string) {
		for _, words := range []string{"a", "b", "c", "d", "e"} {
			if _, ok := s.files[keyFor(words)]; ok {
				all += words
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(all) || s.bytes != int64(len(all))*size {
			t.Errorf("%d files and %d bytes for %q (%v)", len(entries), s.bytes, all, err)
		}
		return all
	}
	if got := stored(); got != "acd" {
		t.Errorf("stored are %q, want acd", got)
	}
	save("d") // again: takes no more space
	if got := stored(); got != "acd" {
		t.Errorf("stored are %q after one was written again", got)
	}
	s = open(t, dir, 2*size) // a smaller limit
	if got := stored(); len(got) != 2 {
		t.Errorf("stored are %q, want two", got)
	}
	if err := s.save(keyFor("e"), engine.Speech{PCM: noise("e", 3), RateHz: testRateHz}); err == nil {
		t.Error("sound that is larger than the limit is stored")
	}
	if n := s.sweep(map[key]bool{keyFor("a"): true, keyFor("d"): true}, time.Now()); n > 1 || len(s.files) != 2-n {
		t.Errorf("%d were deleted, left are %d", n, len(s.files))
	}
}

// A crash leaves a file under a temporary name, which is no sound and does not stay.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".0123-77", "0123.pcm", "x.pcm"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, 1<<20)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 || len(s.files) > 0 {
		t.Errorf("left are %v, known %d (%v)", entries, len(s.files), err)
	}
}

func TestAFullDiskKeepsItsSpace(t *testing.T) {
	s := open(t, t.TempDir(), 1<<30)
	s.free = func(string) (int64, error) { return disk.Spare, nil }
	err := s.save(key{1}, engine.Speech{PCM: noise("a", 1), RateHz: testRateHz})
	if !errors.Is(err, errDiskFull) || len(s.files) != 0 {
		t.Errorf("%v; %d are stored", err, len(s.files))
	}
}

func TestManyChatsUseOneStore(t *testing.T) {
	s := open(t, t.TempDir(), 6*fileSize(testRateHz/10)) // most are deleted again
	writing(t, s)
	v := &speaker{identity: "joe", seconds: 0.1}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 40 {
				words := string(rune('a' + rand.IntN(12)))
				var got []float32
				err := s.Voice(v).Speak(t.Context(), words, engine.SpeakOptions{}, func(p engine.Sound) error {
					got = append(got, p.PCM...)
					return nil
				})
				want := noise(words, 0.1)
				if err != nil || len(got) != len(want) || math.Abs(float64(got[7]-want[7])) > 1e-4 {
					t.Errorf("%q: %v, %d samples", words, err, len(got))
				}
			}
		})
	}
	all.Wait()
}
