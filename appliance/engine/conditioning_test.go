package engine

import (
	"math"
	"slices"
	"testing"
)

// buzz is a sound with the given peak that listener takes for voice.
func buzz(frames int, peak float32) []float32 {
	out := make([]float32, frames*FrameSamples)
	for i := range out {
		out[i] = peak * float32(math.Sin(2*math.Pi*float64(i)/16))
	}
	return out
}

// listener detects voice in sound that is loud enough for a detector, and records its level.
type listener struct{ loudest, mean float32 }

func (l *listener) NewStream() VoiceStream { return l }
func (l *listener) Reset()                 {}
func (l *listener) Probability(frame []float32) (float32, error) {
	l.mean = 0
	for _, x := range frame {
		l.mean += x / FrameSamples
	}
	peak := peakOf(frame)
	l.loudest = max(l.loudest, peak)
	if peak-max(l.mean, -l.mean) > 0.04 {
		return 1, nil
	}
	return 0, nil
}

// utteranceOf returns the utterance in pcm, between half a second of silence before and more after
// it, with an offset.
func utteranceOf(t *testing.T, pcm []float32, offset float32) (l *listener, part []float32) {
	t.Helper()
	l = &listener{}
	s := NewSegmenter(l, DefaultSegmentOptions())
	all := slices.Concat(make([]float32, 16*FrameSamples), pcm, make([]float32, 32*FrameSamples))
	for i := range all {
		all[i] += offset
	}
	var out []Segment
	for frame := range slices.Chunk(all, FrameSamples) {
		var err error
		if out, err = s.Push(out, frame); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range out {
		if o.Kind == Paused {
			part = o.PCM
		}
	}
	return l, part
}

func TestSoftSpeechIsRaisedBeforeItIsHeard(t *testing.T) {
	for peak, want := range map[float32]float32{0.5: 0.5, 0.1: 0.1, 0.05: 0.1, 0.01: 0.1} {
		l, part := utteranceOf(t, buzz(20, peak), 0)
		if got := peakOf(part); math.Abs(float64(got-want)) > 0.01 {
			t.Errorf("speech that peaks at %v is transcribed from a peak of %v, want %v", peak, got, want)
		}
		if l.loudest > max(peak, raisedPeak)+0.01 {
			t.Errorf("the detector gets a peak of %v", l.loudest)
		}
	}
	if _, part := utteranceOf(t, buzz(20, 0.001), 0); part != nil {
		t.Error("what is much softer than speech is taken for it")
	}
}

// Once there was a voice, soft noise is not raised.
func TestNoiseBehindALoudVoiceIsNotRaised(t *testing.T) {
	l := &listener{}
	s := NewSegmenter(l, DefaultSegmentOptions())
	for frame := range slices.Chunk(slices.Concat(buzz(20, 0.3), buzz(900, 0.01)), FrameSamples) {
		if _, err := s.Push(nil, frame); err != nil {
			t.Fatal(err)
		}
	}
	if s.Speaking() {
		if out := s.Finish(nil); out[len(out)-1].Voiced > 25*FrameDuration {
			t.Errorf("noise became %v of voice", out[len(out)-1].Voiced)
		}
	}
}

func TestAConstantOffsetIsNotHeard(t *testing.T) {
	for _, offset := range []float32{0.05, -0.2} {
		l, part := utteranceOf(t, buzz(20, 0.15), offset)
		mean := float32(0)
		for _, x := range part {
			mean += x / float32(len(part))
		}
		if len(part) == 0 || math.Abs(float64(mean)) > 0.002 || math.Abs(float64(l.mean)) > 0.002 {
			t.Errorf("with an offset of %v, %d samples have a mean of %v, and the detector's %v", offset, len(part),
				mean, l.mean)
		}
	}
}
