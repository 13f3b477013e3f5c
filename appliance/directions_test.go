package appliance

import (
	"log/slog"
	"os"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/voices"
	"parley/internal/packtest"
)

// spokenAs is what can be measured of how something is said.
type spokenAs struct {
	seconds, lufs, hz, moves float64
}

// TestADirectionIsHeard has the default voice say the same as directed, and
// measures it beside how it says it by itself.
func TestADirectionIsHeard(t *testing.T) {
	packtest.File(t, "voice-joe", "voice.onnx")
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"profile": "test"}, Environ: os.Environ(),
		Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engines.Open(t.Context(), cfg, engines.Designing|engines.Once, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	speaking := voices.ForSpeech{Voices: voices.Voices{Config: cfg}, Engines: e}
	speak := func(direction string) spokenAs {
		t.Helper()
		v, err := speaking.Find(t.Context(), "", contract.VoiceRef{Name: "joe"}, direction)
		if err != nil {
			t.Fatal(err)
		}
		said, err := engine.SpeakWhole(t.Context(), v.Speaks,
			"The ferry leaves at noon, so we should hurry, or we will miss it.", engine.SpeakOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hz, moves := audio.Pitch(said.PCM, said.RateHz)
		s := spokenAs{float64(len(said.PCM)) / float64(said.RateHz), audio.Loudness(said.PCM, said.RateHz), hz, moves}
		t.Logf("%-12q %.2f s, %.1f LUFS, %.0f Hz, moves %.1f semitones", direction, s.seconds, s.lufs, s.hz, s.moves)
		return s
	}
	own := speak("")
	// Piper rounds each phoneme up to whole frames, so that it is never quite as fast.
	for direction, law := range map[string]func(s spokenAs) bool{
		"slow":       func(s spokenAs) bool { return s.seconds > 1.15*own.seconds },
		"very slow":  func(s spokenAs) bool { return s.seconds > 1.3*own.seconds },
		"fast":       func(s spokenAs) bool { return s.seconds < 0.88*own.seconds },
		"whispering": func(s spokenAs) bool { return s.lufs < own.lufs-3 },
		"shouting":   func(s spokenAs) bool { return s.lufs > own.lufs+3 && s.hz > 1.15*own.hz },
		"excited": func(s spokenAs) bool {
			return s.hz > 1.05*own.hz && s.moves > own.moves && s.seconds < own.seconds
		},
		"sad": func(s spokenAs) bool {
			return s.hz < own.hz && s.moves < own.moves && s.seconds > 1.15*own.seconds
		},
		"calm":     func(s spokenAs) bool { return s.seconds > 1.08*own.seconds && s.moves < own.moves },
		"monotone": func(s spokenAs) bool { return s.moves < 0.65*own.moves },
	} {
		if s := speak(direction); !law(s) {
			t.Errorf("%q: %+v beside %+v", direction, s, own)
		}
	}
}
