package speaker

import (
	"math"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/engine/enginetest"
)

// mostBuffered bounds the sound between microphone and session. The device's own periods of
// InPeriodMS are a part of it.
const mostBuffered = 30 * time.Millisecond

// Sound reaches the canceller and the session almost without delay.
func TestSoundReachesTheSessionWithinThirtyMilliseconds(t *testing.T) {
	c, err := clean.Open(clean.Options{RateHz: earHz, Noise: clean.MildNoise, Gain: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e, err := newEar(c, enginetest.Detector(loudIsVoice))
	if err != nil {
		t.Fatal(err)
	}
	said := glide(4 * time.Second)
	piece := InPeriodMS * rateHz / 1000
	var fresh []float32
	longest := 0 // samples that the microphone recorded and the session does not have
	for at := 0; at+piece <= len(said); at += piece {
		if _, err := e.hear(incoming{pcm: said[at : at+piece], at: time.Now()}); err != nil {
			t.Fatal(err)
		}
		fresh = append(fresh, e.newest()...)
		longest = max(longest, (at+piece)*earHz/rateHz-len(fresh))
	}
	heard := audio.Resample(said, rateHz, earHz)
	const from, most = 3 * earHz, earHz / 20
	late, best := 0, 0.0
	for lag := range most {
		sum := 0.0
		for i := from; i < from+earHz/2; i++ {
			sum += float64(fresh[i]) * float64(heard[i-lag])
		}
		if sum > best {
			late, best = lag, sum
		}
	}
	kept, filtered := inTime(longest), inTime(late)
	if all := InPeriodMS*time.Millisecond + kept + filtered; all > mostBuffered {
		t.Errorf("%v from the microphone to the session: %d ms of the device, %v that wait for more, %v of filters; "+
			"%v are allowed", all, InPeriodMS, kept, filtered, mostBuffered)
	}
	t.Logf("%d ms of the device, %v that wait for more, %v of filters", InPeriodMS, kept, filtered)
}

func inTime(samples int) time.Duration { return time.Duration(samples) * time.Second / earHz }

// glide returns a sound like a voice, whose pitch never repeats, with changing loudness.
func glide(d time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(d, rateHz))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / rateHz
		phase += 2 * math.Pi * (100 + 30*at + 20*math.Sin(7*at)) / rateHz
		for k := 1.0; k <= 12; k++ {
			pcm[i] += float32(math.Sin(k*phase+k*k) / k * 0.15 * (1 + 0.9*math.Sin(2*math.Pi*3.7*at)))
		}
	}
	return pcm
}
