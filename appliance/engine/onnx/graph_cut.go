package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The field numbers of onnx.proto3 that cutGraph needs.
const (
	graphNode  = 1
	graphInput = 11

	nodeInput     = 1
	nodeOutput    = 2
	nodeAttribute = 5

	attributeGraph  = 6
	attributeGraphs = 11

	valueType        = 2
	typeTensor       = 1
	tensorElement    = 1
	tensorShape      = 2
	shapeDimension   = 1
	dimensionName    = 2
	elementIsFloat32 = 1
)

// A part is a piece of a graph between its input and output tensors. Inner tensors that become
// inputs are float32 with three dimensions, the first of size 1.
type part struct{ inputs, outputs []string }

// cutGraph appends to dst a model that contains one part of another: the nodes that compute the
// part's outputs from its inputs, and their weights. An unused input is an error, as is a node that
// needs a tensor from outside the part. Convolutions are made planar where that is faster.
func cutGraph(dst, model []byte, p part) ([]byte, error) {
	return rewritten(dst, model, func(graph []byte) ([][]byte, error) {
		fields, err := partFields(graph, p)
		if err != nil {
			return nil, err
		}
		return planar(fields)
	})
}

// rewritten appends to dst the model with other fields in its graph.
func rewritten(dst, model []byte, fieldsOf func(graph []byte) ([][]byte, error)) ([]byte, error) {
	graph, others, err := graphOf(model)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf(graph)
	if err != nil {
		return nil, err
	}
	for _, f := range others {
		dst = append(dst, f.raw...)
	}
	size := 0
	for _, f := range fields {
		size += len(f)
	}
	dst = binary.AppendUvarint(dst, modelGraph<<3|wireBytes)
	dst = binary.AppendUvarint(dst, uint64(size))
	for _, f := range fields {
		dst = append(dst, f...)
	}
	return dst, nil
}

// graphOf returns the graph of a model and the model's other fields.
func graphOf(model []byte) (graph []byte, others []protobufField, err error) {
	for f, err := range protobufFields(model) {
		switch {
		case err != nil:
			return nil, nil, err
		case f.number == modelGraph && graph != nil:
			return nil, nil, errors.New("a second graph in one model")
		case f.number == modelGraph:
			graph = f.value
		default:
			others = append(others, f)
		}
	}
	if graph == nil {
		return nil, nil, errors.New("no graph in the model")
	}
	return graph, others, nil
}

// partFields returns the fields of the graph that consists of the part, each with its tag.
func partFields(graph []byte, p part) ([][]byte, error) {
	nodes, given, others, err := readGraph(graph)
	if err != nil {
		return nil, err
	}
	edge := setOf(p.inputs)
	wanted := setOf(p.outputs)
	var needed [][]byte
	for i := len(nodes) - 1; i >= 0; i-- { // a graph lists its nodes in topological order
		n := nodes[i]
		if !n.makes(wanted, edge) {
			continue
		}
		if n.nested {
			return nil, fmt.Errorf("the node that computes %q contains a graph", n.outputs[0])
		}
		for _, in := range n.inputs {
			wanted[in] = true
		}
		for _, out := range n.outputs {
			delete(wanted, out) // this node computes it
		}
		needed = append(needed, n.raw)
	}
	out := make([][]byte, 0, len(needed)+len(others)+8)
	for i := len(needed) - 1; i >= 0; i-- {
		out = append(out, needed[i])
	}
	for _, name := range p.inputs {
		if !wanted[name] {
			return nil, fmt.Errorf("no node of the part needs %q", name)
		}
		field := given[name]
		if field == nil {
			field = appendBytes(nil, graphInput, floatTensor(name))
		}
		out = append(out, field)
		delete(wanted, name)
	}
	for _, o := range others {
		if o.name == "" {
			out = append(out, o.raw)
		} else if wanted[o.name] {
			out = append(out, o.raw)
			delete(wanted, o.name)
		}
	}
	delete(wanted, "") // an omitted optional input
	for name := range wanted {
		return nil, fmt.Errorf("%q is not computed within the part", name)
	}
	for _, name := range p.outputs {
		out = append(out, appendBytes(nil, graphOutput, appendBytes(nil, valueName, []byte(name))))
	}
	return out, nil
}

// graphStep is a node of a graph, with the fields that cutting needs.
type graphStep struct {
	raw             []byte
	operator        string
	inputs, outputs []string
	attributes      [][]byte
	nested          bool // one of its attributes is a graph
}

// makes reports whether the node computes a wanted tensor that is not an input of the part.
func (g graphStep) makes(wanted, edge map[string]bool) bool {
	for _, out := range g.outputs {
		if wanted[out] && !edge[out] {
			return true
		}
	}
	return false
}

// namedField is a field of a graph that is copied unchanged: always if it has no name, else only
// when a node needs the tensor of that name.
type namedField struct {
	name string
	raw  []byte
}

// readGraph splits a graph into its nodes, its inputs by name, and the other fields that a part may
// need: the weights and the graph's name. Its outputs and inner shapes are left out.
func readGraph(graph []byte) (nodes []graphStep, inputs map[string][]byte, others []namedField, err error) {
	inputs = map[string][]byte{}
	for f, err := range protobufFields(graph) {
		if err != nil {
			return nil, nil, nil, err
		}
		switch f.number {
		case graphValueInfo, graphOutput:
		case graphNode:
			n, err := readNode(f)
			if err != nil {
				return nil, nil, nil, err
			}
			nodes = append(nodes, n)
		case graphInput:
			name, err := protobufString(f.value, valueName)
			if err != nil {
				return nil, nil, nil, err
			}
			inputs[name] = f.raw
		case graphInitializer:
			name, err := protobufString(f.value, tensorName)
			if err != nil {
				return nil, nil, nil, err
			}
			others = append(others, namedField{name, f.raw})
		default:
			others = append(others, namedField{raw: f.raw})
		}
	}
	return nodes, inputs, others, nil
}

func readNode(node protobufField) (graphStep, error) {
	n := graphStep{raw: node.raw}
	for f, err := range protobufFields(node.value) {
		if err != nil {
			return n, err
		}
		switch f.number {
		case nodeInput:
			n.inputs = append(n.inputs, string(f.value))
		case nodeOutput:
			n.outputs = append(n.outputs, string(f.value))
		case nodeOperator:
			n.operator = string(f.value)
		case nodeAttribute:
			n.attributes = append(n.attributes, f.value)
			for a, err := range protobufFields(f.value) {
				if err != nil {
					return n, err
				}
				n.nested = n.nested || a.number == attributeGraph || a.number == attributeGraphs
			}
		}
	}
	return n, nil
}

// floatTensor describes an input: float32, [1, channels, frames].
func floatTensor(name string) []byte {
	dimension := func(field []byte) []byte { return appendBytes(nil, shapeDimension, field) }
	one := dimension([]byte{1<<3 | wireVarint, 1})
	channels := dimension(appendBytes(nil, dimensionName, []byte(name+" channels")))
	frames := dimension(appendBytes(nil, dimensionName, []byte(name+" frames")))
	shape := append(append(one, channels...), frames...)
	tensor := append([]byte{tensorElement<<3 | wireVarint, elementIsFloat32}, appendBytes(nil, tensorShape, shape)...)
	value := appendBytes(nil, valueName, []byte(name))
	return appendBytes(value, valueType, appendBytes(nil, typeTensor, tensor))
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// nodeField returns a NodeProto without attributes.
func nodeField(operator string, inputs []string, output string) (node []byte) {
	for _, in := range inputs {
		node = appendBytes(node, nodeInput, []byte(in))
	}
	node = appendBytes(node, nodeOutput, []byte(output))
	return appendBytes(node, nodeOperator, []byte(operator))
}
