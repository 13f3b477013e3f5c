package onnx

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
)

// weightEntry describes one tensor in a file of weights, as the manifests of TensorFlow.js do: the
// tensors follow each other, float32 or, with a quantization, bytes.
type weightEntry struct {
	Name         string `json:"name"`
	Shape        []int  `json:"shape"`
	Type         string `json:"dtype"`
	Quantization *struct {
		Type  string  `json:"dtype"`
		Scale float32 `json:"scale"`
		Min   float32 `json:"min"`
	} `json:"quantization"`
	// Offset is the position in the file where the tensors do not follow each other.
	Offset int `json:"offset"`
}

type weightGroup struct {
	Weights []weightEntry `json:"weights"`
}

// ferManifest lists the tensors of the net of the Python package fer, which come as an HDF5 file.
// The file stores each tensor in one contiguous piece, and the pack fixes the file by its SHA-256,
// so that the positions are constants. They were read with h5py.
//
//go:embed face_fer.json
var ferManifest []byte

// readWeights reads a file of weights with the manifest that describes it: a weights manifest, or a
// model.json that contains one.
func readWeights(file string, manifest []byte) (map[string]weightTensor, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var groups []weightGroup
	if err := json.Unmarshal(manifest, &groups); err != nil {
		var model struct {
			Manifest []weightGroup `json:"weightsManifest"`
		}
		if err := json.Unmarshal(manifest, &model); err != nil {
			return nil, fmt.Errorf("the manifest of %s: %w", file, err)
		}
		groups = model.Manifest
	}
	weights := map[string]weightTensor{}
	at := 0
	for _, g := range groups {
		for _, e := range g.Weights {
			if e.Offset > 0 {
				at = e.Offset
			}
			t, size, err := e.read(data, at)
			if err != nil {
				return nil, fmt.Errorf("the weights %q in %s: %w", e.Name, file, err)
			}
			weights[e.Name] = t
			at += size
		}
	}
	return weights, nil
}

// read reads the tensor at a position of data and returns how many bytes it has.
func (e weightEntry) read(data []byte, at int) (t weightTensor, size int, err error) {
	n := 1
	for _, d := range e.Shape {
		if d < 0 || d > len(data) || n > len(data) {
			return t, 0, fmt.Errorf("the shape %v is not possible", e.Shape)
		}
		n *= d
	}
	width := 4
	if e.Quantization != nil {
		width = 1
		if e.Quantization.Type != "uint8" {
			return t, 0, fmt.Errorf("the quantization %q is not uint8", e.Quantization.Type)
		}
	}
	size = n * width
	if at+size > len(data) {
		return t, 0, fmt.Errorf("the file ends at %d, the tensor at %d", len(data), at+size)
	}
	if e.Type != "float32" { // indices of an operator, which the graphs here do not use
		return weightTensor{}, size, nil
	}
	t = weightTensor{e.Shape, make([]float32, n)}
	for i := range t.values {
		if q := e.Quantization; q != nil {
			t.values[i] = float32(data[at+i])*q.Scale + q.Min
		} else {
			t.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*i:]))
		}
	}
	return t, size, nil
}
