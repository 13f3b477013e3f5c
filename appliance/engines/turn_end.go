package engines

import (
	"context"
	"path/filepath"
	"sync"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
)

// TurnEnd is the turn-end model, which most boxes never need. It is loaded when the first chat
// needs it, or at the start if the configured mode does.
type TurnEnd struct {
	set   *Set
	model func() (*onnx.SmartTurn, error)
}

func (e *Set) openTurnEnd() error {
	t := &TurnEnd{set: e}
	t.model = sync.OnceValues(t.open)
	e.TurnEnd = t
	if e.cfg.TurnDetection.Mode != string(contract.TurnSemantic) {
		return nil
	}
	_, err := t.model()
	return err
}

func (t *TurnEnd) open() (*onnx.SmartTurn, error) {
	e := t.set
	m, err := onnx.LoadSmartTurn(e.runtime, filepath.Join(e.cfg.Pack("turn"), "smart-turn-v3.2-cpu.onnx"), e.Gate)
	if err != nil {
		e.log.Error("the turn-end model cannot be loaded; turns end by silence alone", "err", err)
		return nil, err
	}
	e.onClose(m.Close)
	return m, e.warm(context.Background(), "turn-end model", m)
}

// Load loads the model if it is not loaded yet.
func (t *TurnEnd) Load(context.Context) { _, _ = t.model() }

// Probability returns the probability that the speaker of pcm has finished.
func (t *TurnEnd) Probability(ctx context.Context, pcm []float32, u *engine.Urgency) (float64, error) {
	m, err := t.model()
	if err != nil {
		return 0, err
	}
	return m.Probability(ctx, pcm, u)
}
