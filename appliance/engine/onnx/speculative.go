package onnx

import "parley/appliance/engine"

// maxSpeculative is how many tokens of a draft are read at once, about eight
// seconds of speech: longer sounds are cut at their pauses, and each token takes
// 128 KB for its logits.
const maxSpeculative = 32

// usableTokens is what may be read of a draft: its beginning, as far as it is of
// tokens that the model has.
func (m *Moonshine) usableTokens(d engine.TranscriptTokens) []int64 {
	d = d[:min(len(d), maxSpeculative)]
	for i, id := range d {
		if id < 0 || id >= moonshineVocab {
			return d[:i]
		}
	}
	return d
}

// verify is the first step of a text: it reads the draft as if the model had
// written it, and gives take the logits after each token for as long as what take
// makes of them is what stands in the draft, and once more. Then the decoder is
// where it would be had it written those tokens alone: reading 16 of them takes
// as long as writing three. It reports whether the text is done.
func (w *moonshineWorkspace) verify(draft []int64, take func(logits []float32) (id int64, more bool)) (done bool,
	err error) {
	logits, err := w.step(append([]int64{moonshineBOS}, draft...)...)
	if err != nil {
		return true, err
	}
	for i := 0; ; i++ {
		id, more := take(logits[i*moonshineVocab : (i+1)*moonshineVocab])
		if !more {
			return true, nil
		}
		if i == len(draft) || id != draft[i] {
			return false, w.rewind(int64(i + 1))
		}
	}
}
