package onnx

import (
	"fmt"
	"math"
)

// Field numbers of convolution attributes in onnx.proto3.
const (
	nodeOperator = 4

	attributeName    = 1
	attributeNumbers = 8
)

// receptiveField relates a tensor inside a part to the part's inputs: rate is how many of its values
// there are per input value, and reach is how many input values to each side a value may depend on.
type receptiveField struct{ rate, reach float64 }

// receptiveFieldOf computes the receptive field of a part's only output, along the last dimension,
// on which only convolutions look at neighbours. Input values beyond the reach do not affect a value
// of the output.
func receptiveFieldOf(graph []byte, p part) (receptiveField, error) {
	nodes, _, _, err := readGraph(graph)
	if err != nil {
		return receptiveField{}, err
	}
	known := map[string]receptiveField{}
	for _, name := range p.inputs {
		known[name] = receptiveField{rate: 1}
	}
	for _, n := range nodes {
		at, found := widest(n.inputs, known)
		if !found {
			continue
		}
		if at, err = n.after(at); err != nil {
			return receptiveField{}, err
		}
		for _, out := range n.outputs {
			if _, edge := known[out]; !edge {
				known[out] = at
			}
		}
	}
	s, found := known[p.outputs[0]]
	if !found || len(p.outputs) != 1 {
		return s, fmt.Errorf("output %q is not computed from %q", p.outputs, p.inputs)
	}
	return s, nil
}

// widest returns the largest receptive field of a node's inputs.
func widest(names []string, known map[string]receptiveField) (s receptiveField, found bool) {
	for _, name := range names {
		if k, ok := known[name]; ok {
			s = receptiveField{max(s.rate, k.rate), max(s.reach, k.reach)}
			found = true
		}
	}
	return s, found
}

// after returns the receptive field of the node's result if its input has s.
func (g graphStep) after(s receptiveField) (receptiveField, error) {
	if g.operator != "Conv" && g.operator != "ConvTranspose" {
		return s, nil
	}
	kernel, err := g.number("kernel_shape", 0)
	if err != nil {
		return s, err
	}
	if kernel < 1 {
		return s, fmt.Errorf("the convolution that computes %q has no kernel_shape", g.outputs[0])
	}
	dilation, err1 := g.number("dilations", 1)
	stride, err2 := g.number("strides", 1)
	pad, err3 := g.number("pads", 0)
	if err1 != nil || err2 != nil || err3 != nil {
		return s, errProtobuf
	}
	wide := float64((kernel - 1) * dilation)
	if g.operator == "Conv" {
		if stride != 1 {
			return s, fmt.Errorf("the convolution that computes %q has the stride %d; 1 is supported", g.outputs[0],
				stride)
		}
		s.reach += max(wide-float64(pad), float64(pad)) / s.rate
		return s, nil
	}
	s.reach += max(wide-float64(pad), float64(pad)) / float64(stride) / s.rate
	s.rate *= float64(stride)
	return s, nil
}

// number returns the first value of an attribute, or without if the attribute is missing.
func (g graphStep) number(attribute string, without int64) (int64, error) {
	for _, a := range g.attributes {
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

// bounded rejects values that no convolution has, so that sums cannot overflow.
func bounded(v uint64) (int64, error) {
	if v > math.MaxInt16 {
		return 0, fmt.Errorf("a convolution's attribute is %d", v)
	}
	return int64(v), nil
}
