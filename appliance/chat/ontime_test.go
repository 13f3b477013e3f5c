package chat

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/internal/packtest"
)

// A turn is told when the silence that was asked for is over, counted from the
// last sound of the voice: neither the detector's frames nor the client's chunks
// add to it.
func TestTurnIsToldWhenItsSilenceIsOver(t *testing.T) {
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
					late := lateness(t, silero, name, silence, chunk)
					t.Log(name, late)
					// On a quiet machine it is 15 ms at most; the detector's own
					// end and frames alone would make it 60 to 110.
					if late < -40*time.Millisecond || late > 40*time.Millisecond {
						t.Errorf("%s: the message came %v after the silence", name, late)
					}
				})
			}
		}
	})
}

// lateness says a recording to a session, in real time, and returns how much
// later than the silence its message comes.
func lateness(t *testing.T, d engine.VoiceDetector, name string, silence, chunk time.Duration) time.Duration {
	file, err := os.ReadFile("/usr/share/asterisk/sounds/en_US_f_Allison/" + name + ".wav")
	if err != nil {
		t.Fatalf("%v: install Debian's asterisk-core-sounds-en-wav (`make packs` does)", err)
	}
	said, err := audio.DecodeAll(file, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	f := newFakes()
	defaults := DefaultSettings()
	defaults.EndOfTurnSilence = silence
	h := NewHost(t.Context(), Parts{
		Detector: d, Transcriber: f, Model: f, Voices: f, Records: f,
		Defaults: defaults, Log: slog.New(slog.DiscardHandler), MaxChats: 1,
	})
	seat, err := h.Reserve("a")
	if err != nil {
		t.Fatal(err)
	}
	c, err := seat.Open(t.Context(), Opening{Account: "a", Line: f})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.HangUp()
		<-c.Done()
	})
	const quiet = 300 * time.Millisecond
	sound := slices.Concat(make([]float32, audio.Samples(quiet, engine.SpeechRateHz)), said, make([]float32, 2*engine.SpeechRateHz))
	end := quiet + lastSound(said)
	n := audio.Samples(chunk, engine.SpeechRateHz)
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
	return at.Sub(begun) - end - silence
}

// lastSound is where a recording's voice ends: after its last 8 ms that are less
// than 30 dB under it.
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
