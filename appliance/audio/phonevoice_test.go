package audio

import (
	"math"
	"testing"
	"time"
)

// phoneHeard returns what a telephone hears of a voice at CallRateHz, at 48 kHz.
func phoneHeard(t *testing.T, c PhoneCodec, pcm []float32) (heard []float32) {
	t.Helper()
	e := NewVoiceEncoder(c)
	d, err := NewPhoneDecoder(c, CallRateHz)
	if err != nil {
		t.Fatal(err)
	}
	for n := Samples(CallFrame, CallRateHz); len(pcm) >= n; pcm = pcm[n:] {
		packet, err := e.Encode(pcm[:n])
		if err != nil {
			t.Fatal(err)
		}
		sound, err := d.Decode(packet)
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, sound...)
	}
	return heard
}

// A voice at the usual level is as loud as the prompts of telephone systems, and a loud one is
// not clipped.
func TestPhoneVoiceIsAsLoudAsAPrompt(t *testing.T) {
	for _, c := range []PhoneCodec{MuLaw, ALaw, G722} {
		pcm := hum(4 * time.Second)
		scale := func(lufs float64) []float32 {
			out, gain := make([]float32, len(pcm)), math.Pow(10, (lufs-Loudness(pcm, CallRateHz))/20)
			for i, x := range pcm {
				out[i] = float32(gain) * x
			}
			return out
		}
		if got := Loudness(phoneHeard(t, c, scale(-23)), CallRateHz); got < -22 || got > -17 {
			t.Errorf("%v: a voice of -23 LUFS has %.1f, want about -19", c, got)
		}
		for i, x := range phoneHeard(t, c, scale(-10)) {
			if x > 1 || x < -1 {
				t.Fatalf("%v: sample %d of a loud voice is %.2f", c, i, x)
			}
		}
	}
}

// What a telephone does not reproduce is not sent, and nothing of it appears elsewhere.
func TestPhoneVoiceKeepsToTheBand(t *testing.T) {
	level := func(hz float64) float64 {
		heard := phoneHeard(t, MuLaw, tone(hz, 0.1, CallRateHz, CallRateHz))
		return decibels(rms(heard[CallRateHz/2:]) / (0.1 / math.Sqrt2))
	}
	for _, hz := range []float64{60, 4100, 5000, 9000} {
		if got := level(hz); got > -12 {
			t.Errorf("%.0f Hz: %.1f dB", hz, got)
		}
	}
	for _, hz := range []float64{300, 800, 1500, 2500, 3400} {
		if got := level(hz); got < 3 || got > 10 {
			t.Errorf("%.0f Hz: %.1f dB, want about %d", hz, got, phoneGainDB)
		}
	}
}
