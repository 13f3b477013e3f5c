package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// A voice ends where it ends, and not where the detector lets go of it, 50 to
// 100 ms later: in the quiet, beside the noise of an office, and never before a
// last consonant that can be heard. In loud noise the detector's word counts.
func TestVoiceEndsWhereItEnds(t *testing.T) {
	silero, err := LoadSilero(openRuntime(t), packtest.File(t, "turn", "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, silero) })
	r := rand.New(rand.NewPCG(7, 7))
	for _, row := range []struct {
		noise                   float64 // dB under the voice; 0 is none
		earliest, median, share float64 // ms; of nine in ten
	}{{0, -25, 16, 24}, {40, -40, 16, 50}, {20, -170, 75, 110}} {
		var late []float64
		for _, p := range judged(t, 30) {
			pcm, end, level := endingWithVoice(p.pcm(t))
			for i := range pcm {
				if row.noise > 0 {
					pcm[i] += float32(level * math.Pow(10, -row.noise/20) * r.NormFloat64())
				}
			}
			late = append(late, 1000*float64(pausedAt(t, silero, pcm)-int64(end))/engine.SpeechRateHz)
		}
		slices.Sort(late)
		what := fmt.Sprintf("noise %v dB under: end of voice late by %.0f ms at least, %.0f in the median, %.0f for nine in ten", row.noise, late[0], late[len(late)/2], late[len(late)*9/10])
		t.Log(what)
		if late[0] < row.earliest || late[len(late)/2] > row.median || late[len(late)*9/10] > row.share {
			t.Errorf("%s; want at least %v, at most %v and %v", what, row.earliest, row.median, row.share)
		}
	}
}

// endingWithVoice is a recording between silences, where its voice ends (its
// last 16 ms that are less than 30 dB under it), and how loud it is.
func endingWithVoice(said []float32) (pcm []float32, end int, level float64) {
	const hop = engine.SpeechRateHz * 16 / 1000
	loud := func(i int) (e float64) {
		last := float32(0)
		for _, x := range said[i : i+hop] {
			e += float64((x - 0.9*last) * (x - 0.9*last))
			last = x
		}
		return e
	}
	var all []float64
	var sum float64
	for i := 0; i+hop <= len(said); i += hop {
		all = append(all, loud(i))
	}
	for _, x := range said {
		sum += float64(x) * float64(x)
	}
	top := slices.Sorted(slices.Values(all))[len(all)*9/10]
	last := len(all)
	for last > 0 && all[last-1] < top/1000 {
		last--
	}
	silence := engine.SpeechRateHz / 2
	pcm = slices.Concat(make([]float32, silence), said, make([]float32, 2*silence))
	return pcm, silence + last*hop, math.Sqrt(sum / float64(len(said)))
}

// pausedAt is where the last pause of a sound begins.
func pausedAt(t *testing.T, d engine.VoiceDetector, pcm []float32) (end int64) {
	g := engine.NewSegmenter(d.NewStream(), engine.DefaultSegmentOptions())
	for i := 0; i+engine.FrameSamples <= len(pcm); i += engine.FrameSamples {
		said, err := g.Push(nil, pcm[i:i+engine.FrameSamples])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range said {
			if s.Kind == engine.Paused {
				end = s.End
			}
		}
	}
	return end
}
