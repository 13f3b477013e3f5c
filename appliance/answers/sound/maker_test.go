package sound

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/disk"
)

// shop is what a Maker asks for scripts, voices and pronunciations.
type shop struct {
	scripts []Script
	voices  map[string]*speaker // by name
	read    text.Options
}

func (s *shop) Voice(_ context.Context, _, name string) (engine.Synthesizer, error) {
	if v := s.voices[name]; v != nil {
		return v, nil
	}
	return nil, errors.New("there is no such voice")
}

func (s *shop) maker(store *Store) *Maker {
	return NewMaker(Parts{
		Store:         store,
		Scripts:       func(context.Context) ([]Script, error) { return s.scripts, nil },
		Voices:        s,
		Pronunciation: func(context.Context, string) text.Options { return s.read },
		Log:           slog.New(slog.DiscardHandler),
	})
}

func museum() *shop {
	return &shop{
		voices: map[string]*speaker{"joe": {identity: "joe"}, "": {identity: "alan"}},
		scripts: []Script{
			{Voice: "joe", Speed: 1, Answers: [][]string{
				{"Open at ten.", "Bye."},
				{"In the café."},
				{"No.", "Bye.", "End."},
			}},
			{Voice: "gone", Speed: 1, Answers: [][]string{{"Never."}}},
			{Voice: "", Speed: 1, Answers: [][]string{{"Other."}}},
		},
	}
}

func wantSaid(t *testing.T, v *speaker, want ...string) {
	t.Helper()
	if !slices.Equal(v.said, want) {
		t.Errorf("made are %q, want %q", v.said, want)
	}
	v.said = nil
}

func wantProgress(t *testing.T, m *Maker, made, wanted int) {
	t.Helper()
	if a, b := m.Progress(); a != made || b != wanted {
		t.Errorf("%d of %d are made, want %d of %d", a, b, made, wanted)
	}
}

func TestFirstSentencesAreMadeFirstAndNothingTwice(t *testing.T) {
	c := museum()
	m := c.maker(open(t, t.TempDir(), 1<<20))
	if err := m.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, c.voices["joe"], "Open at ten.", "In the café.", "No.", "Bye.", "End.")
	wantSaid(t, c.voices[""], "Other.")
	wantProgress(t, m, 6, 6)

	c.scripts[0].Answers[1][0] = "In the garden."
	if err := m.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, c.voices["joe"], "In the garden.")
	var err error
	if c.read.Lexicon, err = text.NewLexicon(map[string]string{"ten": "tin"}); err != nil {
		t.Fatal(err)
	}
	if err := m.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, c.voices["joe"], "Open at ten.")
	c.voices["joe"].identity = "a new version of joe"
	if err := m.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, c.voices["joe"], "Open at ten.", "In the garden.", "No.", "Bye.", "End.")
	wantSaid(t, c.voices[""])
}

// TestAChatPlaysWhatWasMadeAhead asks for a sentence as a mouth does.
func TestAChatPlaysWhatWasMadeAhead(t *testing.T) {
	c := museum()
	m := c.maker(open(t, t.TempDir(), 1<<20))
	if err := m.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := c.voices["joe"]
	made := v.times()
	got := joined(speak(t, m.Store.Voice(v), "No.", engine.SpeakOptions{Urgency: engine.Live.Urgency(), Speed: 1}))
	if v.times() != made || len(got) != testRateHz {
		t.Errorf("%d samples, synthesised %d times more", len(got), v.times()-made)
	}
}

func TestASentenceThatFailsDoesNotKeepTheOthers(t *testing.T) {
	c := museum()
	c.voices["joe"].fail = map[string]error{"No.": errors.New("broken")}
	m := c.maker(open(t, t.TempDir(), 1<<20))
	if err := m.pass(t.Context()); err == nil || !strings.Contains(err.Error(), `"No.": broken`) {
		t.Errorf("got %v", err)
	}
	wantSaid(t, c.voices["joe"], "Open at ten.", "In the café.", "No.", "Bye.", "End.")
	wantProgress(t, m, 5, 6)
}

func TestMakingEndsAtTheLimitAndOnAFullDisk(t *testing.T) {
	c := museum()
	s := open(t, t.TempDir(), 3*fileSize(testRateHz))
	m := c.maker(s)
	if err := s.save(key{1}, engine.Speech{PCM: noise("x", 1), RateHz: testRateHz}); err != nil { // of an old config
		t.Fatal(err)
	}
	for range 2 {
		if err := m.pass(t.Context()); !errors.Is(err, errLimit) {
			t.Errorf("got %v", err)
		}
		wantProgress(t, m, 3, 6)
	}
	wantSaid(t, c.voices["joe"], "Open at ten.", "In the café.", "No.", "Bye.", "Bye.")
	if _, ok := s.has(key{1}); ok {
		t.Error("the sound of an old config kept its space")
	}
	s = open(t, t.TempDir(), 1<<20)
	m = c.maker(s)
	s.free = func(string) (int64, error) { return disk.Spare, nil }
	if err := m.pass(t.Context()); !errors.Is(err, errDiskFull) {
		t.Errorf("got %v", err)
	}
	wantSaid(t, c.voices["joe"], "Open at ten.")
}

// The sound of a deleted or changed answer goes when nobody has used it for a day.
func TestSoundOfNoConfigIsDeletedAfterADay(t *testing.T) {
	c := museum()
	dir := t.TempDir()
	s := open(t, dir, 1<<20)
	old, played := key{1}, key{2}
	for _, k := range []key{old, played} {
		if err := s.save(k, engine.Speech{PCM: noise("x", 1), RateHz: testRateHz}); err != nil {
			t.Fatal(err)
		}
		dayAgo := time.Now().Add(-unusedFor - time.Minute)
		if err := os.Chtimes(s.path(k), dayAgo, dayAgo); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir, 1<<20)
	if _, ok := s.load(played); !ok {
		t.Fatal("it is not there")
	}
	if err := c.maker(s).pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.has(old); !ok {
		t.Error("it is deleted although a voice of a config is missing, whose sound is not known")
	}
	c.scripts = c.scripts[:1]
	s = open(t, dir, 1<<20)
	if err := c.maker(s).pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.has(old); ok {
		t.Error("the sound of no config is still there")
	}
	if _, ok := s.has(played); !ok {
		t.Error("the sound that a chat has played is gone")
	}
}

// A change during a pass begins a new one, so that a config is not made that was replaced.
func TestChangesAreMadeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := museum()
		m := c.maker(open(t, t.TempDir(), 1<<20))
		begun := time.Now()
		c.scripts = c.scripts[:1]
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); m.Run(ctx) }()
		synctest.Wait()
		wantProgress(t, m, 5, 5)
		c.scripts = []Script{{Voice: "", Answers: [][]string{{"New."}}}}
		m.Changed()
		m.Changed()
		synctest.Wait()
		wantSaid(t, c.voices[""], "New.")
		if time.Since(begun) > 0 {
			t.Error("it has waited")
		}
		cancel()
		<-over
	})
}
