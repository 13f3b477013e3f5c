package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/engine/espeak"
)

// TestMain is the box, too: started with the arguments of parley serve, the
// test binary does what parley does then.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "parley:", strings.Join(strings.Fields(err.Error()), " "))
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(args []string) error {
	sources := config.Sources{Flags: map[string]string{}, Environ: os.Environ()}
	for i := 0; i+1 < len(args); i += 2 {
		for _, s := range config.Settings() {
			if "--"+s.Flag == args[i] {
				sources.Flags[s.Key] = args[i+1]
			}
		}
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return appliance.Run(ctx, cfg,
		appliance.Console{Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: cfg.Log.Level})),
			Out: io.Discard, Loaded: func() {}})
}

// onlyInFull skips a test that takes minutes, or a machine with nothing else to do.
func onlyInFull(t *testing.T) {
	t.Helper()
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set (make soak sets it)")
	}
}

// options are those of a short benchmark with the models of the test profile.
func options(t *testing.T) Options {
	t.Helper()
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"profile": "test"}, Environ: os.Environ(),
		Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Config:   cfg,
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil)),
		Progress: func(line string) { t.Log(line) },
		Prompts:  3,
		Rounds:   1,
		Turns:    1,
		Chats:    []int{1},
		Idle:     time.Second,
		Serve:    []string{self, "serve", "--profile", "test"},
	}
}

// started is a box that is stopped when the test is over.
func started(t *testing.T, o Options) *box {
	t.Helper()
	b, err := startBox(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// has checks that the figures are there and within what cannot but be true on
// any machine.
func (r Report) has(t *testing.T, within map[string][2]float64) {
	t.Helper()
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Error(err)
	}
	t.Log("\n" + table.String())
	found := map[string]Number{}
	for _, f := range r.Figures {
		if _, twice := found[f.Name]; twice {
			t.Errorf("two figures are %s", f.Name)
		}
		found[f.Name] = f.Value
	}
	for name, limits := range within {
		if v, ok := found[name]; !ok || !(float64(v) >= limits[0] && float64(v) <= limits[1]) {
			t.Errorf("%s is %v (%v), want %v to %v", name, v, ok, limits[0], limits[1])
		}
	}
}

func TestEarsAreMeasured(t *testing.T) {
	r, err := STT(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	r.has(t, map[string][2]float64{
		"word_error": {0, 25}, "time_per_second": {1, 5000}, "memory": {0.05, 4}, "memory_peak": {0.05, 4},
		"go_heap_per_call": {0, 1024}, "transcribe_1s": {1, 1e4}, "transcribe_10s": {10, 1e5},
		"detect_frame": {10, 1e5},
	})
}

func TestVoicesAreMeasured(t *testing.T) {
	o := options(t)
	o.Prompts = 1 // by each of the voices, and the slower ear listens to all of it
	o.Voices = []string{"joe"}
	o.Only = []string{ttsEngine, ttsHTTP, ttsWords, ttsTimes}
	o.Table = filepath.Join(t.TempDir(), "table.tsv")
	if err := os.WriteFile(o.Table,
		[]byte("# prices\nen-US\tIt is $3.50.\tIt is three dollars and fifty cents.\nen-GB\t£1\tone pound\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r, err := TTS(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.has(t, map[string][2]float64{
		"first_audio_short": {5, 1e4}, "first_audio_long": {10, 1e5}, "synthesize_8_words": {5, 1e4},
		"first_sound_8_words": {5, 1e4},
		"passages_8_words":    {3, 8}, "longest_passage_26_words": {5, 1e4},
		"http_first_sound_3_words": {5, 1e5}, "http_first_sound_30_words": {5, 1e5},
		"joe_word_error": {0, 10}, "joe_real_time_factor": {0.001, 20}, "joe_loudness": {-30, -10},
		"joe_table_word_error": {0, 50}, "joe_word_time_error": {0, 150},
	})
}

func TestPartsOfTheVoicesMeasurementThatCannotBeAreNamed(t *testing.T) {
	o := options(t)
	o.Only = []string{"sound"}
	if _, err := TTS(t.Context(), o); err == nil || !strings.Contains(err.Error(), "engine, http") {
		t.Errorf("%v", err)
	}
	for content, want := range map[string]string{"en-US\tonly two\n": "2 columns", "# nothing\n": "no row"} {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tableOf(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "python")
	if _, err := startPeer(t.Context(), nowhere, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "pip install piper-tts") {
		t.Errorf("%v", err)
	}
}

func TestTheLanguageModelIsMeasured(t *testing.T) {
	onlyInFull(t)
	r, err := LLM(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	r.has(t, map[string][2]float64{
		"first_token_without_cache": {1, 1e5}, "first_token_with_cache": {1, 1e5}, "tokens_at_4_at_once": {0.1, 1e4},
		"prompt_tokens": {1, 1e5}, "reply_tokens": {0.1, 1e4}, "memory": {0.1, 4},
	})
}

func TestConversationsAreMeasured(t *testing.T) {
	onlyInFull(t)
	o := options(t)
	o.Chats = []int{2}
	r, err := Talk(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// No answer can sound before the silence has passed that ends a turn.
	r.has(t, map[string][2]float64{
		"ready": {0.1, 100}, "idle": {0, 50}, "silent_chat": {0.1, 100}, "answer_median": {780, 45e3},
		"chat_2_answer_median": {780, 45e3},
		"stage_hear_median":    {-5e3, 45e3}, "stage_answer_median": {-5e3, 45e3}, "word_error": {0, 50},
		"memory":      {0.2, 4},
		"turns_early": {0, 1}, "turns_unanswered": {0, 1},
	})
}

func TestABoxThatCannotStartSaysWhy(t *testing.T) {
	o := options(t)
	o.Serve = append(o.Serve, "--packs", t.TempDir())
	if _, err := Talk(t.Context(), o); err == nil || !strings.Contains(err.Error(), "parley packs pull") {
		t.Errorf("without packs: %v", err)
	}
	o.Serve = []string{"/not/there"}
	if _, err := Talk(t.Context(), o); err == nil || !strings.Contains(err.Error(), "/not/there") {
		t.Errorf("without a program: %v", err)
	}
}

// One of each thing that is said in the benches of turns and newcomers, to a
// real box: a minute and more.
func TestTurnTakingAndNewcomersAreMeasured(t *testing.T) {
	onlyInFull(t)
	o := options(t)
	o.Modes = []string{"800"}
	b := started(t, o)
	said, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	speech := turnsBetween(said, shortestSpeech, longestSpeech, 1)[0]
	long := hesitations(said, 6)[5:]
	r := Report{}
	err = measureTurns(t.Context(), &r, o, b.place,
		material{paused: long, whole: finished(said, 1), disturbing: []disturbance{
			{kind: someSpeech, name: speech.Name, pcm: speech.PCM},
			{kind: anEcho, name: "echo", echo: echo{80 * time.Millisecond, 0.1}}, noise(4),
		}})
	if err != nil {
		t.Fatal(err)
	}
	// A pause of 1.5 s is longer than 800 ms of silence on any machine, and no
	// turn is over before that.
	r.has(t, map[string][2]float64{
		"silence_800_cut_off": {100, 100}, "silence_800_wait_median": {700, 8e3},
		"silence_800_answer_median": {700, 8e3},
		"disturbances_failed":       {0, 0}, "missed": {0, 0}, "stop_median": {-500, 1e3}, "false_echo": {0, 100},
	})

	n := newcomers{o: o, box: b}
	if took, err := n.reading(t.Context(), 300); err != nil || took <= 0 || took > boxReady {
		t.Errorf("300 tokens were read in %v, %v", took, err)
	}
	var p pairs
	if err := n.visit(t.Context(), terms{prompt: n.prompt(300)}, speech, &p); err != nil || len(p.first) != 1 ||
		len(p.second) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
