package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/engine/espeak"
	"parley/appliance/media"
)

// TestMain also runs the box: with the arguments of parley serve, the test binary acts as
// parley.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	media.Main()
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
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: cfg.Log.Level}))
	return appliance.Run(ctx, cfg, appliance.Console{Log: log})
}

// onlyInFull skips a test that takes minutes, or needs an otherwise idle machine.
func onlyInFull(t *testing.T) {
	t.Helper()
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set (make soak sets it)")
	}
}

// options returns the options of a short benchmark with the models of the test profile.
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
		Config:       cfg,
		Log:          slog.New(slog.NewTextHandler(t.Output(), nil)),
		Progress:     func(line string) { t.Log(line) },
		Prompts:      3,
		Rounds:       1,
		Turns:        1,
		Chats:        []int{1},
		Idle:         time.Second,
		ServeCommand: []string{self, "serve", "--profile", "test"},
	}
}

// has checks that the figures exist, with values that are possible on any machine.
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

func TestTheVoiceIsMeasured(t *testing.T) {
	r, err := TTS(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	r.has(t, map[string][2]float64{
		"first_sound_2_words": {1, 1e4}, "first_sound_26_words": {1, 1e4}, "whole_2_words": {5, 1e4},
		"whole_26_words": {10, 1e5}, "real_time_factor": {0.001, 20}, "processor_factor": {0.001, 20},
		"memory": {0.05, 4},
	})
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
		"word_error":           {0, 50}, "memory": {0.2, 4},
		"turns_early": {0, 1}, "turns_unanswered": {0, 1},
	})
}

func TestABoxThatCannotStartSaysWhy(t *testing.T) {
	o := options(t)
	o.ServeCommand = append(o.ServeCommand, "--packs", t.TempDir())
	if _, err := Talk(t.Context(), o); err == nil || !strings.Contains(err.Error(), "parley packs pull") {
		t.Errorf("without packs: %v", err)
	}
	o.ServeCommand = []string{"/not/there"}
	if _, err := Talk(t.Context(), o); err == nil || !strings.Contains(err.Error(), "/not/there") {
		t.Errorf("without a program: %v", err)
	}
}
