package chat

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/connection"
	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/internal/packtest"
)

// A turn is published when the requested silence is over, counted from the last sound of the voice. Neither
// the detector's frames nor the client's chunks add to it.
func TestATurnIsPublishedWhenItsSilenceIsOver(t *testing.T) {
	rt, err := onnx.Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	silero, err := onnx.LoadSilero(rt, packtest.File(t, "turn", "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := silero.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := silero.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := []string{"vm-goodbye", "pbx-invalid", "conf-onlyperson", "vm-sorry"}
	t.Run("turns", func(t *testing.T) {
		i := 0
		for _, silence := range []time.Duration{500 * time.Millisecond, 800 * time.Millisecond} {
			for _, chunk := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
				name := names[i]
				i++
				t.Run(fmt.Sprint(silence, " in chunks of ", chunk), func(t *testing.T) {
					t.Parallel()
					late, lag := lateness(t, silero, name, silence, chunk)
					t.Log(name, late, "on a machine that wakes up to", lag, "late")
					// On a quiet machine it is 15 ms at most; the detector's end and frames alone would make
					// it 60 to 110.
					if late < -40*time.Millisecond || late > 40*time.Millisecond+lag {
						t.Errorf("%s: the message came %v after the silence, where a sleeper wakes up to %v late", name,
							late, lag)
					}
				})
			}
		}
	})
}

// lateness plays a recording to a session in real time. It returns how much later than the silence its
// message comes, and the worst delay of a timer on this machine meanwhile.
func lateness(t *testing.T, d engine.VoiceDetector, name string, silence, chunk time.Duration) (late,
	lag time.Duration) {
	file, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	said, err := audio.DecodeAll(file, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	f := newFakes()
	c := begin(t, hostOf(f, func(p *Parts) {
		p.Detector = d
		p.Defaults.EndOfTurnSilence = silence
	}), connection.Opening{Line: f})
	const quiet = 300 * time.Millisecond
	sound := slices.Concat(make([]float32, audio.Samples(quiet, engine.SpeechRateHz)), said,
		make([]float32, 2*engine.SpeechRateHz))
	end := quiet + lastSound(said)
	n := audio.Samples(chunk, engine.SpeechRateHz)
	worst := oversleeping()
	begun := time.Now()
	for at := 0; at+n <= len(sound); at += n {
		// A chunk is sent when all of it was recorded.
		time.Sleep(time.Until(begun.Add(time.Duration(at+n) * time.Second / engine.SpeechRateHz)))
		if c.Hear(sound[at:at+n]) != nil {
			t.Fatal("the chat is over")
		}
	}
	at, ok := f.when("user_message")
	if !ok {
		t.Fatalf("no message in %q", f.messages())
	}
	return at.Sub(begun) - end - silence, worst()
}

// oversleeping measures how late the machine wakes a sleeping goroutine. The returned function ends the
// measurement and returns the maximum.
func oversleeping() (worst func() time.Duration) {
	stop, measured := make(chan struct{}), make(chan time.Duration)
	go func() {
		worst := time.Duration(0)
		for {
			slept := time.Now()
			select {
			case <-time.After(10 * time.Millisecond):
				worst = max(worst, time.Since(slept)-10*time.Millisecond)
			case <-stop:
				measured <- worst
				return
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-measured
	}
}

// lastSound returns where the voice of a recording ends: after its last 8 ms that are at most 30 dB below its
// level.
func lastSound(pcm []float32) time.Duration {
	const hop = engine.SpeechRateHz / 125
	var energies []float64
	var last float32
	for i := 0; i+hop <= len(pcm); i += hop {
		var e float64
		for _, x := range pcm[i : i+hop] {
			e += math.Pow(float64(x-0.9*last), 2)
			last = x
		}
		energies = append(energies, e)
	}
	top := slices.Sorted(slices.Values(energies))[len(energies)*9/10]
	n := len(energies)
	for n > 0 && energies[n-1] < top/1000 {
		n--
	}
	return time.Duration(n*hop) * time.Second / engine.SpeechRateHz
}
