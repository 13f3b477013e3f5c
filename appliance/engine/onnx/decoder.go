package onnx

import (
	"errors"
	"fmt"
)

// mergedDecoder is the decoder of an encoder-decoder transformer, exported as one graph with two
// branches: without and with cached keys and values. The decoders of Moonshine and Whisper use the
// same names and differ only in size.
type mergedDecoder struct {
	session *Session
	heads   int64
	dim     int64 // per head
	vocab   int
	layers  []layerNames
}

// layerNames are the names of a layer's cached tensors, as inputs and outputs; key first, then
// value.
type layerNames struct {
	past, present               [2]string
	encoderPast, encoderPresent [2]string
}

func newMergedDecoder(s *Session, layers int, heads, dim int64, vocab int) *mergedDecoder {
	return &mergedDecoder{
		session: s,
		heads:   heads,
		dim:     dim,
		vocab:   vocab,
		layers:  layerNamesOf(layers),
	}
}

// layerNamesOf returns the names of the first n layers.
func layerNamesOf(n int) []layerNames {
	all := make([]layerNames, n)
	for i := range all {
		n := &all[i]
		for j, kind := range [2]string{"key", "value"} {
			n.past[j] = fmt.Sprintf("past_key_values.%d.decoder.%s", i, kind)
			n.present[j] = fmt.Sprintf("present.%d.decoder.%s", i, kind)
			n.encoderPast[j] = fmt.Sprintf("past_key_values.%d.encoder.%s", i, kind)
			n.encoderPresent[j] = fmt.Sprintf("present.%d.encoder.%s", i, kind)
		}
	}
	return all
}

// decoding is one text in progress. All inputs and outputs of the graph are in buffers that are
// reused from text to text. Each step writes its keys and values directly into the buffer that the
// next step reads; of the two buffers, one is read while the other is written.
type decoding struct {
	decoder *mergedDecoder
	call    *Call

	self    [2][]float32 // keys and values of the text so far
	encoder []float32    // keys and values of the sound, computed by the first step
	logits  []float32
	ids     []int64
	branch  []bool // use_cache_branch

	capacity int64   // tokens for which self has space
	length   int64   // tokens so far
	sound    int64   // encoder frames
	live     []Value // bound values, destroyed at the end of the text
	past     []Value // outputs of the last step
}

func (d *mergedDecoder) newDecoding() (*decoding, error) {
	call, err := d.session.NewCall()
	if err != nil {
		return nil, err
	}
	return &decoding{decoder: d, call: call, branch: make([]bool, 1)}, nil
}

// begin prepares for a text of at most tokens tokens about sound encoder frames. The caller binds
// the inputs that stay the same for the whole text: the encoder's output and a mask.
func (dec *decoding) begin(tokens, sound int64) error {
	if err := dec.end(); err != nil {
		return err
	}
	d := dec.decoder
	tensors := int64(2 * len(d.layers))
	dec.capacity, dec.sound, dec.length = tokens, sound, 0
	for i := range dec.self {
		dec.self[i] = resize(dec.self[i], tensors*d.heads*tokens*d.dim)
	}
	dec.encoder = resize(dec.encoder, tensors*d.heads*sound*d.dim)

	empty, err := dec.track(NewTensor[float32](nil, 1, d.heads, 0, d.dim))
	if err != nil {
		return err
	}
	for i, n := range d.layers {
		for j := range 2 {
			out, err := dec.track(NewTensor(dec.part(dec.encoder, i, j, sound), 1, d.heads, sound, d.dim))
			if err != nil {
				return err
			}
			err = errors.Join(
				dec.call.In(n.past[j], empty),
				dec.call.In(n.encoderPast[j], empty),
				dec.call.Out(n.encoderPresent[j], out))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// step decodes ids and returns the logits after each of them, vocab numbers per position. They are
// valid until the next step.
func (dec *decoding) step(ids ...int64) ([]float32, error) {
	d, n := dec.decoder, int64(len(ids))
	if dec.length+n > dec.capacity {
		return nil, fmt.Errorf("onnx: %s: text has %d tokens, at most %d were reserved", d.session.name, dec.length+n,
			dec.capacity)
	}
	if dec.length == 0 || n != int64(len(dec.ids)) {
		if err := dec.bindStep(n); err != nil {
			return nil, err
		}
	}
	copy(dec.ids, ids)
	wrote, err := dec.bindPresent(dec.length + n)
	if err != nil {
		return nil, err
	}
	if err := dec.call.Run(); err != nil {
		return nil, errors.Join(err, destroy(wrote))
	}
	first := dec.length == 0
	dec.length += n
	return dec.logits, dec.swap(wrote, first)
}

// bindStep binds the values whose shape depends on the number of ids of a step.
func (dec *decoding) bindStep(n int64) error {
	dec.ids = resize(dec.ids, n)
	dec.logits = resize(dec.logits, n*int64(dec.decoder.vocab))
	ids, err := dec.track(NewTensor(dec.ids, 1, n))
	if err != nil {
		return err
	}
	logits, err := dec.track(NewTensor(dec.logits, 1, n, int64(dec.decoder.vocab)))
	if err != nil {
		return err
	}
	dec.branch[0] = dec.length > 0
	branch, err := dec.track(NewTensor(dec.branch, 1))
	if err != nil {
		return err
	}
	return errors.Join(
		dec.call.In("input_ids", ids),
		dec.call.In("use_cache_branch", branch),
		dec.call.Out("logits", logits))
}

// bindPresent binds the buffer that this step writes, which is the one that it does not read.
func (dec *decoding) bindPresent(length int64) ([]Value, error) {
	d := dec.decoder
	wrote := make([]Value, 0, 2*len(d.layers))
	for i, n := range d.layers {
		for j := range 2 {
			t, err := NewTensor(dec.part(dec.self[0], i, j, dec.capacity), 1, d.heads, length, d.dim)
			if err != nil {
				return nil, errors.Join(err, destroy(wrote))
			}
			wrote = append(wrote, t)
			if err := dec.call.Out(n.present[j], t); err != nil {
				return nil, errors.Join(err, destroy(wrote))
			}
		}
	}
	return wrote, nil
}

// swap makes the output of a step the input of the next one.
func (dec *decoding) swap(wrote []Value, first bool) error {
	d := dec.decoder
	err := destroy(dec.past)
	dec.past = wrote
	dec.self[0], dec.self[1] = dec.self[1], dec.self[0]
	for i, n := range d.layers {
		for j := range 2 {
			err = errors.Join(err, dec.call.In(n.past[j], wrote[2*i+j]))
		}
	}
	if !first || err != nil {
		return err
	}
	// From now on the keys and values of the sound are inputs only; the branch with cached ones
	// would only return them.
	dec.call.ClearOutputs()
	for i, n := range d.layers {
		for j := range 2 {
			t, bad := dec.track(NewTensor(dec.part(dec.encoder, i, j, dec.sound), 1, d.heads, dec.sound, d.dim))
			if bad != nil {
				return bad
			}
			err = errors.Join(err, dec.call.In(n.encoderPast[j], t))
		}
	}
	dec.ids = dec.ids[:0] // so that bindStep binds the logits and the branch again
	return err
}

// rewind discards all but the first length tokens of the text, at least one, so that it can
// continue differently.
func (dec *decoding) rewind(length int64) error {
	if length == dec.length {
		return nil
	}
	d := dec.decoder
	past := make([]Value, 0, 2*len(d.layers))
	for i, n := range d.layers {
		for j := range 2 {
			part := dec.part(dec.self[1], i, j, dec.capacity) // head by head
			for h := int64(1); h < d.heads; h++ {
				copy(part[h*length*d.dim:(h+1)*length*d.dim], part[h*dec.length*d.dim:])
			}
			t, err := NewTensor(part, 1, d.heads, length, d.dim)
			if err != nil {
				return errors.Join(err, destroy(past))
			}
			past = append(past, t)
			if err := dec.call.In(n.past[j], t); err != nil {
				return errors.Join(err, destroy(past))
			}
		}
	}
	err := destroy(dec.past)
	dec.past, dec.length = past, length
	return err
}

// part returns the section of a buffer for a layer's key (0) or value (1) with the given number of
// positions.
func (dec *decoding) part(buffer []float32, layer, kind int, positions int64) []float32 {
	size := dec.decoder.heads * positions * dec.decoder.dim
	at := int64(2*layer+kind) * size
	return buffer[at : at+size]
}

// track records a value that is destroyed when the text ends.
func (dec *decoding) track(v Value, err error) (Value, error) {
	if err != nil {
		return nil, err
	}
	dec.live = append(dec.live, v)
	return v, nil
}

// end releases the C side of the text. The buffers stay for the next text.
func (dec *decoding) end() error {
	dec.call.Clear()
	err := errors.Join(destroy(dec.live), destroy(dec.past))
	dec.live, dec.past, dec.ids = dec.live[:0], nil, dec.ids[:0]
	return err
}

// Close releases everything.
func (dec *decoding) Close() error { return errors.Join(dec.end(), dec.call.Close()) }

// destroy releases the C side of all values that are not nil.
func destroy(values []Value) error {
	var errs []error
	for _, v := range values {
		if v != nil {
			errs = append(errs, v.Destroy())
		}
	}
	return errors.Join(errs...)
}

// resize returns a slice of n elements, s itself if it is long enough. A new slice gets a quarter
// more capacity, so that calls of about the same length stop allocating.
func resize[T any](s []T, n int64) []T {
	if int64(cap(s)) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
