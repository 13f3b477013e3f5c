package engines

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
)

// Whether a voice exists is known at once; an error in loading it is returned to the callers that
// wait for it, and forgotten.
func TestAVoiceThatFailsIsLoadedAgain(t *testing.T) {
	c := config.Config{Packs: t.TempDir()}
	write(t, filepath.Join(c.Packs, "voice-joe", "voice.onnx"), "x")
	e := Set{cfg: c, voices: map[string]*voicePack{}, log: slog.New(slog.DiscardHandler)}
	if err := e.Prepare("joe"); err != nil {
		t.Fatal(err)
	}
	if err := e.Prepare("jenny"); err == nil || !strings.Contains(err.Error(), "choose of Joe") {
		t.Errorf("of a voice that is not there: %v", err)
	}
	for range 2 {
		if _, err := e.Voice(t.Context(), "voice-joe"); err == nil ||
			!strings.Contains(err.Error(), "description is missing") {
			t.Errorf("got %v", err)
		}
		if len(e.voices) > 0 {
			t.Error("a voice that failed is kept")
		}
	}
	write(t, filepath.Join(c.Packs, "voice-joe", "voice.json"), "{")
	if _, err := e.Voice(t.Context(), "joe"); err == nil ||
		!strings.Contains(err.Error(), "not a Piper voice's description") {
		t.Errorf("after the pack was changed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.voices["voice-joe"] = &voicePack{loaded: make(chan struct{})} // still loading
	if _, err := e.Voice(ctx, "joe"); err != context.Canceled {
		t.Errorf("who has gone gets %v", err)
	}
}
