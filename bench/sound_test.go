package bench

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const testRateHz = 16000

// tone returns a sine of that level, in dB below full scale.
func tone(d time.Duration, dB float64) []float32 {
	pcm := make([]float32, int(d.Seconds()*testRateHz))
	for i := range pcm {
		pcm[i] = float32(math.Pow(10, dB/20) * math.Sin(2*math.Pi*440*float64(i)/testRateHz))
	}
	return pcm
}

func silence(d time.Duration) []float32 { return make([]float32, int(d.Seconds()*testRateHz)) }

func joined(parts ...[]float32) []float32 {
	var pcm []float32
	for _, p := range parts {
		pcm = append(pcm, p...)
	}
	return pcm
}

func TestSoundIsFoundToTheHundredthOfASecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, low int) time.Duration {
			return time.Duration(rapid.IntRange(low, 800).Draw(t, name)) * time.Millisecond
		}
		before, sound, after := ms("before", 0), ms("sound", 20), ms("after", 0)
		loud := rapid.Float64Range(-60, 0).Draw(t, "dB")
		begin, end, ok := span(joined(silence(before), tone(sound, loud), silence(after)), testRateHz)
		if !ok || begin > before || before-begin >= windowDuration || end < before+sound ||
			end-before-sound >= windowDuration {
			t.Fatalf("sound from %v to %v was found from %v to %v", before, before+sound, begin, end)
		}
	})
}

func TestWhatIsFarBelowTheLoudestIsSilence(t *testing.T) {
	word := tone(200*time.Millisecond, -6)
	for _, row := range []struct {
		name  string
		tail  float64 // dB
		heard bool
	}{
		{"a breath", -40, true}, {"the room", -50, false},
	} {
		_, end, _ := span(joined(word, tone(300*time.Millisecond, row.tail)), testRateHz)
		if heard := end > 250*time.Millisecond; heard != row.heard {
			t.Errorf("%s at %g dB behind a word at -6 dB: the sound ends at %v", row.name, row.tail, end)
		}
	}
	for _, pcm := range [][]float32{nil, {}, silence(time.Second)} {
		if begin, end, ok := span(pcm, testRateHz); ok {
			t.Errorf("%d samples of silence sound from %v to %v", len(pcm), begin, end)
		}
	}
}

// A breath does not count as sound of a voice, though it is the loudest part of its
// piece.
func TestTheFirstSoundOfAVoiceIsNoBreath(t *testing.T) {
	breath, word := tone(150*time.Millisecond, -70), tone(100*time.Millisecond, -12)
	for _, row := range []struct {
		pcm     []float32
		silence time.Duration
		audible bool
	}{
		{joined(breath, word), 150 * time.Millisecond, true},
		{breath, 150 * time.Millisecond, false},
		{word, 0, true},
		{joined(silence(30*time.Millisecond), word), 30 * time.Millisecond, true},
		{nil, 0, false},
	} {
		if got, ok := leadingSilence(row.pcm, testRateHz); got != row.silence || ok != row.audible {
			t.Errorf("%d samples: %v of silence, audible %v; want %v, %v", len(row.pcm), got, ok, row.silence,
				row.audible)
		}
	}
}

func TestTheLongestPauseIsBetweenSounds(t *testing.T) {
	word := tone(100*time.Millisecond, -6)
	pcm := joined(silence(time.Second), word, silence(150*time.Millisecond), word, silence(310*time.Millisecond), word,
		silence(2*time.Second))
	if got := longestPause(pcm, testRateHz); got != 310*time.Millisecond {
		t.Errorf("the longest pause is %v, want 310ms", got)
	}
	if got := longestPause(silence(time.Second), testRateHz); got != 0 {
		t.Errorf("silence has a pause of %v", got)
	}
}
