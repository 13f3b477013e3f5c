package onnx

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func openSilero(t testing.TB) *Silero {
	t.Helper()
	rt := openRuntime(t)
	return sharedOf(t, "Silero", func() (*Silero, error) {
		e, err := LoadSilero(rt, packtest.File(t, "turn", "silero_vad.onnx"))
		if err != nil {
			return nil, err
		}
		return e, e.Warm(context.Background())
	})
}

// probabilities returns the probabilities of all whole frames of pcm.
func probabilities(t testing.TB, stream engine.VoiceStream, pcm []float32) (all []float32) {
	t.Helper()
	for ; len(pcm) >= engine.FrameSamples; pcm = pcm[engine.FrameSamples:] {
		p, err := stream.Probability(pcm[:engine.FrameSamples])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestNoVoiceInSilenceNoiseAndTones(t *testing.T) {
	s := openSilero(t)
	for name, pcm := range notSpeech() {
		for i, p := range probabilities(t, s.NewStream(), pcm) {
			if p > 0.5 {
				t.Errorf("%s: frame %d is voice with %.2f", name, i, p)
			}
		}
	}
}

func TestVoiceInEveryPrompt(t *testing.T) {
	s := openSilero(t)
	for _, p := range testPrompts(t, 40) {
		voiced := 0
		for _, p := range probabilities(t, s.NewStream(), p.pcm(t)) {
			if p > 0.5 {
				voiced++
			}
		}
		if got := voiced * engine.FrameSamples * 1000 / engine.SpeechRateHz; got < 250 {
			t.Errorf("%s: %d ms of voice, want at least 250 ms", p.name, got)
		}
	}
}

func TestVoiceStreamsDoNotHearEachOther(t *testing.T) {
	s := openSilero(t)
	pcm := prompts(t)[120].pcm(t)
	want := probabilities(t, s.NewStream(), pcm)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			stream := s.NewStream()
			probabilities(t, stream, testSound(8000))
			stream.Reset()
			for i, p := range probabilities(t, stream, pcm) {
				if p != want[i] {
					t.Errorf("frame %d: %v with other streams, %v alone", i, p, want[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestVoiceIsDetectedAfterNaN(t *testing.T) {
	s := openSilero(t)
	stream, pcm := s.NewStream(), prompts(t)[120].pcm(t)
	bad := make([]float32, 10*engine.FrameSamples)
	for i := range bad {
		bad[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32}[i%4]
	}
	probabilities(t, stream, bad)
	alone, after := probabilities(t, s.NewStream(), pcm), probabilities(t, stream, pcm)
	for i := range alone[15:] { // half a second to recover
		if a, b := alone[15+i], after[15+i]; (a > 0.5) != (b > 0.5) {
			t.Errorf("frame %d: %v after what is no number, %v otherwise", 15+i, b, a)
		}
	}
}

func TestVoiceFrameOfAnotherLengthIsRefused(t *testing.T) {
	stream := openSilero(t).NewStream()
	for _, n := range []int{0, 1, 511, 513, 1024} {
		if _, err := stream.Probability(make([]float32, n)); err == nil {
			t.Errorf("a frame of %d samples was taken", n)
		}
	}
}

func TestVoiceFrameAllocatesNothing(t *testing.T) {
	stream, frame := openSilero(t).NewStream(), testSound(engine.FrameSamples)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := stream.Probability(frame); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations a frame", allocs)
	}
}

// notSpeech are three seconds each of sounds without speech.
func notSpeech() map[string][]float32 {
	const n = 3 * engine.SpeechRateHz
	random := rand.New(rand.NewPCG(7, 7))
	sounds := map[string][]float32{"silence": make([]float32, n)}
	add := func(name string, f func(at float64) float64) {
		pcm := make([]float32, n)
		for i := range pcm {
			pcm[i] = float32(f(float64(i) / engine.SpeechRateHz))
		}
		sounds[name] = pcm
	}
	add("white noise", func(float64) float64 { return 0.1 * random.NormFloat64() })
	add("hiss of a quiet room", func(float64) float64 { return 0.001 * random.NormFloat64() })
	// Pink: a sum of noises that change half as often each (Voss and Clarke 1978).
	var steps [12]float64
	count := 0
	add("pink noise", func(float64) float64 {
		count++
		sum := 0.0
		for i := range steps {
			if count%(1<<i) == 0 {
				steps[i] = random.NormFloat64()
			}
			sum += steps[i]
		}
		return 0.05 * sum
	})
	add("dial tone", func(at float64) float64 {
		return 0.2*math.Sin(2*math.Pi*350*at) + 0.2*math.Sin(2*math.Pi*440*at)
	})
	add("hum", func(at float64) float64 {
		return 0.2*math.Sin(2*math.Pi*50*at) + 0.1*math.Sin(2*math.Pi*100*at) + 0.05*math.Sin(2*math.Pi*150*at)
	})
	notes := []float64{262, 330, 392, 523, 392, 330}
	add("a tune", func(at float64) float64 { // four notes a second, plucked
		note := notes[int(at*4)%len(notes)]
		fade := math.Exp(-6 * math.Mod(at, 0.25))
		return 0.3 * fade * (math.Sin(2*math.Pi*note*at) + 0.4*math.Sin(4*math.Pi*note*at) +
			0.2*math.Sin(6*math.Pi*note*at))
	})
	add("clicks", func(at float64) float64 {
		if math.Mod(at, 0.2) < 0.0005 {
			return 0.8
		}
		return 0
	})
	return sounds
}
