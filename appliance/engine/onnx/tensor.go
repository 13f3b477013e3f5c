package onnx

import (
	"fmt"

	ort "github.com/yalue/onnxruntime_go"
)

// Value is what goes into a model and comes out of it.
type Value = ort.Value

// Element is what a Tensor can hold.
type Element = ort.TensorData

// Tensor is a Value over a slice of Go memory, which GetData returns. Destroy
// gives back the C side of it; the slice stays good. Go's collector does not
// move what the heap holds, and the tensor keeps the slice alive.
type Tensor[T Element] = ort.Tensor[T]

// NewTensor makes a tensor of the shape over data, without a copy. Data may be
// longer than the shape needs.
func NewTensor[T Element](data []T, shape ...int64) (*Tensor[T], error) {
	t, err := ort.NewTensor(ort.Shape(shape), data)
	if err != nil {
		return nil, fmt.Errorf("onnx: tensor of shape %v over %d values: %w", shape, len(data), err)
	}
	return t, nil
}

// NewScalar makes a value without dimensions.
func NewScalar[T Element](x T) (*ort.Scalar[T], error) {
	v, err := ort.NewScalar(x)
	if err != nil {
		return nil, fmt.Errorf("onnx: scalar %v: %w", x, err)
	}
	return v, nil
}

// Floats returns the numbers of a float32 tensor that Run made, in place: the
// slice outlives the value's Destroy.
func Floats(v Value) ([]float32, error) {
	t, ok := v.(*Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("onnx: expected a float32 tensor, got %T", v)
	}
	return t.GetData(), nil
}
