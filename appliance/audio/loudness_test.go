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

	"parley/internal/packtest"
)

func TestLoudnessMatchesTheStandard(t *testing.T) {
	// EBU Tech 3341 asks -23 LUFS of a stereo tone of 1 kHz at -23 dBFS, so
	// BS.1770 gives one channel of it 3.01 less.
	for _, hz := range []int{8000, 16000, 22050, 44100, 48000} {
		pcm := tone(1000, math.Pow(10, -23.0/20), hz, 5*hz)
		if got := Loudness(pcm, hz); math.Abs(got+26.01) > 0.1 {
			t.Errorf("%d Hz: %.2f LUFS; want -26.01", hz, got)
		}
	}
}

func TestLoudnessMatchesFFmpeg(t *testing.T) {
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

func TestPausesDoNotAffectLoudness(t *testing.T) {
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

func TestFadeEdgesSilencesTheEnds(t *testing.T) {
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
