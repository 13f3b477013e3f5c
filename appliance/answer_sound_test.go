package appliance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/answers/sound"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
	"parley/appliance/voice"
	"parley/internal/layout"
	"parley/internal/packtest"
)

// openTestVoices opens the voices of the fast tests.
func openTestVoices(t *testing.T) *engines.Set {
	t.Helper()
	packtest.File(t, "voice-joe", "voice.onnx")
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"profile": "test"}, Environ: os.Environ(),
		Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engines.Open(t.Context(), cfg, engines.Speaking, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// oneVoice is the voice of every name and account.
type oneVoice struct{ engine.Synthesizer }

func (v oneVoice) Voice(context.Context, string) (engine.Synthesizer, error) {
	return v.Synthesizer, nil
}

// accountVoice is a oneVoice for a sound.Maker.
type accountVoice struct{ engine.Synthesizer }

func (v accountVoice) Voice(context.Context, string, string) (engine.Synthesizer, error) {
	return v.Synthesizer, nil
}

// britishVoices are how the texts of these tests are pronounced.
func britishVoices(t *testing.T) text.Options {
	t.Helper()
	l, err := text.NewLexicon(map[string]string{"Nguyen": "win"})
	if err != nil {
		t.Fatal(err)
	}
	return text.Options{Locale: "en-GB", Lexicon: l}
}

// mouthOf speaks sentences with a voice as a chat does, and returns their pieces.
func mouthOf(t *testing.T, v engine.Synthesizer, stored reply.StoredSound, read text.Options,
	sentences ...string) (pieces []turn.Piece) {
	t.Helper()
	begun, made := time.Now(), make(chan turn.Piece, 1000)
	r := reply.New(reply.Parts{
		Voices:        oneVoice{v},
		Pronunciation: func(context.Context) text.Options { return read },
		Stored:        stored,
		Throughput:    reply.NewThroughput(),
		Log:           slog.New(slog.DiscardHandler),
		Clock:         func() time.Duration { return time.Since(begun) },
		Post: func(e turn.Event) {
			switch e := e.(type) {
			case turn.SoundMade:
				made <- e.Piece
			case turn.TurnFailed:
				t.Errorf("the turn failed: %v", e.Fault)
				close(made)
			}
		},
		Go: func(f func()) { go f() },
	})
	for _, s := range sentences {
		r.Speak(t.Context(), turn.Speak{Turn: 1, Sentence: turn.Sentence{ID: s, Text: s, AnswerID: "a", Fixed: true}},
			"", 1)
	}
	for left := len(sentences); left > 0; {
		p, ok := <-made
		if !ok {
			break
		}
		if pieces = append(pieces, p); p.Last {
			left--
		}
	}
	r.Finish(1)
	return pieces
}

func samplesOf(pieces []turn.Piece) (pcm []float32) {
	for _, p := range pieces {
		pcm = append(pcm, p.PCM...)
	}
	return pcm
}

// A listener cannot tell an answer whose sound was made ahead from one that is synthesised while it is spoken: the
// samples differ by the rounding to 16 bits.
func TestSoundMadeAheadIsTheSoundOfTheVoice(t *testing.T) {
	e := openTestVoices(t)
	joe, err := e.Voice(t.Context(), "joe")
	if err != nil {
		t.Fatal(err)
	}
	designed := voice.Single("joe")
	designed.Shape.Pitch, designed.Rate = 2, 1.1
	other, err := e.RecipeVoice(t.Context(), designed)
	if err != nil {
		t.Fatal(err)
	}
	say := "We are open from 10:00 to 18:00, and closed on Mondays; tickets are £9.50. Ask Mr Nguyen at the desk, " +
		"who knows (nearly) everything! No."
	var sentences []string
	for _, s := range reply.Sentences(say) {
		sentences = append(sentences, s.Text)
	}
	read := britishVoices(t)
	for name, v := range map[string]engine.Synthesizer{"a voice of the library": joe, "a designed voice": other} {
		if engine.IdentityOf(v) == "" {
			t.Fatalf("%s does not say what it is", name)
		}
		store := sound.Open(t.TempDir(), sound.DefaultLimit, slog.New(slog.DiscardHandler))
		m := sound.NewMaker(sound.Parts{
			Store: store,
			Scripts: func(context.Context) ([]sound.Script, error) {
				return []sound.Script{{Speed: 1, Answers: [][]string{sentences}}}, nil
			},
			Voices:        accountVoice{v},
			Pronunciation: func(context.Context, string) text.Options { return read },
			Log:           slog.New(slog.DiscardHandler),
		})
		stop := inBackground(t.Context(), m.Run)
		for made, deadline := 0, time.Now().Add(waitLimit); made != len(sentences); made, _ = m.Progress() {
			if time.Now().After(deadline) {
				t.Fatal("the sound is not made")
			}
			time.Sleep(5 * time.Millisecond)
		}
		stop()
		want := mouthOf(t, v, nil, read, sentences...)
		got := mouthOf(t, silent{v}, store, read, sentences...)
		a, b := samplesOf(got), samplesOf(want)
		if len(a) != len(b) {
			t.Fatalf("%s: %d samples, want %d", name, len(a), len(b))
		}
		for i := range a {
			if math.Abs(float64(a[i]-b[i])) > 2.0/math.MaxInt16 {
				t.Fatalf("%s: sample %d is %v, want %v", name, i, a[i], b[i])
			}
		}
		last := func(p turn.Piece) bool { return !p.Last }
		ends := func(all []turn.Piece) []turn.Piece { return slices.DeleteFunc(slices.Clone(all), last) }
		for i, p := range ends(got) {
			if p.SentenceLength != ends(want)[i].SentenceLength {
				t.Errorf("%s: sentence %d lasts %v, want %v", name, i, p.SentenceLength, ends(want)[i].SentenceLength)
			}
		}
	}
	if engine.IdentityOf(joe) == engine.IdentityOf(other) {
		t.Error("two voices have one identity")
	}
}

// silent is a voice whose engine must not be used.
type silent struct{ engine.Synthesizer }

func (s silent) Identity() string { return engine.IdentityOf(s.Synthesizer) }
func (silent) Speak(context.Context, string, engine.SpeakOptions, func(engine.Sound) error) error {
	return engine.ErrBroken
}

// Only what is the same in every chat is in a script.
func TestScriptsHaveTheAnswersWithoutVariables(t *testing.T) {
	s := scriptOf("ann", contract.ReturnConfig{
		Voice: &contract.ReturnVoice{ID: "voice-joe"},
		Answers: &contract.Answers{Unknown: "I don't know. Ask at the desk.", Items: []contract.AnswerItem{
			{ID: "hours", Say: "We open at ten. Bye."},
			{ID: "hello", Say: "Hello, {{name}}. Welcome."},
		}},
	})
	var all []string
	for _, a := range s.Answers {
		all = append(all, strings.Join(a, "|"))
	}
	want := []string{"I don't know.|Ask at the desk.", "We open at ten.|Bye."}
	if !slices.Equal(all, want) || s.Account != "ann" || s.Voice != "voice-joe" || s.Speed != 1 {
		t.Errorf("%+v", s)
	}
}

// madeAhead waits until the box has made the sound of n sentences, and returns the files and when they were written.
func (b *runningBox) madeAhead(t *testing.T, n int) (files []string) {
	t.Helper()
	want := fmt.Sprintf("\nparley_answer_sentences %d\nparley_answer_sentences_made %d\n", n, n)
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(50 * time.Millisecond) {
		_, figures := b.ask(t, b.key, http.MethodGet, "/metrics", "")
		entries, err := os.ReadDir(filepath.Join(b.cfg.Data, layout.AnswerSound))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		lines := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(figures, "")
		if len(entries) >= n && strings.Contains(lines, want) {
			for _, e := range entries {
				if info, err := e.Info(); err == nil {
					files = append(files, e.Name()+" "+info.ModTime().String())
				}
			}
			return files
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are %d files; the figures are %s", len(entries), lines)
		}
	}
}

// The sound is made when a config is saved, and made anew for what a new version or a pronunciation changes. A chat
// plays it: it neither stores other sound nor writes this again.
func TestSoundOfASavedConfigIsMadeAheadAndPlayed(t *testing.T) {
	b := startBox(t, withScriptedModel(t))
	config := b.post(t, "/v0/evi/configs", `{"name":"museum","evi_version":"3","voice":{"name":"joe"},"answers":{
		"mode":"only","unknown":"Please ask at the desk.",
		"items":[{"id":"hours","ask":["When are you open?"],"say":"We open at ten. We close at six."}]}}`)
	first := b.madeAhead(t, 3)
	c := b.call(t, "&config_id="+config)
	c.send(contract.UserInput{Text: "When are you open?"})
	heard := c.until("assistant_end", 1, waitLimit)
	if got := assistantText(heard); got != "We open at ten. We close at six." {
		t.Errorf("it said %q", got)
	}
	if now := b.madeAhead(t, 3); !slices.Equal(now, first) {
		t.Errorf("the chat stored %q, made ahead were %q", now, first)
	}
	b.post(t, "/v0/evi/configs/"+config, `{"evi_version":"3","voice":{"name":"joe"},"answers":{
		"items":[{"id":"hours","ask":["When are you open?"],"say":"We open at nine. We close at six."}]}}`)
	if now := b.madeAhead(t, 2); len(now) != 4 {
		t.Errorf("there are %d files after one sentence has changed, want 4", len(now))
	}
}
