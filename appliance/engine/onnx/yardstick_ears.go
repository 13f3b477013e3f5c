package onnx

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// StraightSilero is Silero's frame, straight. It follows one stream.
type StraightSilero struct {
	graph  *Graph
	input  []float32
	in     []*byte
	values []uintptr // input, state, sr
	out    []*byte
	rate   []int64
	state  []float32
}

// Silero loads the network of voice activity.
func (y *Yardstick) Silero(path string) (*StraightSilero, error) {
	graph, err := y.Load(path, 1)
	if err != nil {
		return nil, err
	}
	s := &StraightSilero{
		graph: graph,
		input: make([]float32, sileroWindow),
		state: make([]float32, sileroState),
		rate:  []int64{engine.SpeechRateHz},
		in:    cStrings([]string{"input", "state", "sr"}),
		out:   cStrings([]string{"output", "stateN"}),
	}
	for _, in := range []Input{
		{Data: s.input, Shape: []int64{1, sileroWindow}},
		{Data: s.state, Shape: []int64{2, 1, 128}},
		{Data: s.rate},
	} {
		v, err := y.input(in)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.values = append(s.values, v)
	}
	return s, nil
}

// Frame returns the probability of voice in a frame.
func (s *StraightSilero) Frame(frame []float32) (float32, error) {
	copy(s.input, s.input[engine.FrameSamples:])
	copy(s.input[sileroContext:], frame)
	made := make([]uintptr, 2)
	if err := s.graph.run(s.in, s.values, s.out, made); err != nil {
		return 0, err
	}
	defer s.graph.y.free(apiReleaseValue, made[0])
	s.graph.y.free(apiReleaseValue, s.values[1])
	s.values[1] = made[1]
	p, err := s.graph.y.floats(made[0])
	if err != nil {
		return 0, err
	}
	return p[0], nil
}

// Close gives everything back.
func (s *StraightSilero) Close() error {
	for _, v := range s.values {
		s.graph.y.free(apiReleaseValue, v)
	}
	return s.graph.Close()
}

// StraightMoonshine is Moonshine's encoder and decoder loop, straight.
type StraightMoonshine struct {
	encoder, decoder *Graph
}

// Moonshine loads the two models from dir.
func (y *Yardstick) Moonshine(dir string) (*StraightMoonshine, error) {
	encoder, err := y.Load(filepath.Join(dir, "encoder_model.ort"), 1)
	if err != nil {
		return nil, err
	}
	decoder, err := y.Load(filepath.Join(dir, "decoder_model_merged.ort"), 1)
	if err != nil {
		return nil, errors.Join(err, encoder.Close())
	}
	return &StraightMoonshine{encoder: encoder, decoder: decoder}, nil
}

// Close gives the models' memory back.
func (m *StraightMoonshine) Close() error { return errors.Join(m.encoder.Close(), m.decoder.Close()) }

// Tokens returns the tokens that are heard in pcm, with the silence behind it
// that the engine puts there.
func (m *StraightMoonshine) Tokens(pcm []float32) ([]int64, error) {
	y := m.encoder.y
	var values []uintptr // all that is to be released
	defer func() {
		for _, v := range values {
			y.free(apiReleaseValue, v)
		}
	}()
	limit := int(tokensPerSecond*float64(len(pcm))/engine.SpeechRateHz) + 2
	pcm = append(slices.Clip(pcm), make([]float32, moonshineTail)...)
	ones := make([]int64, len(pcm))
	for i := range ones {
		ones[i] = 1
	}
	shape := []int64{1, int64(len(pcm))}
	sound, err := y.input(Input{Data: pcm, Shape: shape})
	if err != nil {
		return nil, err
	}
	values = append(values, sound)
	mask, err := y.input(Input{Data: ones, Shape: shape})
	if err != nil {
		return nil, err
	}
	values = append(values, mask)
	hidden := make([]uintptr, 1)
	err = m.encoder.run(cStrings([]string{"input_values", "attention_mask"}), []uintptr{sound, mask},
		cStrings([]string{"last_hidden_state"}), hidden)
	if err != nil {
		return nil, err
	}
	values = append(values, hidden...)
	d := newStraightText(m.decoder, mask, hidden[0])
	defer d.release()
	ids, err := d.tokens(limit)
	runtime.KeepAlive(pcm)
	runtime.KeepAlive(ones)
	return ids, err
}

// straightText is a text in the making: all of the graph's inputs and outputs,
// in one order.
type straightText struct {
	graph   *Graph
	in, out []*byte
	past    []bool // which of in are keys and values of the text so far
	values  []uintptr
	made    []uintptr
	id      []int64
	branch  []bool
	own     []uintptr
}

// The inputs that stand before the keys and values.
const straightIDs, straightBranch, straightPast = 0, 1, 4

func newStraightText(g *Graph, mask, hidden uintptr) *straightText {
	in := []string{"input_ids", "use_cache_branch", "encoder_attention_mask", "encoder_hidden_states"}
	out := []string{"logits"}
	t := &straightText{graph: g, id: make([]int64, 1), branch: make([]bool, 1), values: []uintptr{0, 0, mask, hidden}}
	for layer := range moonshineLayers {
		for _, part := range []string{"decoder.key", "decoder.value", "encoder.key", "encoder.value"} {
			name := fmt.Sprintf("%d.%s", layer, part)
			in, out = append(in, "past_key_values."+name), append(out, "present."+name)
			t.past = append(t.past, strings.HasPrefix(part, "decoder"))
		}
	}
	t.in, t.out, t.made = cStrings(in), cStrings(out), make([]uintptr, len(out))
	return t
}

func (t *straightText) tokens(limit int) (ids []int64, err error) {
	y := t.graph.y
	t.id[0] = moonshineBOS
	if t.values[straightIDs], err = y.input(Input{Data: t.id, Shape: []int64{1, 1}}); err != nil {
		return nil, err
	}
	if t.values[straightBranch], err = y.input(Input{Data: t.branch, Shape: []int64{1}}); err != nil {
		return nil, err
	}
	t.own = append(t.own, t.values[:straightBranch+1]...)
	for range t.past {
		v, err := y.input(Input{Data: []float32(nil), Shape: []int64{1, moonshineHeads, 0, moonshineDim}})
		if err != nil {
			return nil, err
		}
		t.values = append(t.values, v)
	}
	for len(ids) < limit {
		clear(t.made)
		if err := t.graph.run(t.in, t.values, t.out, t.made); err != nil {
			return nil, err
		}
		logits, err := y.floats(t.made[0])
		if err != nil {
			return nil, err
		}
		next := argmax(logits)
		y.free(apiReleaseValue, t.made[0])
		t.carry()
		if next == moonshineEOS {
			break
		}
		t.id[0], t.branch[0] = next, true
		ids = append(ids, next)
	}
	return ids, nil
}

// carry makes what came out the past of the next step; of the sound's keys and
// values, the first.
func (t *straightText) carry() {
	for i, ofText := range t.past {
		at, made := straightPast+i, t.made[1+i]
		if t.branch[0] && !ofText {
			t.graph.y.free(apiReleaseValue, made)
			continue
		}
		t.graph.y.free(apiReleaseValue, t.values[at])
		t.values[at] = made
	}
}

func (t *straightText) release() {
	for _, v := range append(t.own, t.values[min(straightPast, len(t.values)):]...) {
		t.graph.y.free(apiReleaseValue, v)
	}
}
