package phone

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/internal/packtest"
)

// recorded returns a recording of a person on a telephone.
func recorded(t *testing.T, name string) []float32 {
	t.Helper()
	file, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(file, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func TestSpeechIsNoBeep(t *testing.T) {
	n := 0
	for i, name := range slices.Sorted(maps.Keys(packtest.Words(t))) {
		if i%8 != 0 {
			continue // all 542 were tried
		}
		if _, err := os.Stat("/usr/share/asterisk/sounds/en_US_f_Allison/" + name + ".wav"); err != nil {
			continue
		}
		n++
		if (&beeps{}).hear(recorded(t, name)) {
			t.Errorf("%s counts as a beep", name)
		}
	}
	t.Logf("%d recordings", n)
}

func TestABeepIsFoundInTheNoiseOfALine(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for _, hz := range []float64{400, 440, 800, 1000, 1400, 2000} {
		for _, level := range []float32{0.03, 0.1, 0.5} {
			pcm := make([]float32, engine.SpeechRateHz/2)
			for i := range pcm {
				at := float64(i) / engine.SpeechRateHz
				if at > 0.1 && at < 0.4 {
					pcm[i] = level * float32(math.Sin(2*math.Pi*hz*at))
				}
				pcm[i] += float32(noise.NormFloat64()) * level / 30 // 27 dB below the tone
			}
			b := &beeps{}
			found := false
			for piece := range slices.Chunk(pcm, 320) {
				found = b.hear(piece) || found
			}
			if !found || b.sounding() {
				t.Errorf("a beep of %v Hz at %v: found %v, still sounding %v", hz, level, found, b.sounding())
			}
		}
	}
	for _, name := range []string{"beep"} {
		if !(&beeps{}).hear(recorded(t, name)) {
			t.Errorf("the recording %s is not found", name)
		}
	}
	keys := make([]float32, engine.SpeechRateHz/2) // the key 5: two tones
	for i := range keys {
		at := float64(i) / engine.SpeechRateHz
		keys[i] = 0.2 * float32(math.Sin(2*math.Pi*770*at)+math.Sin(2*math.Pi*1336*at))
	}
	if (&beeps{}).hear(keys) {
		t.Error("a key counts as a beep")
	}
}
