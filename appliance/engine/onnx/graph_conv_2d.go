package onnx

import (
	"errors"
	"fmt"
	"slices"
)

// planarOperators are one-dimensional convolutions that ONNX Runtime's CPU kernels compute faster
// in two dimensions, the first of size one. They sum the same numbers in the same order, so the
// result is identical bit for bit. In two dimensions ConvInteger gathers its input and
// ConvTranspose scatters its output a row at a time, in any other number of dimensions value by
// value. A float Conv does not become faster.
var planarOperators = []string{"ConvInteger", "ConvTranspose"}

// The shapes that turn a tensor [n, channels, positions] into [n, channels, 1, positions] and back;
// 0 keeps a dimension, -1 is the rest.
const (
	planarShape, linearShape = "parley/planar", "parley/linear"
)

// planar makes such convolutions of a graph, given as its fields, two-dimensional. Convolutions
// whose weights do not have three dimensions or have another user stay as they are. A rewritten
// field may consist of several pieces.
func planar(fields [][]byte) ([][]byte, error) {
	g, err := planarWeights(fields)
	if err != nil || len(g) == 0 {
		return fields, err
	}
	out := [][]byte{shapeInitializer(planarShape, 0, 0, 1, -1), shapeInitializer(linearShape, 0, 0, -1)}
	for _, raw := range fields {
		pieces, err := g.planar(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, pieces...)
	}
	return out, nil
}

// weights are the names of initializers that only planar convolutions use.
type weights map[string]bool

// planarWeights returns the weights of a graph, given as its fields.
func planarWeights(fields [][]byte) (weights, error) {
	found := weights{}
	var others []string
	three := map[string]bool{}
	for _, raw := range fields {
		f, err := nextField(raw)
		if err != nil {
			return nil, err
		}
		switch f.number {
		case graphNode:
			n, err := readNode(f)
			if err != nil {
				return nil, err
			}
			if n.nested { // the nested graph may use any initializer
				return nil, nil
			}
			if w := n.planarWeight(); w != "" {
				found[w] = true
				n.inputs = slices.Delete(n.inputs, 1, 2)
			}
			others = append(others, n.inputs...)
		case graphInitializer:
			t, err := readInitializer(f.value)
			if err != nil {
				return nil, err
			}
			three[t.name] = len(t.dims) == 3
		}
	}
	for _, name := range others {
		delete(found, name)
	}
	for name := range found {
		if !three[name] {
			delete(found, name)
		}
	}
	return found, nil
}

// planarWeight returns the name of the weights of a convolution that can be planar, or "".
func (g graphStep) planarWeight() string {
	if !slices.Contains(planarOperators, g.operator) || len(g.inputs) < 2 || len(g.outputs) != 1 ||
		g.hasAttribute("output_shape") {
		return ""
	}
	return g.inputs[1]
}

// hasAttribute reports whether the node has the attribute.
func (g graphStep) hasAttribute(attribute string) bool {
	return slices.ContainsFunc(g.attributes, func(a []byte) bool {
		name, _ := protobufString(a, attributeName)
		return name == attribute
	})
}

// planar rewrites a field of a graph so that those weights have four dimensions.
func (w weights) planar(raw []byte) ([][]byte, error) {
	f, err := nextField(raw)
	if err != nil {
		return nil, err
	}
	switch f.number {
	case graphNode:
		n, err := readNode(f)
		if err != nil || !w[n.planarWeight()] {
			return [][]byte{raw}, err
		}
		return n.planar()
	case graphInitializer:
		t, err := readInitializer(f.value)
		if err != nil || !w[t.name] {
			return [][]byte{raw}, err
		}
		return t.field(t.dims[0], t.dims[1], 1, t.dims[2]), nil
	}
	return [][]byte{raw}, nil
}

// planar returns the two-dimensional node between two reshapes.
func (g graphStep) planar() ([][]byte, error) {
	in, out := g.inputs[0], g.outputs[0]
	planarIn, planarOut := out+"/planar_in", out+"/planar_out"
	node := nodeField(g.operator, append([]string{planarIn}, g.inputs[1:]...), planarOut)
	for _, a := range g.attributes {
		a, err := planarAttribute(a)
		if err != nil {
			return nil, fmt.Errorf("the convolution that computes %q: %w", out, err)
		}
		node = appendBytes(node, nodeAttribute, a)
	}
	return [][]byte{
		appendBytes(nil, graphNode, nodeField("Reshape", []string{in, planarShape}, planarIn)),
		appendBytes(nil, graphNode, node),
		appendBytes(nil, graphNode, nodeField("Reshape", []string{planarOut, linearShape}, out)),
	}, nil
}

// planarAttribute extends an attribute by a dimension of size one before the existing one.
func planarAttribute(a []byte) ([]byte, error) {
	name, err := protobufString(a, attributeName)
	if err != nil {
		return nil, err
	}
	v, err := numbers(a, attributeNumbers)
	if err != nil {
		return nil, err
	}
	switch {
	case name == "kernel_shape" || name == "strides" || name == "dilations":
		v = slices.Insert(v, 0, 1)
	case name == "output_padding":
		v = slices.Insert(v, 0, 0)
	case name == "pads" && len(v) == 2: // padding before and after
		v = []uint64{0, v[0], 0, v[1]}
	default:
		return a, nil
	}
	out := appendBytes(nil, attributeName, []byte(name))
	out = appendNumbers(out, attributeNumbers, v...)
	return appendNumbers(out, attributeType, attributeIsInts), nil
}

// readPlanar reads a model, makes its convolutions planar, and appends tail. The bytes are valid
// until release.
func readPlanar(path, tail string) (model []byte, release func() error, err error) {
	file, free, err := readModel(path, "")
	if err != nil {
		return nil, nil, err
	}
	buffer, release, err := memory(len(file) + cutOverhead + len(tail))
	if err != nil {
		return nil, nil, errors.Join(err, free())
	}
	model, err = planarModel(buffer[:0], file)
	if err = errors.Join(err, free()); err != nil { // so that only one copy exists while the library loads it
		return nil, nil, errors.Join(loadError(path, err), release())
	}
	return append(model, tail...), release, nil
}

// planarModel appends to dst the model with planar convolutions.
func planarModel(dst, model []byte) ([]byte, error) {
	return rewritten(dst, model, func(graph []byte) ([][]byte, error) {
		var fields [][]byte
		for f, err := range protobufFields(graph) {
			if err != nil {
				return nil, err
			}
			if f.number != graphValueInfo { // shapes that are no longer valid
				fields = append(fields, f.raw)
			}
		}
		return planar(fields)
	})
}
