package appliance

import (
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

// Speech and language models use the processor's matrix unit, each with its own
// configuration of a thread: neither may compute on the other's threads.
func TestSpeechDoesNotDisturbTheLanguageModel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // few threads, which both use in turn
	cfg, err := config.Load(config.Sources{
		Flags:   map[string]string{"profile": "test"},
		Environ: os.Environ(),
		Dir:     t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	open := func(which engines.Selection) *engines.Set {
		opened, err := engines.Open(t.Context(), cfg, which, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		return opened
	}
	model := open(engines.Thinking).Model
	voice, err := open(engines.Speaking).Voice(t.Context(), "heart") // its model has 8-bit weights
	if err != nil {
		t.Fatal(err)
	}
	p := engine.Prompt{MaxTokens: 6,
		Messages: []engine.Message{{Role: engine.User, Content: "What is the capital of France?"}}}
	for n := range 3 {
		var answer strings.Builder
		if _, err := model.Generate(t.Context(), p, func(part engine.Part) error {
			answer.WriteString(part.Text)
			return nil
		}); err != nil {
			t.Error(err)
		}
		if !strings.Contains(answer.String(), "France") {
			t.Errorf("round %d: the model says %q", n, answer.String())
		}
		if _, err := engine.SpeakWhole(t.Context(), voice, "Good morning.", engine.SpeakOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
