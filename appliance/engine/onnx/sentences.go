package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"parley/appliance/engine"
)

// sentenceTokens is the most tokens of a text that count: about a hundred words. The model was trained with as many.
const sentenceTokens = 128

// SentenceModel names the model of Sentences and how its vectors are made.
const SentenceModel = "all-MiniLM-L6-v2-int8-1"

// Sentences is the sentence embedder all-MiniLM-L6-v2, which understands English. It is safe for concurrent use.
type Sentences struct {
	session *Session
	words   *wordPiece
	table   wordTable
	gate    *engine.Gate
}

// LoadSentences loads the model from the folder of the pack embed. A call runs on one core for about 3 ms a text.
func LoadSentences(rt *Runtime, dir string, gate *engine.Gate) (_ *Sentences, err error) {
	s := &Sentences{gate: gate}
	if s.words, err = readWordPiece(filepath.Join(dir, "tokenizer.json")); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "model.onnx")
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	model, free, err := readModel(path, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, free()) }()
	if s.table, err = readWordTable(model, len(s.words.ids)); err != nil {
		return nil, loadError(path, err)
	}
	s.session, err = rt.loadPart(path, model, part{
		inputs:  []string{tableResult, "attention_mask", "token_type_ids"},
		outputs: []string{"last_hidden_state"},
	}, SessionOptions{Threads: 1})
	return s, err
}

// Close releases the memory. No call may be running.
func (s *Sentences) Close() error { return s.session.Close() }

// Model returns SentenceModel.
func (s *Sentences) Model() string { return SentenceModel }

// Warm runs the model once, because the first run is slow.
func (s *Sentences) Warm(ctx context.Context) error {
	_, err := s.Embed(ctx, []string{"Hello."}, engine.Live.Urgency())
	return err
}

// Embed implements engine.SentenceEmbedder. It embeds one text after the other, since a batch is not faster: of 1 to
// 64 texts at once a text took 3.1 to 3.6 ms on one core, and up to 7 ms on two. Between two texts others may use the
// cores.
func (s *Sentences) Embed(ctx context.Context, texts []string, u *engine.Urgency) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		tokens := s.words.tokens(text, sentenceTokens)
		err := s.gate.Do(ctx, u, s.session.Threads(), func() (err error) {
			vectors[i], err = s.embed(tokens)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// embed returns the mean of the model's outputs for all tokens, at length 1.
func (s *Sentences) embed(tokens []int64) (vector []float32, err error) {
	n := int64(len(tokens))
	mask := make([]int64, n)
	for i := range mask {
		mask[i] = 1 // every token counts
	}
	var inputs, outputs []Value
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	vectors, err := NewTensor(s.table.vectors(tokens), 1, n, engine.SentenceDimensions)
	if err != nil {
		return nil, err
	}
	inputs = append(inputs, vectors)
	for _, data := range [][]int64{mask, make([]int64, n)} { // all tokens are of one text
		v, err := NewTensor(data, 1, n)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, v)
	}
	outputs = []Value{nil}
	if err := s.session.Run(inputs, outputs); err != nil {
		outputs = nil
		return nil, err
	}
	states, err := Floats(outputs[0])
	if err != nil {
		return nil, err
	}
	if len(states) != len(tokens)*engine.SentenceDimensions {
		return nil, fmt.Errorf("onnx: %d values for %d tokens, not %d for each", len(states), n,
			engine.SentenceDimensions)
	}
	return meanVector(states), nil
}

// meanVector returns the mean of vectors of engine.SentenceDimensions that follow each other, at length 1.
func meanVector(states []float32) []float32 {
	var sum [engine.SentenceDimensions]float64
	for i, x := range states {
		sum[i%engine.SentenceDimensions] += float64(x)
	}
	var squares float64
	for _, x := range sum {
		squares += x * x
	}
	length := math.Sqrt(squares)
	vector := make([]float32, engine.SentenceDimensions)
	for i, x := range sum {
		vector[i] = float32(x / max(length, 1e-12))
	}
	return vector
}
