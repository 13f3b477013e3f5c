package onnx

import (
	"fmt"

	ort "github.com/yalue/onnxruntime_go"
)

// Value is an input or output of a model.
type Value = ort.Value

// Element is an element type of a Tensor.
type Element = ort.TensorData

// Tensor is a Value over a slice of Go memory, which GetData returns. Destroy releases the C side;
// the slice stays valid. Go's collector does not move heap memory, and the tensor keeps the slice
// alive.
type Tensor[T Element] = ort.Tensor[T]

// NewTensor returns a tensor of the shape over data, without a copy. data may be longer than
// needed.
func NewTensor[T Element](data []T, shape ...int64) (*Tensor[T], error) {
	t, err := ort.NewTensor(ort.Shape(shape), data)
	if err != nil {
		return nil, fmt.Errorf("onnx: tensor of shape %v over %d values: %w", shape, len(data), err)
	}
	return t, nil
}

// NewScalar returns a value without dimensions.
func NewScalar[T Element](x T) (*ort.Scalar[T], error) {
	v, err := ort.NewScalar(x)
	if err != nil {
		return nil, fmt.Errorf("onnx: scalar %v: %w", x, err)
	}
	return v, nil
}

// Floats returns the data of a float32 tensor that Run made, without a copy. The slice stays valid
// after Destroy.
func Floats(v Value) ([]float32, error) {
	t, ok := v.(*Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("onnx: expected a float32 tensor, got %T", v)
	}
	return t.GetData(), nil
}
