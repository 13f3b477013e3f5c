package onnx

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// golden holds numpy's results for testSound, with the formulas of Whisper's and smart-turn's
// authors.
type golden struct {
	Frames     []int       `json:"frames"`
	Speech     [][]float32 `json:"speech"` // of 1.3 s in a window of 1.5 s
	Full       [][]float32 `json:"full"`   // the last two frames of a full window of 1.5 s
	TurnFrames []int       `json:"turn_frames"`
	Turn       [][]float32 `json:"turn"` // of 50000 samples
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	b, err := os.ReadFile("testdata/mel.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// testSound is a wavering tone in noise, on and off each quarter of a second.
func testSound(n int) []float32 {
	pcm := make([]float32, n)
	state := uint32(1)
	for i := range pcm {
		state = state*1664525 + 1013904223
		noise := float64(state)/(1<<31) - 1
		at := float64(i) / 16000
		level := 1.0
		if int(at*4)%2 == 1 {
			level = 0.02
		}
		pcm[i] = float32(level * (0.3*math.Sin(2*math.Pi*220*at+3*math.Sin(2*math.Pi*3*at)) + 0.1*noise))
	}
	return pcm
}

// wantColumns compares frames of a spectrogram with numpy's.
func wantColumns(t *testing.T, got []float32, frames int, columns []int, want [][]float32) {
	t.Helper()
	for i, c := range columns {
		for b := range melBands {
			if x, w := got[b*frames+c], want[i][b]; math.Abs(float64(x-w)) > 2e-4 {
				t.Fatalf("band %d of frame %d is %v, numpy has %v", b, c, x, w)
			}
		}
	}
}

func TestMelIsNumpys(t *testing.T) {
	g := readGolden(t)
	mel := newMelBank()
	got := make([]float32, melBands*150)
	mel.features(got, testSound(20800), 150)
	wantColumns(t, got, 150, g.Frames, g.Speech)
	mel.features(got, testSound(24000), 150)
	wantColumns(t, got, 150, []int{148, 149}, g.Full)
	mel.features(got, testSound(30000), 150) // sound beyond the window is ignored
	wantColumns(t, got, 150, []int{148, 149}, g.Full)
}

func TestTurnHearsTheEndNormalised(t *testing.T) {
	g := readGolden(t)
	w := &turnWorkspace{sound: make([]float32, turnSound)}
	got := make([]float32, melBands*800)
	for _, before := range []int{0, 100_000} { // sound older than 8 s is ignored
		pcm := append(make([]float32, before), testSound(50000)...)
		w.setSound(pcm)
		newMelBank().features(got, w.sound, 800)
		wantColumns(t, got, 800, g.TurnFrames, g.Turn)
	}
}

func TestMelOfSilenceIsOneLevel(t *testing.T) {
	got := make([]float32, melBands*10)
	newMelBank().features(got, make([]float32, 1600), 10)
	for i, x := range got {
		if x != -1.5 { // (log10(1e-10) + 4) / 4
			t.Fatalf("number %d of silence is %v, want -1.5", i, x)
		}
	}
}
