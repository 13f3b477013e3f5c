package onnx

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// voiceFolder makes a voice folder of a real model and a description modified by change.
func voiceFolder(t *testing.T, change func(config map[string]any)) string {
	t.Helper()
	raw, err := os.ReadFile(packtest.File(t, "voice-joe", "voice.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	change(config)
	if raw, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "voice.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packtest.File(t, "voice-joe", "voice.onnx"), filepath.Join(dir, "voice.onnx")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAWrongVoiceIsRefusedWithTheReason(t *testing.T) {
	rt := openRuntime(t)
	at := func(config map[string]any, key string) map[string]any { return config[key].(map[string]any) }
	for want, change := range map[string]func(map[string]any){
		`"audio.sample_rate" is missing`: func(c map[string]any) { delete(c, "audio") },
		`"audio.sample_rate" is 7`:       func(c map[string]any) { at(c, "audio")["sample_rate"] = 7 },
		`check "audio.sample_rate" (8000)`: func(c map[string]any) {
			at(c, "audio")["sample_rate"] = 8000
			at(c, "inference")["length_scale"] = 3
		},
		`"espeak.voice" is missing`:   func(c map[string]any) { delete(c, "espeak") },
		`no voice "xx-nowhere"`:       func(c map[string]any) { at(c, "espeak")["voice"] = "xx-nowhere" },
		`"phoneme_id_map" is missing`: func(c map[string]any) { delete(c, "phoneme_id_map") },
		`lacks '$'`:                   func(c map[string]any) { delete(at(c, "phoneme_id_map"), "$") },
		`knows none of the phonemes`: func(c map[string]any) {
			c["phoneme_id_map"] = map[string]any{"^": []int{1}, "$": []int{2}, "_": []int{0}}
		},
		`"phoneme_type" is "text"`:           func(c map[string]any) { c["phoneme_type"] = "text" },
		`is not a Piper voice's description`: func(c map[string]any) { c["audio"] = "loud" },
	} {
		if err := loadAndClose(t, rt, voiceFolder(t, change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if err := loadAndClose(t, rt, voiceFolder(t, func(map[string]any) {})); err != nil {
		t.Errorf("a good voice: %v", err)
	}
}

// loadAndClose loads a voice, which makes it speak.
func loadAndClose(t *testing.T, rt *Runtime, dir string) error {
	t.Helper()
	p, err := LoadPiper(rt, dir, engine.NewGate(2), openPhonemizer(t), PiperOptions{})
	if err != nil {
		return err
	}
	return p.Close()
}

func TestAFileThatIsNoModelIsRefused(t *testing.T) {
	rt := openRuntime(t)
	dir := voiceFolder(t, func(map[string]any) {})
	model := filepath.Join(dir, "voice.onnx")
	for want, content := range map[string]string{"does not load": "this is no model", "has 0 bytes": ""} {
		if err := os.Remove(model); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(model, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := loadAndClose(t, rt, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	// A model of another kind loads but does not speak.
	if err := os.Remove(model); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packtest.File(t, "turn", "silero_vad.onnx"), model); err != nil {
		t.Fatal(err)
	}
	if err := loadAndClose(t, rt, dir); err == nil {
		t.Error("Silero was taken for a voice")
	}
}
