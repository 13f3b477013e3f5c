package onnx

import (
	"fmt"
	"math"
)

// Attributes of ONNX's convolutions, and where they lie in onnx.proto3.
const (
	nodeOperator = 4

	attributeName    = 1
	attributeNumbers = 8
)

// span says how a tensor inside a part lies to the part's inputs: how many of
// its values there are for one of theirs, and how many of theirs to each side a
// value may depend on.
type span struct{ rate, reach float64 }

// reachOf walks a part from its inputs to its only output, along the last
// dimension, which convolutions alone look along. What an input further away
// holds than the reach makes no difference to a value of the output.
func reachOf(graph []byte, p part) (span, error) {
	nodes, _, _, err := readGraph(graph)
	if err != nil {
		return span{}, err
	}
	known := map[string]span{}
	for _, name := range p.inputs {
		known[name] = span{rate: 1}
	}
	for _, n := range nodes {
		at, found := widest(n.inputs, known)
		if !found {
			continue
		}
		if at, err = n.after(at); err != nil {
			return span{}, err
		}
		for _, out := range n.outputs {
			if _, edge := known[out]; !edge {
				known[out] = at
			}
		}
	}
	s, found := known[p.outputs[0]]
	if !found || len(p.outputs) != 1 {
		return s, fmt.Errorf("%q does not come from %q", p.outputs, p.inputs)
	}
	return s, nil
}

// widest is what a node's result spans before it did anything: the most of what
// it is given.
func widest(names []string, known map[string]span) (s span, found bool) {
	for _, name := range names {
		if k, ok := known[name]; ok {
			s = span{max(s.rate, k.rate), max(s.reach, k.reach)}
			found = true
		}
	}
	return s, found
}

// after is what the node's result spans when what it is given spans s.
func (n graphStep) after(s span) (span, error) {
	if n.operator != "Conv" && n.operator != "ConvTranspose" {
		return s, nil
	}
	kernel, err := n.number("kernel_shape", 0)
	if err != nil {
		return s, err
	}
	if kernel < 1 {
		return s, fmt.Errorf("the convolution that makes %q does not say how wide it is", n.outputs[0])
	}
	dilation, err1 := n.number("dilations", 1)
	stride, err2 := n.number("strides", 1)
	pad, err3 := n.number("pads", 0)
	if err1 != nil || err2 != nil || err3 != nil {
		return s, errProtobuf
	}
	wide := float64((kernel - 1) * dilation)
	if n.operator == "Conv" {
		if stride != 1 {
			return s, fmt.Errorf("the convolution that makes %q takes every %dth value", n.outputs[0], stride)
		}
		s.reach += max(wide-float64(pad), float64(pad)) / s.rate
		return s, nil
	}
	s.reach += max(wide-float64(pad), float64(pad)) / float64(stride) / s.rate
	s.rate *= float64(stride)
	return s, nil
}

// index is the first of an attribute's numbers, or what it is without it.
func (n graphStep) number(attribute string, without int64) (int64, error) {
	for _, a := range n.attributes {
		name, err := protobufString(a, attributeName)
		if err != nil {
			return 0, err
		}
		if name != attribute {
			continue
		}
		v, err := numbers(a, attributeNumbers)
		if err != nil {
			return 0, err
		}
		if len(v) > 0 {
			return bounded(v[0])
		}
	}
	return without, nil
}

// bounded refuses what no convolution has, so that sums cannot overflow.
func bounded(v uint64) (int64, error) {
	if v > math.MaxInt16 {
		return 0, fmt.Errorf("a convolution's attribute is %d", v)
	}
	return int64(v), nil
}
