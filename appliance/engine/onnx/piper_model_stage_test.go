package onnx

import (
	"testing"

	"pgregory.net/rapid"
)

// Ranges cover all requested positions, one after the other, each with the surroundings that affect
// it.
func TestRangesCoverTheRequestedPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stage{reach: rapid.IntRange(0, 40).Draw(t, "reach"), splits: rapid.IntRange(1, 4).Draw(t, "sides")}
		from := rapid.IntRange(0, 500).Draw(t, "from")
		to := from + rapid.IntRange(1, 500).Draw(t, "places")
		whole := to + rapid.IntRange(0, 100).Draw(t, "rest")
		at := from
		cut := s.ranges(from, to, whole)
		for _, c := range cut {
			if c.from != at || c.to <= c.from || c.a != max(c.from-s.reach, 0) || c.b != min(c.to+s.reach, whole) {
				t.Fatalf("behind %d: %+v", at, c)
			}
			if len(cut) > 1 && c.to-c.from < s.reach {
				t.Fatalf("%+v is shorter than the reach", c)
			}
			at = c.to
		}
		if at != to || len(cut) > s.splits {
			t.Fatalf("%d stretches up to %d", len(cut), at)
		}
	})
}

// The decoder, whose stages have a reach of at most ten positions, runs on both cores by ranges.
func TestTheDecoderRunsInRanges(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	for i, s := range p.stages {
		if i == flowStage {
			continue
		}
		if cut := s.ranges(0, 300, 300); len(cut) != 2 || s.session.Threads() != 1 || s.cores != p.encoder.Threads() {
			t.Errorf("part %d, of reach %d: %d stretches by %d threads each, %d at once", i, s.reach, len(cut),
				s.session.Threads(), s.cores)
		}
	}
}
