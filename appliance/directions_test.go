package appliance

import (
	"log/slog"
	"math"
	"os"
	"slices"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/voices"
	"parley/internal/packtest"
)

// speechMeasures are the measures of speech that directions change.
type speechMeasures struct {
	seconds, lufs, hz, moves float64
}

// A direction changes the default voice measurably, compared with the same text without a
// direction.
func TestDirectionIsAudible(t *testing.T) {
	packtest.File(t, "voice-joe", "voice.onnx")
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"profile": "test"}, Environ: os.Environ(),
		Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engines.Open(t.Context(), cfg, engines.OnDemandVoices|engines.OneShot, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	speaking := voices.ForSpeech{Voices: voices.Voices{Config: cfg}, Engines: e}
	speak := func(direction string) speechMeasures {
		t.Helper()
		v, err := speaking.Find(t.Context(), "", contract.VoiceRef{Name: "joe"}, direction)
		if err != nil {
			t.Fatal(err)
		}
		speech, err := engine.SpeakWhole(t.Context(), v.Synthesizer,
			"The ferry leaves at noon, so we should hurry, or we will miss it.", engine.SpeakOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hz, moves := pitchOf(speech.PCM, speech.RateHz)
		s := speechMeasures{float64(len(speech.PCM)) / float64(speech.RateHz),
			audio.Loudness(speech.PCM, speech.RateHz), hz, moves}
		t.Logf("%-12q %.2f s, %.1f LUFS, %.0f Hz, moves %.1f semitones", direction, s.seconds, s.lufs, s.hz, s.moves)
		return s
	}
	plain := speak("")
	// Piper rounds each phoneme up to whole frames, so it is never quite as fast.
	for direction, law := range map[string]func(s speechMeasures) bool{
		"slow":       func(s speechMeasures) bool { return s.seconds > 1.15*plain.seconds },
		"very slow":  func(s speechMeasures) bool { return s.seconds > 1.3*plain.seconds },
		"fast":       func(s speechMeasures) bool { return s.seconds < 0.88*plain.seconds },
		"whispering": func(s speechMeasures) bool { return s.lufs < plain.lufs-3 },
		"shouting":   func(s speechMeasures) bool { return s.lufs > plain.lufs+3 && s.hz > 1.15*plain.hz },
		"excited": func(s speechMeasures) bool {
			return s.hz > 1.05*plain.hz && s.moves > plain.moves && s.seconds < plain.seconds
		},
		"sad": func(s speechMeasures) bool {
			return s.hz < plain.hz && s.moves < plain.moves && s.seconds > 1.15*plain.seconds
		},
		"calm":     func(s speechMeasures) bool { return s.seconds > 1.08*plain.seconds && s.moves < plain.moves },
		"monotone": func(s speechMeasures) bool { return s.moves < 0.65*plain.moves },
	} {
		if s := speak(direction); !law(s) {
			t.Errorf("%q: %+v beside %+v", direction, s, plain)
		}
	}
}

// pitchOf returns the median pitch of a voice in Hz over its voiced frames, and the standard deviation
// in semitones of the frames within an octave of the median. Both are 0 where nothing is voiced.
func pitchOf(pcm []float32, rateHz int) (hz, movesSemitones float64) {
	const step, lowestHz, highestHz = 4, 65, 520
	low := make([]float64, len(pcm)/step)
	for i := range low {
		for _, x := range pcm[i*step : (i+1)*step] {
			low[i] += float64(x)
		}
	}
	rate := rateHz / step
	span, hop := rate/25, rate/100
	var voiced []float64
	for at := 0; at+span+rate/lowestHz < len(low); at += hop {
		if f := framePitch(low[at:], rate, span, rate/highestHz, rate/lowestHz); f > 0 {
			voiced = append(voiced, f)
		}
	}
	if len(voiced) == 0 {
		return 0, 0
	}
	slices.Sort(voiced)
	hz = voiced[len(voiced)/2]
	var sum, squares, n float64
	for _, f := range voiced {
		if x := 12 * math.Log2(f/hz); math.Abs(x) < 12 { // more means that a multiple of the period was found
			sum, squares, n = sum+x, squares+x*x, n+1
		}
	}
	return hz, math.Sqrt(max(squares/n-sum/n*sum/n, 0))
}

// framePitch returns the pitch at the beginning of pcm in Hz, 0 where it is not voiced: the shortest lag
// whose autocorrelation is nearly as good as the best.
func framePitch(pcm []float64, rate, span, shortest, longest int) float64 {
	likeness := make([]float64, longest+1)
	best := 0.0
	for lag := shortest; lag <= longest; lag++ {
		var xy, xx, yy float64
		for i := range span {
			x, y := pcm[i], pcm[i+lag]
			xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
		}
		if xx > 1e-5*float64(span) && yy > 1e-5*float64(span) {
			likeness[lag] = xy / math.Sqrt(xx*yy)
		}
		best = max(best, likeness[lag])
	}
	if best < 0.5 {
		return 0
	}
	for lag := shortest + 1; lag < longest; lag++ {
		if l := likeness[lag]; l >= 0.88*best && l >= likeness[lag-1] && l >= likeness[lag+1] {
			bend, exact := likeness[lag-1]-2*l+likeness[lag+1], float64(lag)
			if bend < 0 {
				exact += 0.5 * (likeness[lag-1] - likeness[lag+1]) / bend
			}
			return float64(rate) / exact
		}
	}
	return 0
}
