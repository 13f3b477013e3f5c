package onnx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"parley/appliance/engine"
)

const (
	// attentionSamples is the sound of one encoder position.
	attentionSamples = 320
	// attentionMedian is the width of the median filter over positions.
	attentionMedian = 7
)

// alignmentHeads returns the attention heads of Whisper base that follow the sound, by layer, as
// its authors determined.
func alignmentHeads() map[int][]int {
	return map[int][]int{3: {1}, 4: {2, 3, 7}, 5: {1, 2, 4, 6}}
}

// Align returns the sample position in pcm at which each of the words begins. Whisper decodes the
// given words, and the alignment is the best path through its attention to the sound (dynamic time
// warping), as in Whisper's own word timestamps. It is exact to 20 ms at best. The words may have
// some 400 letters together.
func (w *Whisper) Align(ctx context.Context, pcm []float32, words []string, o engine.TranscribeOptions) (begins []int,
	err error) {
	language, err := w.tokens.languageToken(o.Language)
	if err != nil {
		return nil, err
	}
	if language == 0 {
		return nil, errors.New("onnx: aligning words requires a language")
	}
	if err := checkLength(pcm); err != nil {
		return nil, err
	}
	err = w.workspaces.use(func(work *whisperWorkspace) error {
		encoding, err := w.encoding(work, pcm)
		if err == nil {
			err = encodeAndRun(ctx, w.gate, o.Urgency, w.decoder.session.Threads(), encoding)
		}
		if err == nil {
			begins, err = w.align(ctx, work, alignment{
				samples:  len(pcm),
				words:    words,
				language: language,
				urgency:  o.Urgency,
			})
		}
		return errors.Join(err, work.end())
	})
	if err == nil && begins == nil && len(words) > 0 {
		err = fmt.Errorf("onnx: %d words to align have too many letters: some %d are allowed", len(words), maxPositions)
	}
	return begins, err
}

// alignment asks for the times of words in the sound that a workspace has encoded.
type alignment struct {
	samples  int // of the sound
	words    []string
	language int64 // token
	urgency  *engine.Urgency
}

// maxPositions is how many tokens Whisper's decoder can tell apart by position.
const maxPositions = 448

// align returns the sample at which each word begins, or nil if the words have too many letters.
func (w *Whisper) align(ctx context.Context, work *whisperWorkspace, a alignment) (begins []int, err error) {
	ids := []int64{whisperStart, a.language, whisperTranscribe, whisperNoTimes}
	var at []int // the first token of each word
	for _, word := range a.words {
		at = append(at, len(ids))
		ids = append(ids, w.tokens.spell(" "+word)...)
	}
	ids = append(ids, whisperEOS)
	if len(ids) > maxPositions {
		return nil, nil
	}
	var heads [][]float32
	attend := func(ctx context.Context) (err error) {
		heads, err = w.attention(ctx, work, ids)
		return err
	}
	cores := w.decoder.session.Threads()
	if err = encodeAndRun(ctx, w.gate, a.urgency, cores, []func(context.Context) error{attend}); err != nil {
		return nil, err
	}
	gain := make([][]float64, len(ids))
	for i := range gain {
		gain[i] = make([]float64, max(a.samples/attentionSamples, 1))
	}
	for _, head := range heads {
		err := w.gate.Do(ctx, a.urgency, 1, func() error {
			addAttention(gain, head)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	// The attention while decoding a token is for the next token. The tokens before the last of the
	// prompt belong to no sound.
	const before = whisperPrompt - 1
	path := warp(gain[before : len(ids)-1])
	for _, first := range at {
		begins = append(begins, path[first-1-before]*attentionSamples)
	}
	return begins, nil
}

// setTimes sets the times of the words of a text, unless they have too many letters.
func (w *Whisper) setTimes(ctx context.Context, work *whisperWorkspace, a alignment, text string,
	words []engine.TranscriptWord) error {
	for _, word := range words {
		a.words = append(a.words, text[word.From:word.To])
	}
	if len(words) == 0 {
		return nil
	}
	begins, err := w.align(ctx, work, a)
	for i, begin := range begins {
		words[i].Begin, words[i].End = begin, a.samples
		if i+1 < len(begins) {
			words[i].End = begins[i+1]
		}
	}
	return err
}

// attentionOptions returns the options of a decoder whose Run takes what attention passes.
func attentionOptions() SessionOptions {
	o := SessionOptions{Inputs: []string{"input_ids", "encoder_hidden_states"}}
	for _, n := range layerNamesOf(whisperLayers) {
		o.Inputs = append(o.Inputs, n.past[0], n.past[1], n.encoderPast[0], n.encoderPast[1])
	}
	o.Inputs = append(o.Inputs, "use_cache_branch")
	for _, layer := range slices.Sorted(maps.Keys(alignmentHeads())) {
		o.Outputs = append(o.Outputs, "cross_attentions."+strconv.Itoa(layer))
	}
	return o
}

// attention decodes ids and returns, for each head that follows the sound, the attention of each
// token to each position.
func (w *Whisper) attention(ctx context.Context, work *whisperWorkspace, ids []int64) (heads [][]float32, err error) {
	n := int64(len(ids))
	text, err := work.track(NewTensor(ids, 1, n))
	if err != nil {
		return nil, err
	}
	inputs := []Value{text, work.heard}
	nothing, err := work.track(NewTensor[float32](nil, 1, whisperHeads, 0, whisperDim))
	if err != nil {
		return nil, err
	}
	inputs = append(inputs, slices.Repeat([]Value{nothing}, 4*whisperLayers)...)
	cached, err := work.track(NewTensor([]bool{false}, 1))
	if err != nil {
		return nil, err
	}
	layers := slices.Sorted(maps.Keys(alignmentHeads()))
	var outputs []Value
	for _, layer := range layers {
		made := make([]float32, whisperHeads*n*work.sound)
		v, err := work.track(NewTensor(made, 1, whisperHeads, n, work.sound))
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, v)
		for _, h := range alignmentHeads()[layer] {
			size := int(n * work.sound)
			heads = append(heads, made[h*size:(h+1)*size])
		}
	}
	return heads, w.decoder.session.RunUntil(ctx, append(inputs, cached), outputs)
}

// addAttention adds to sum how much each token attends to each position in one head: normalised over
// the tokens and smoothed over the positions. It changes head.
func addAttention(sum [][]float64, head []float32) {
	ids, places := len(sum), len(sum[0])
	width := len(head) / ids
	for p := range places {
		var mean, square float64
		for i := range ids {
			x := float64(head[i*width+p])
			mean += x / float64(ids)
			square += x * x / float64(ids)
		}
		spread := math.Sqrt(max(square-mean*mean, 1e-12))
		for i := range ids {
			head[i*width+p] = float32((float64(head[i*width+p]) - mean) / spread)
		}
	}
	window := make([]float32, 0, attentionMedian)
	for i := range ids {
		for p := range places {
			window = window[:0]
			for q := p - attentionMedian/2; q <= p+attentionMedian/2; q++ {
				window = append(window, head[i*width+min(max(q, 0), places-1)])
			}
			slices.Sort(window)
			sum[i][p] += float64(window[attentionMedian/2])
		}
	}
}

// warp returns the first column of each row on the path of highest gain from the first row and
// column to the last (dynamic time warping).
func warp(gain [][]float64) []int {
	rows, columns := len(gain), len(gain[0])
	best := make([]float64, columns)
	from := make([][]byte, rows)
	for i, row := range gain {
		from[i] = make([]byte, columns)
		diagonal := math.Inf(-1)
		if i == 0 {
			diagonal = 0
		}
		for j, g := range row {
			above := best[j]
			if i == 0 {
				above = math.Inf(-1)
			}
			most, how := diagonal, byte(0)
			if i > 0 && above > most {
				most, how = above, 1
			}
			if j > 0 && best[j-1] > most {
				most, how = best[j-1], 2
			}
			diagonal, best[j], from[i][j] = above, most+g, how
		}
	}
	first := make([]int, rows)
	for i, j := rows-1, columns-1; i > 0 || j > 0; {
		first[i] = j
		switch {
		case i > 0 && (from[i][j] == 1 || j == 0):
			i--
		case from[i][j] == 2 || i == 0:
			j--
		default:
			i, j = i-1, j-1
		}
		first[i] = j
	}
	return first
}

// spell encodes text letter by letter, a space together with the next letter. With whole-word
// tokens the model attends to somewhere within each word, a tenth of a second from its beginning in
// the median; with letters, 0.04 s.
func (t *whisperTokens) spell(text string) []int64 {
	t.once.Do(func() {
		t.ids = make(map[string]int64, len(t.bytes))
		for id, b := range t.bytes {
			t.ids[string(b)] = int64(id)
		}
	})
	var ids []int64
	for text != "" {
		n := 1
		if _, ok := t.ids[text[:min(2, len(text))]]; ok && text[0] == ' ' {
			n = min(2, len(text))
		}
		ids = append(ids, t.ids[text[:n]]) // every byte has a token
		text = text[n:]
	}
	return ids
}
