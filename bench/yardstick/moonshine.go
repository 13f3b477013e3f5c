package yardstick

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// What Moonshine's tiny English model is made of, and what the engine puts
// behind every sound and bounds a text by: the same work is to be compared.
const (
	moonshineLayers = 6
	moonshineHeads  = 8
	moonshineDim    = 36
	moonshineBOS    = 1
	moonshineEOS    = 2

	moonshineLead   = engine.SpeechRateHz / 10
	moonshineTail   = 3 * engine.SpeechRateHz / 10
	tokensPerSecond = 6.5
)

// Moonshine is its encoder and the loop over its decoder.
type Moonshine struct {
	encoder, decoder *Graph
}

// OpenMoonshine loads the two models from dir.
func (y *ONNX) OpenMoonshine(dir string) (*Moonshine, error) {
	encoder, err := y.Load(filepath.Join(dir, "encoder_model.ort"), 1)
	if err != nil {
		return nil, err
	}
	decoder, err := y.Load(filepath.Join(dir, "decoder_model_merged.ort"), 1)
	if err != nil {
		return nil, errors.Join(err, encoder.Close())
	}
	return &Moonshine{encoder: encoder, decoder: decoder}, nil
}

// Close gives the models' memory back.
func (m *Moonshine) Close() error { return errors.Join(m.encoder.Close(), m.decoder.Close()) }

// Tokens returns the tokens that are heard in pcm, with the silence around it
// that the engine puts there.
func (m *Moonshine) Tokens(pcm []float32) ([]int64, error) {
	y := m.encoder.y
	var values []uintptr // all that is to be released
	defer func() {
		for _, v := range values {
			y.free(apiReleaseValue, v)
		}
	}()
	limit := int(tokensPerSecond*float64(len(pcm))/engine.SpeechRateHz) + 2
	pcm = slices.Concat(make([]float32, moonshineLead), pcm, make([]float32, moonshineTail))
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
	d := newMoonshineText(m.decoder, mask, hidden[0])
	defer d.release()
	ids, err := d.tokens(limit)
	runtime.KeepAlive(pcm)
	runtime.KeepAlive(ones)
	return ids, err
}

// moonshineText is a text in the making: all of the graph's inputs and outputs,
// in one order.
type moonshineText struct {
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
const atIDs, atBranch, atPast = 0, 1, 4

func newMoonshineText(g *Graph, mask, hidden uintptr) *moonshineText {
	in := []string{"input_ids", "use_cache_branch", "encoder_attention_mask", "encoder_hidden_states"}
	out := []string{"logits"}
	t := &moonshineText{
		graph:  g,
		id:     make([]int64, 1),
		branch: make([]bool, 1),
		values: []uintptr{0, 0, mask, hidden},
	}
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

func (t *moonshineText) tokens(limit int) (ids []int64, err error) {
	y := t.graph.y
	t.id[0] = moonshineBOS
	if t.values[atIDs], err = y.input(Input{Data: t.id, Shape: []int64{1, 1}}); err != nil {
		return nil, err
	}
	if t.values[atBranch], err = y.input(Input{Data: t.branch, Shape: []int64{1}}); err != nil {
		return nil, err
	}
	t.own = append(t.own, t.values[:atBranch+1]...)
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
		next := likeliest(logits)
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
func (t *moonshineText) carry() {
	for i, ofText := range t.past {
		at, made := atPast+i, t.made[1+i]
		if t.branch[0] && !ofText {
			t.graph.y.free(apiReleaseValue, made)
			continue
		}
		t.graph.y.free(apiReleaseValue, t.values[at])
		t.values[at] = made
	}
}

func (t *moonshineText) release() {
	for _, v := range append(t.own, t.values[min(atPast, len(t.values)):]...) {
		t.graph.y.free(apiReleaseValue, v)
	}
}

// likeliest is the place of the largest number.
func likeliest(logits []float32) int64 {
	best := 0
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	return int64(best)
}
