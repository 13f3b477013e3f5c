package onnx

import (
	"context"
	"math"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func openTurn(t testing.TB) *SmartTurn {
	t.Helper()
	rt := openRuntime(t)
	return sharedOf(t, "Turn", func() (*SmartTurn, error) {
		e, err := LoadSmartTurn(rt, packtest.File(t, "turn", "smart-turn-v3.2-cpu.onnx"), engine.NewGate(2))
		if err != nil {
			return nil, err
		}
		return e, e.Warm(context.Background())
	})
}

func TestTurnTellsTheEndFromACut(t *testing.T) {
	turn := openTurn(t)
	ended, cut, n := 0, 0, 0
	for _, p := range prompts(t) {
		if n == 20 {
			break
		}
		if strings.ContainsAny(strings.TrimRight(p.text, ". "), ".,;:!?") {
			continue // a cut may be at the end of a sentence
		}
		n++
		pcm := p.pcm(t)
		whole, err := turn.Probability(context.Background(), pcm, nil)
		if err != nil {
			t.Fatal(err)
		}
		part, err := turn.Probability(context.Background(), pcm[:len(pcm)*55/100], nil)
		if err != nil {
			t.Fatal(err)
		}
		if whole > 0.5 {
			ended++
		}
		if part <= 0.5 {
			cut++
		}
	}
	t.Logf("of 20: %d ends and %d cuts are right", ended, cut)
	if ended < 16 || cut < 16 {
		t.Errorf("of 20: %d ends and %d cuts are right, want at least 16 each", ended, cut)
	}
}

func TestTurnTakesAnyLength(t *testing.T) {
	turn := openTurn(t)
	for _, n := range []int{0, 1, turnSound, turnSound + 1, 3 * turnSound} {
		if _, err := turn.Probability(context.Background(), testSound(n), nil); err != nil {
			t.Errorf("%d samples: %v", n, err)
		}
	}
	nan, err := turn.Probability(context.Background(), []float32{float32(math.NaN())}, nil)
	if silence, err2 := turn.Probability(context.Background(), nil, nil); nan != silence || err != nil || err2 != nil {
		t.Errorf("NaN sound: %v, %v, want silence's %v, %v", nan, err, silence, err2)
	}
}
