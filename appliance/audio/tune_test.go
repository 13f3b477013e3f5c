package audio

import (
	"math"
	"testing"
)

// The tune is quiet and evenly loud, has nothing that a telephone cannot carry, and can be
// repeated without a click.
func TestTuneCanBeHeardRoundAndRound(t *testing.T) {
	for _, hz := range []int{8000, 16000, 48000} {
		pcm := Tune(hz)
		if got := Loudness(pcm, hz); math.Abs(got-tuneLUFS) > 0.5 {
			t.Errorf("%d Hz: %.1f LUFS, want %d", hz, got, tuneLUFS)
		}
		peak, steepest := float32(0), float32(0)
		for i := range len(pcm) - 1 {
			step := pcm[i+1] - pcm[i]
			peak, steepest = max(peak, pcm[i], -pcm[i]), max(steepest, step, -step)
		}
		seam := pcm[0] - pcm[len(pcm)-1]
		if peak > 0.25 || max(seam, -seam) > steepest/2 {
			t.Errorf("%d Hz: peak %.2f, from the last sample to the first %.4f, elsewhere up to %.4f", hz, peak, seam,
				steepest)
		}
		for second := range len(pcm) / hz {
			if level := decibels(rms(pcm[second*hz : (second+1)*hz])); level < -40 || level > -24 {
				t.Errorf("%d Hz: second %d has %.1f dB", hz, second, level)
			}
		}
		above := Resample(Resample(pcm, hz, 8000), 8000, hz)
		if got := snr(above, pcm); got < 50 {
			t.Errorf("%d Hz: with 8 kHz only %.1f dB of the tune is left", hz, got)
		}
	}
}
