package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"parley/appliance/engine"
)

const (
	// attentionSamples is the sound that one place of the encoder stands for.
	attentionSamples = 320
	// attentionMedian is over how many places the attention is smoothed.
	attentionMedian = 7
)

// alignmentHeads are those of Whisper base whose attention follows the sound, by
// their layer, as its authors found.
func alignmentHeads() map[int][]int {
	return map[int][]int{3: {1}, 4: {2, 3, 7}, 5: {1, 2, 4, 6}}
}

// Align returns where in pcm, in samples, each of the words begins that are said
// in it. Whisper is told the words and asked which part of the sound it attends
// to while it reads them; the path through that is found by dynamic time
// warping, as in Whisper's own word times. It is exact to 20 ms at best. The
// words may have some 200 letters together.
func (w *Whisper) Align(ctx context.Context, pcm []float32, words []string, o engine.TranscribeOptions) (begins []int,
	err error) {
	language, err := w.tokens.languageToken(o.Language)
	if err != nil {
		return nil, err
	}
	if language == 0 {
		return nil, errors.New("onnx: words are aligned in a language that is told")
	}
	if err := checkLength(pcm); err != nil {
		return nil, err
	}
	ids := []int64{whisperStart, language, whisperTranscribe, whisperNoTimes}
	var at []int // the first id of each word
	for _, word := range words {
		at = append(at, len(ids))
		ids = append(ids, w.tokens.spell(" "+word)...)
	}
	ids = append(ids, whisperEOS)
	if len(ids) > whisperPrompt+whisperLimit {
		return nil, fmt.Errorf("onnx: words of %d letters to align; at most %d are allowed", len(ids)-whisperPrompt-1,
			whisperLimit-1)
	}
	var heard [][]float32
	err = w.gate.Do(ctx, o.Urgency, w.decoder.session.Threads(), func() error {
		return w.workspaces.use(func(work *whisperWorkspace) error {
			err := w.encode(work, pcm)
			if err == nil {
				heard, err = w.attention(work, ids)
			}
			return errors.Join(err, work.end())
		})
	})
	if err != nil {
		return nil, err
	}
	places := max(len(pcm)/attentionSamples, 1)
	// Where the decoder attends to while it reads an id is where it looks for the
	// next one; what it reads before the last of the prompt is no sound's.
	const before = whisperPrompt - 1
	path := warp(smoothAttention(heard, len(ids), places)[before : len(ids)-1])
	for _, first := range at {
		begins = append(begins, path[first-1-before]*attentionSamples)
	}
	return begins, nil
}

// attention has the decoder read ids, and returns for each of the heads that
// follow the sound how much each id attends to each place of it.
func (w *Whisper) attention(work *whisperWorkspace, ids []int64) (heard [][]float32, err error) {
	made := map[int][]float32{}
	n := int64(len(ids))
	for layer := range alignmentHeads() {
		made[layer] = make([]float32, whisperHeads*n*work.sound)
		v, err := work.track(NewTensor(made[layer], 1, whisperHeads, n, work.sound))
		if err != nil {
			return nil, err
		}
		if err := work.call.Out("cross_attentions."+strconv.Itoa(layer), v); err != nil {
			return nil, err
		}
	}
	if _, err := work.step(ids...); err != nil {
		return nil, err
	}
	for layer, heads := range alignmentHeads() {
		for _, h := range heads {
			size := int(n * work.sound)
			heard = append(heard, made[layer][h*size:(h+1)*size])
		}
	}
	return heard, nil
}

// smoothAttention is how much each id is said at each place, over all heads: their
// attention against its mean over the ids, smoothed.
func smoothAttention(heads [][]float32, ids, places int) [][]float64 {
	sum := make([][]float64, ids)
	for i := range sum {
		sum[i] = make([]float64, places)
	}
	window := make([]float64, 0, attentionMedian)
	for _, head := range heads {
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
		for i := range ids {
			for p := range places {
				window = window[:0]
				for q := p - attentionMedian/2; q <= p+attentionMedian/2; q++ {
					window = append(window, float64(head[i*width+min(max(q, 0), places-1)]))
				}
				slices.Sort(window)
				sum[i][p] += window[attentionMedian/2]
			}
		}
	}
	return sum
}

// warp is the first place of each row on the path from the first row and column
// to the last that gains most (dynamic time warping).
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

// assignWords writes text letter by letter, a space with the letter behind it. Told
// whole words, the model looks somewhere into each of them, a tenth of a second
// from where it begins in the median; told letters, 0.04 s.
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
		ids = append(ids, t.ids[text[:n]]) // every byte is a token
		text = text[n:]
	}
	return ids
}
