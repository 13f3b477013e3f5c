package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The field numbers of onnx.proto3 that only a new graph needs.
const (
	modelIRVersion  = 1
	modelOpset      = 8
	opsetVersion    = 2
	graphName       = 2
	dimensionSize   = 1
	attributeFloat  = 2
	attributeInt    = 3
	attributeString = 4

	attributeIsFloat  = 1
	attributeIsInt    = 2
	attributeIsString = 3

	irVersion     = 8  // of ONNX 1.13, which all supported runtimes read
	operatorsFrom = 13 // the operator set of that version
)

// weightTensor is a named constant of a net: float32 values in row-major order.
type weightTensor struct {
	shape  []int
	values []float32
}

// graphBuilder builds an ONNX model, node by node. Each method that adds a node returns the name of
// its output. The first error is kept and ends the build. Convolutions take their filters in the
// order of TensorFlow, [height, width, in, out].
type graphBuilder struct {
	weights map[string]weightTensor
	fields  []byte          // of the graph
	written map[string]bool // the initializers in fields
	count   int             // of tensors
	err     error
}

// attribute is one attribute of a node: a float32, an int, a string or a list of ints.
type attribute struct {
	name  string
	value any
}

func newGraphBuilder(weights map[string]weightTensor) *graphBuilder {
	size := 1 << 16 // the nodes
	for _, w := range weights {
		size += 4*len(w.values) + 1<<8
	}
	return &graphBuilder{
		weights: weights,
		fields:  appendBytes(make([]byte, 0, size), graphName, []byte("parley")),
		written: map[string]bool{},
	}
}

// builtGraph is a finished model, with one float32 input and one float32 output.
type builtGraph struct {
	onnx          []byte
	input, output []int64 // shapes
}

// The names of the input and the output.
const graphInputName, graphOutputName = "input", "output"

// model returns the finished model. The tensor output is its output.
func (g *graphBuilder) model(output string, inputShape, outputShape []int64) (builtGraph, error) {
	if g.err != nil {
		return builtGraph{}, g.err
	}
	graph := appendBytes(g.fields, graphNode, nodeField("Identity", []string{output}, graphOutputName))
	graph = appendBytes(graph, graphInput, valueOf(graphInputName, inputShape))
	graph = appendBytes(graph, graphOutput, valueOf(graphOutputName, outputShape))
	model := appendNumbers(nil, modelIRVersion, irVersion)
	model = appendBytes(model, modelOpset, appendNumbers(nil, opsetVersion, operatorsFrom))
	return builtGraph{appendBytes(model, modelGraph, graph), inputShape, outputShape}, nil
}

// valueOf returns the ValueInfoProto of a float32 tensor. A dimension of -1 may have any size.
func valueOf(name string, shape []int64) []byte {
	var dims []byte
	for _, d := range shape {
		var dim []byte
		if d >= 0 {
			dim = appendNumbers(nil, dimensionSize, uint64(d))
		}
		dims = appendBytes(dims, shapeDimension, dim)
	}
	tensor := appendBytes(appendNumbers(nil, tensorElement, elementIsFloat32), tensorShape, dims)
	return appendBytes(appendBytes(nil, valueName, []byte(name)), valueType, appendBytes(nil, typeTensor, tensor))
}

func (g *graphBuilder) node(operator string, inputs []string, attributes ...attribute) string {
	g.count++
	output := fmt.Sprintf("t%d", g.count)
	node := nodeField(operator, inputs, output)
	for _, a := range attributes {
		node = appendBytes(node, nodeAttribute, a.field())
	}
	g.fields = appendBytes(g.fields, graphNode, node)
	return output
}

func (a attribute) field() []byte {
	b := appendBytes(nil, attributeName, []byte(a.name))
	switch v := a.value.(type) {
	case float32:
		b = binary.AppendUvarint(b, attributeFloat<<3|wireFixed4)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		return appendNumbers(b, attributeType, attributeIsFloat)
	case int:
		return appendNumbers(appendNumbers(b, attributeInt, uint64(v)), attributeType, attributeIsInt)
	case string:
		return appendNumbers(appendBytes(b, attributeString, []byte(v)), attributeType, attributeIsString)
	case []int:
		for _, n := range v {
			b = appendNumbers(b, attributeNumbers, uint64(n))
		}
		return appendNumbers(b, attributeType, attributeIsInts)
	}
	panic(fmt.Sprintf("onnx: an attribute of type %T", a.value))
}

// weight returns a weight with that many dimensions.
func (g *graphBuilder) weight(name string, dimensions int) weightTensor {
	w := g.weights[name]
	if len(w.shape) == dimensions {
		return w
	}
	if g.err == nil {
		g.err = fmt.Errorf("the weights have no %q of %d dimensions; it has the shape %v", name, dimensions, w.shape)
	}
	return weightTensor{make([]int, dimensions), nil}
}

// constant adds an initializer, unless it is there already, and returns its name.
func (g *graphBuilder) constant(name string, w weightTensor) string {
	if g.written[name] {
		return name
	}
	g.written[name] = true
	var t []byte
	for _, d := range w.shape {
		t = appendNumbers(t, tensorDims, uint64(d))
	}
	t = appendBytes(appendNumbers(t, tensorElementType, elementIsFloat32), tensorName, []byte(name))
	raw := make([]byte, 0, 4*len(w.values))
	for _, v := range w.values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	g.fields = appendBytes(g.fields, graphInitializer, appendBytes(t, tensorRawData, raw))
	return name
}

// named adds a weight with that many dimensions as it is.
func (g *graphBuilder) named(name string, dimensions int) string {
	return g.constant(name, g.weight(name, dimensions))
}

// squareConv describes a two-dimensional convolution with square filters.
type squareConv struct {
	filters   string // the name of the weights, [height, width, in, out]
	bias      string // the name of the weights; empty if there is none
	stride    int
	same      bool // padded as TensorFlow's SAME; else VALID
	depthwise bool // each channel by itself; the filters are [height, width, channels, 1]
}

// conv adds a convolution. ONNX orders filters [out, in, height, width].
func (g *graphBuilder) conv(x string, c squareConv) string {
	w := g.weight(c.filters, 4)
	size, in, out := w.shape[0], w.shape[2], w.shape[3]
	ordered := weightTensor{[]int{out, in, size, size}, make([]float32, len(w.values))}
	for i, v := range w.values {
		at, ofIn, ofOut := i/(in*out), i/out%in, i%out
		ordered.values[(ofOut*in+ofIn)*size*size+at] = v
	}
	groups := 1
	if c.depthwise {
		groups, ordered.shape = in, []int{in, out, size, size}
	}
	inputs := []string{x, g.constant(c.filters, ordered)}
	if c.bias != "" {
		inputs = append(inputs, g.named(c.bias, 1))
	}
	return g.node("Conv", inputs, attribute{"kernel_shape", []int{size, size}},
		attribute{"strides", []int{c.stride, c.stride}}, attribute{"group", groups}, padding(c.same))
}

// separable adds a depthwise convolution of stride 1 or more and a pointwise one.
func (g *graphBuilder) separable(x, depthwise, pointwise, bias string, stride int) string {
	x = g.conv(x, squareConv{filters: depthwise, stride: stride, same: true, depthwise: true})
	return g.conv(x, squareConv{filters: pointwise, bias: bias, stride: 1})
}

// padding returns the attribute for TensorFlow's SAME or VALID padding.
func padding(same bool) attribute {
	if same {
		return attribute{"auto_pad", "SAME_UPPER"}
	}
	return attribute{"auto_pad", "VALID"}
}

func (g *graphBuilder) pool(operator, x string, size, stride int, same bool) string {
	return g.node(operator, []string{x}, attribute{"kernel_shape", []int{size, size}},
		attribute{"strides", []int{stride, stride}}, padding(same))
}

func (g *graphBuilder) relu(x string) string { return g.node("Relu", []string{x}) }

func (g *graphBuilder) add(x, y string) string { return g.node("Add", []string{x, y}) }

func (g *graphBuilder) softmax(x string) string {
	return g.node("Softmax", []string{x}, attribute{"axis", 1})
}

// flatten makes [1, channels, 1, 1] to [1, channels].
func (g *graphBuilder) flatten(x string) string {
	return g.node("Flatten", []string{x}, attribute{"axis", 1})
}
