package config

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestVoicesAreFoundByTheirPackOrShortName(t *testing.T) {
	c := Config{Packs: filepath.Join(t.TempDir(), "packs")}
	for _, name := range []string{"voice-joe", "grandma", "voice-grandma"} {
		write(t, filepath.Join(c.Packs, name, "voice.onnx"), "x")
	}
	write(t, filepath.Join(c.Packs, "llm-qwen", "model.gguf"), "x")
	write(t, filepath.Join(c.Packs, "..", "outside", "voice.onnx"), "x")
	if got := c.Voices(); !slices.Equal(got, []string{"grandma", "voice-grandma", "voice-joe"}) {
		t.Errorf("voices %q", got)
	}
	for name, want := range map[string]string{
		"joe": "voice-joe", "voice-joe": "voice-joe",
		"grandma": "grandma", // a pack of exactly that name comes first
		"jenny":   "voice-jenny",
	} {
		if got := c.VoicePack(name); got != want {
			t.Errorf("%s: pack %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"../outside", "..", "", "/etc", "llm-qwen", "voice-joe/../../outside"} {
		if c.IsVoice(name) {
			t.Errorf("%q is taken for a voice", name)
		}
	}
}
