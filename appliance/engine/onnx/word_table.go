package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"parley/appliance/engine"
)

// wordTable holds the vector that a sentence model has for each token, a byte a number with a scale for each token. As
// a part of the model, ONNX Runtime would keep it as float32, which takes 47 MB instead of 12.
type wordTable struct {
	numbers []int8 // engine.SentenceDimensions for each token
	scales  []float32
}

// The names of the table's tensors in the model, and of the result of its look-up.
const (
	tableNumbers = "inner.embeddings.word_embeddings.weight_q"
	tableScales  = "inner.embeddings.word_embeddings.weight_scale"
	tableResult  = "embedding"
)

// readWordTable copies the table for a number of tokens out of a model.
func readWordTable(model []byte, tokens int) (t wordTable, err error) {
	graph, _, err := graphOf(model)
	if err != nil {
		return t, err
	}
	numbers, err := rawTensor(graph, tableNumbers, tokens*engine.SentenceDimensions)
	if err != nil {
		return t, err
	}
	scales, err := rawTensor(graph, tableScales, tokens*4)
	if err != nil {
		return t, err
	}
	t.numbers = make([]int8, len(numbers))
	for i, n := range numbers {
		t.numbers[i] = int8(n)
	}
	t.scales = make([]float32, tokens)
	for i := range t.scales {
		t.scales[i] = math.Float32frombits(binary.LittleEndian.Uint32(scales[4*i:]))
	}
	return t, nil
}

// vectors returns the vectors of tokens, one after the other.
func (t wordTable) vectors(tokens []int64) []float32 {
	all := make([]float32, 0, len(tokens)*engine.SentenceDimensions)
	for _, token := range tokens {
		scale := t.scales[token]
		for _, n := range t.numbers[token*engine.SentenceDimensions : (token+1)*engine.SentenceDimensions] {
			all = append(all, float32(n)*scale)
		}
	}
	return all
}

// rawTensor returns the data of a constant of a graph, which must have a size in bytes, without a copy.
func rawTensor(graph []byte, name string, size int) ([]byte, error) {
	for f, err := range protobufFields(graph) {
		if err != nil {
			return nil, err
		}
		if f.number != graphInitializer {
			continue
		}
		if is, err := protobufString(f.value, tensorName); err != nil {
			return nil, err
		} else if is == name {
			return rawData(f.value, name, size)
		}
	}
	return nil, fmt.Errorf("the model has no constant %s", name)
}

func rawData(tensor []byte, name string, size int) ([]byte, error) {
	for f, err := range protobufFields(tensor) {
		if err != nil {
			return nil, err
		}
		if f.number == tensorRawData && len(f.value) == size {
			return f.value, nil
		}
	}
	return nil, fmt.Errorf("the constant %s has not %d bytes", name, size)
}
