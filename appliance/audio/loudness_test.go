package audio

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/packtest"
)

func TestLoudnessIsWhatTheStandardSays(t *testing.T) {
	// EBU Tech 3341 asks -23 LUFS of a stereo tone of 1 kHz at -23 dBFS, so
	// BS.1770 gives one channel of it 3.01 less.
	for _, hz := range []int{8000, 16000, 22050, 44100, 48000} {
		pcm := tone(1000, math.Pow(10, -23.0/20), hz, 5*hz)
		if got := Loudness(pcm, hz); math.Abs(got+26.01) > 0.1 {
			t.Errorf("%d Hz: %.2f LUFS; want -26.01", hz, got)
		}
	}
}

func TestLoudnessOfAVoiceIsFFmpegs(t *testing.T) {
	for _, name := range []string{"vm-intro", "demo-congrats", "tt-weasels"} {
		pcm, hz := ffmpegDecode(t, ffmpeg(t, "a.wav",
			"-i "+packtest.Recording(t, name)+" -t 6 -ar 48000 -c:a pcm_s16le OUT"), "a.wav")
		path := filepath.Join(t.TempDir(), "a.wav")
		if err := os.WriteFile(path, EncodeWAV(pcm, hz), 0o600); err != nil {
			t.Fatal(err)
		}
		msg, err := exec.Command("ffmpeg", "-hide_banner", "-i", path, "-af", "ebur128", "-f", "null",
			"-").CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(`I: +(-?[0-9.]+) LUFS`).FindAllSubmatch(msg, -1)
		want, _ := strconv.ParseFloat(string(all[len(all)-1][1]), 64)
		if got := Loudness(pcm, hz); math.Abs(got-want) > 0.15 {
			t.Errorf("%s: %.2f LUFS; ffmpeg says %.1f", name, got, want)
		}
	}
}

func TestPausesDoNotCountAsLoudness(t *testing.T) {
	speech := tone(1000, 0.1, 16000, 5*16000)
	alone := Loudness(speech, 16000)
	if got := Loudness(append(slices.Clone(speech), make([]float32, 20*16000)...), 16000); math.Abs(got-alone) > 0.3 {
		t.Errorf("%.2f LUFS with a pause, %.2f without", got, alone)
	}
	if got := Loudness(make([]float32, 16000), 16000); !math.IsInf(got, -1) {
		t.Errorf("silence has %v LUFS", got)
	}
	if got := Loudness(speech[:1600], 16000); math.Abs(got-alone) > 1 {
		t.Errorf("100 ms have %.2f LUFS, 5 s %.2f", got, alone)
	}
	if got := Loudness(nil, 16000); !math.IsInf(got, -1) {
		t.Errorf("nothing has %v LUFS", got)
	}
}

func TestLimitedAudioStaysUnderItsCeilingAndElsewhereAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ceiling := rapid.Float32Range(0.05, 1).Draw(t, "ceiling")
		pcm := make([]float32, rapid.IntRange(0, 3000).Draw(t, "n"))
		in := rapid.SliceOfN(rapid.Float32Range(-3, 3), 0, 8).Draw(t, "peaks")
		for i := range pcm {
			pcm[i] = ceiling / 2
		}
		far := make([]bool, len(pcm))
		for i := range far {
			far[i] = true
		}
		for _, v := range in {
			if len(pcm) == 0 {
				break
			}
			at := rapid.IntRange(0, len(pcm)-1).Draw(t, "at")
			pcm[at] = v
			for i := max(0, at-2*limitReach); i < min(len(pcm), at+2*limitReach); i++ {
				far[i] = false
			}
		}
		was := slices.Clone(pcm)
		Limit(pcm, ceiling)
		for i, v := range pcm {
			if v > ceiling || v < -ceiling {
				t.Fatalf("sample %d is %v over %v", i, v, ceiling)
			}
			if far[i] && v != was[i] {
				t.Fatalf("sample %d, far from any peak, became %v from %v", i, v, was[i])
			}
		}
	})
}

func TestLimitingDoesNotClick(t *testing.T) {
	pcm := tone(200, 0.5, 48000, 48000)
	for i := 20000; i < 28000; i++ {
		pcm[i] *= 3
	}
	loud := slices.Clone(pcm)
	Limit(pcm, 0.9)
	for i := 1; i < len(pcm); i++ {
		before, after := gainAt(loud, pcm, i-1), gainAt(loud, pcm, i)
		if d := math.Abs(before - after); d > 0.02 {
			t.Fatalf("the gain jumps by %.3f at sample %d", d, i)
		}
	}
}

func gainAt(before, after []float32, i int) float64 {
	for math.Abs(float64(before[i])) < 0.05 && i > 0 {
		i--
	}
	if i == 0 {
		return 1
	}
	return float64(after[i]) / float64(before[i])
}

func TestFadedEdgesBeginAndEndInSilence(t *testing.T) {
	pcm := make([]float32, 4800)
	for i := range pcm {
		pcm[i] = 1
	}
	FadeEdges(pcm, 48000, 5*time.Millisecond)
	if pcm[0] != 0 || pcm[len(pcm)-1] != 0 || pcm[240] != 1 || pcm[120] < 0.45 || pcm[120] > 0.55 {
		t.Errorf("%v … %v … %v … %v", pcm[0], pcm[120], pcm[240], pcm[len(pcm)-1])
	}
	for i := 1; i < 240; i++ {
		if pcm[i] < pcm[i-1] || pcm[i]-pcm[i-1] > 0.01 {
			t.Fatalf("sample %d: from %v to %v", i, pcm[i-1], pcm[i])
		}
	}
	short := []float32{1, 1, 1}
	FadeEdges(short, 48000, time.Second)
	FadeEdges(nil, 48000, time.Second)
	if short[0] != 0 || short[1] != 1 || short[2] != 0 {
		t.Errorf("short audio: %v", short)
	}
}
