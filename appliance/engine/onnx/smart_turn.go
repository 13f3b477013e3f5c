package onnx

import (
	"context"
	"errors"
	"math"

	"parley/appliance/engine"
)

// turnSound is the input of the turn network: the last 8 s.
const turnSound = 8 * engine.SpeechRateHz

// SmartTurn distinguishes a finished turn from a pause within one by its sound, with the smart-turn
// network. It is safe for concurrent use.
type SmartTurn struct {
	session    *Session
	mel        *melBank
	gate       *engine.Gate
	workspaces *pool[*turnWorkspace]
}

// LoadSmartTurn loads smart-turn-v3.2-cpu.onnx. A call runs on one core for about 30 ms.
func LoadSmartTurn(rt *Runtime, path string, gate *engine.Gate) (*SmartTurn, error) {
	session, err := rt.Load(path, SessionOptions{Threads: 1})
	if err != nil {
		return nil, err
	}
	t := &SmartTurn{session: session, mel: newMelBank(), gate: gate}
	t.workspaces = newPool(gate.Cores(), t.newWorkspace)
	return t, nil
}

// Close releases the memory. No call may be running.
func (t *SmartTurn) Close() error { return errors.Join(t.workspaces.Close(), t.session.Close()) }

// Warm runs the network once on silence, because the first run is slow.
func (t *SmartTurn) Warm(ctx context.Context) error {
	_, err := t.Probability(ctx, make([]float32, engine.SpeechRateHz), engine.Live.Urgency())
	return err
}

// Probability returns the probability, 0 to 1, that the speaker of pcm (mono, 16 kHz; the last 8 s
// count) has finished. Call it once per pause, with at most 0.2 s of silence at the end: with more
// silence the network takes cut-off sentences for complete ones.
func (t *SmartTurn) Probability(ctx context.Context, pcm []float32, u *engine.Urgency) (probability float64,
	err error) {
	err = t.gate.Do(ctx, u, t.session.Threads(), func() error {
		return t.workspaces.use(func(w *turnWorkspace) error {
			w.setSound(pcm)
			t.mel.features(w.features, w.sound, turnSound/melHop)
			if err := w.call.Run(); err != nil {
				return err
			}
			probability = float64(w.probability[0])
			return nil
		})
	})
	return probability, err
}

// turnWorkspace is a prepared run with its buffers.
type turnWorkspace struct {
	call                         *Call
	sound, features, probability []float32
	values                       []Value
}

func (t *SmartTurn) newWorkspace() (_ *turnWorkspace, err error) {
	w := &turnWorkspace{
		sound:       make([]float32, turnSound),
		features:    make([]float32, melBands*turnSound/melHop),
		probability: make([]float32, 1),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.call, err = t.session.NewCall(); err != nil {
		return nil, err
	}
	features, err := NewTensor(w.features, 1, melBands, turnSound/melHop)
	if err != nil {
		return nil, err
	}
	w.values = append(w.values, features)
	probability, err := NewTensor(w.probability, 1, 1)
	if err != nil {
		return nil, err
	}
	w.values = append(w.values, probability)
	return w, errors.Join(w.call.In("input_features", features), w.call.Out("logits", probability))
}

// setSound puts the end of pcm at the end of the window, after silence, and normalises the window
// to zero mean and unit variance.
func (w *turnWorkspace) setSound(pcm []float32) {
	pcm = pcm[max(0, len(pcm)-turnSound):]
	clear(w.sound)
	clampSound(w.sound[turnSound-len(pcm):], pcm)
	var sum, squares float64
	for _, x := range w.sound {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	mean := sum / turnSound
	deviation := math.Sqrt(squares/turnSound - mean*mean + 1e-7)
	for i, x := range w.sound {
		w.sound[i] = float32((float64(x) - mean) / deviation)
	}
}

// Close releases what the C library holds for the call.
func (w *turnWorkspace) Close() error {
	err := destroy(w.values)
	if w.call != nil {
		err = errors.Join(err, w.call.Close())
	}
	return err
}
