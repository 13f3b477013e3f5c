package onnx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// whisperEncoder is the encoder for one window length, cut into its layers, so that more urgent work waits for one
// layer (60 to 150 ms on two cores) and not for all of them. It is loaded when it is first needed.
type whisperEncoder struct {
	rt     *Runtime
	path   string
	frames int

	mu     sync.Mutex
	layers []*Session
}

// load returns the layers. It shortens the position table to the window and leaves out the attention outputs, which
// are not used.
func (e *whisperEncoder) load() (_ []*Session, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.layers != nil {
		return e.layers, nil
	}
	model, err := os.ReadFile(e.path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	model, err = trimGraph(model, "last_hidden_state", "embed_positions.weight", uint64(e.frames/2))
	if err != nil {
		return nil, loadError(e.path, err)
	}
	var layers []*Session
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(layers))
		}
	}()
	from := "input_features"
	for i := range whisperLayers {
		to := fmt.Sprintf("/layers.%d/Add_1_output_0", i) // the sum at the end of a layer
		if i == whisperLayers-1 {
			to = "last_hidden_state" // with the final normalisation
		}
		layer, err := e.rt.loadPart(e.path, model, part{[]string{from}, []string{to}}, SessionOptions{})
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
		from = to
	}
	e.layers = layers
	return layers, nil
}

func closeAll(sessions []*Session) error {
	var errs []error
	for _, s := range sessions {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func (e *whisperEncoder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	layers := e.layers
	e.layers = nil
	return closeAll(layers)
}

// encoding returns the steps that encode a sound and prepare the decoder for it, one after the other. Each gives the
// same result when it is repeated.
func (w *Whisper) encoding(work *whisperWorkspace, pcm []float32) ([]func(context.Context) error, error) {
	e := w.short
	if len(pcm) > whisperShortSound {
		e = w.long
	}
	layers, err := e.load()
	if err != nil {
		return nil, err
	}
	positions := int64(e.frames / 2)
	work.features = resize(work.features, int64(melBands*e.frames))
	if err := work.begin(whisperPrompt+whisperLimit, positions); err != nil {
		return nil, err
	}
	input, err := work.track(NewTensor(work.features, 1, melBands, int64(e.frames)))
	if err != nil {
		return nil, err
	}
	var hidden [2]Value // a layer reads one and writes the other
	for i := range hidden {
		work.hidden[i] = resize(work.hidden[i], positions*whisperWidth)
		if hidden[i], err = work.track(NewTensor(work.hidden[i], 1, positions, whisperWidth)); err != nil {
			return nil, err
		}
	}
	steps := []func(context.Context) error{func(context.Context) error {
		w.mel.features(work.features, pcm, e.frames)
		return nil
	}}
	for i, layer := range layers {
		from, to := input, hidden[i%2]
		steps = append(steps, func(ctx context.Context) error {
			return layer.RunUntil(ctx, []Value{from}, []Value{to})
		})
		input = to
	}
	work.heard = input
	return steps, work.call.In("encoder_hidden_states", input)
}
