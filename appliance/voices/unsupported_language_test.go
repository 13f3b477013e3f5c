package voices

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
)

// withVoices returns the settings of a box with Joe, and with Piper voices of other
// languages.
func withVoices(t *testing.T, transcriber, own string) config.Config {
	t.Helper()
	c := config.Config{Packs: t.TempDir()}
	c.Engines.Transcriber, c.Engines.Voice = transcriber, own
	for file, text := range map[string]string{
		"voice-joe/voice.onnx":  "x",
		"voice-dora/voice.onnx": "x",
		"voice-dora/voice.json": `{"audio": {"sample_rate": 22050}, "espeak": {"voice": "es"}, "phoneme_id_map": ` +
			`{"^": [1], "_": [0], "$": [2]}, "num_speakers": 1, "inference": {"length_scale": 1}}`,
		"voice-emma/voice.onnx": "x",
		"voice-emma/voice.json": `{"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-gb"}, "phoneme_id_map": ` +
			`{"^": [1], "_": [0], "$": [2]}, "num_speakers": 1, "inference": {"length_scale": 1}, "language": ` +
			`{"code": "en_GB"}}`,
		"voice-other/voice.onnx": "x",
	} {
		file = filepath.Join(c.Packs, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestHearingProblemNamesTheLanguage(t *testing.T) {
	for _, row := range []struct{ transcriber, own, name, want string }{
		{"moonshine", "voice-joe", "", ""},
		{"moonshine", "voice-joe", "joe", ""},
		{"moonshine", "voice-joe", "dora", "Spanish"},
		{"moonshine", "voice-dora", "", "Spanish"},
		{"moonshine", "voice-other", "", ""},
		{"moonshine", "voice-joe", "Emma", ""},
		{"moonshine", "voice-joe", "nobody", ""},
		{"whisper", "voice-joe", "dora", ""},
	} {
		got := LanguageProblem(withVoices(t, row.transcriber, row.own), row.name)
		if (got != "") != (row.want != "") || !strings.Contains(got, row.want) {
			t.Errorf("%+v: %q", row, got)
		}
	}
}

func TestWarningIsLoggedOncePerVoice(t *testing.T) {
	var log bytes.Buffer
	v := NewForChats(Voices{Config: withVoices(t, "moonshine", "voice-joe")}, nil,
		slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		v.warn("")
		v.warn("dora")
	}
	if n := strings.Count(log.String(), "engines.transcriber"); n != 1 {
		t.Errorf("warned %d times: %s", n, log.String())
	}
}
