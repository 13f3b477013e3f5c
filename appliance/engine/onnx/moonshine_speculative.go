package onnx

import "parley/appliance/engine"

// maxSpeculative is how many speculative tokens are verified at once, about eight seconds of
// speech. Longer sounds are cut at their pauses, and each token takes 128 KB for its logits.
const maxSpeculative = 32

// usableTokens returns the beginning of speculative tokens that can be verified: valid tokens of
// this model.
func (m *Moonshine) usableTokens(d engine.TranscriptTokens) []int64 {
	d = d[:min(len(d), maxSpeculative)]
	for i, id := range d {
		if id < 0 || id >= moonshineVocab {
			return d[:i]
		}
	}
	return d
}

// verify is the first step of a text. It decodes the speculative tokens in one step and passes the
// logits after each of them to take, as long as take's result is the next speculative token, and
// once more. Then it rewinds the decoder to the state after those tokens. Decoding 16 tokens at
// once takes as long as three steps. done says that the text is complete.
func (w *moonshineWorkspace) verify(speculative []int64, take func(logits []float32) (id int64, more bool)) (done bool,
	err error) {
	logits, err := w.step(append([]int64{moonshineBOS}, speculative...)...)
	if err != nil {
		return true, err
	}
	for i := 0; ; i++ {
		id, more := take(logits[i*moonshineVocab : (i+1)*moonshineVocab])
		if !more {
			return true, nil
		}
		if i == len(speculative) || id != speculative[i] {
			return false, w.rewind(int64(i + 1))
		}
	}
}
