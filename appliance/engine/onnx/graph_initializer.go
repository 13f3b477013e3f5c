package onnx

import "encoding/binary"

// The field numbers of onnx.proto3 that are only written.
const (
	tensorElementType = 2
	elementIsInt64    = 7
	attributeType     = 20
	attributeIsInts   = 7
)

// initializer is a constant of a graph, usually weights: its name, its shape, and its other fields,
// including the name.
type initializer struct {
	name   string
	dims   []uint64
	others [][]byte
}

func readInitializer(b []byte) (t initializer, err error) {
	if t.dims, err = numbers(b, tensorDims); err != nil {
		return t, err
	}
	for f, err := range protobufFields(b) {
		if err != nil {
			return t, err
		}
		if f.number == tensorDims {
			continue
		}
		if f.number == tensorName {
			t.name = string(f.value)
		}
		t.others = append(t.others, f.raw)
	}
	return t, nil
}

// field returns the graph field of the initializer with another shape, in pieces, so that its data
// is not copied.
func (i initializer) field(dims ...uint64) [][]byte {
	shape := appendNumbers(nil, tensorDims, dims...)
	size := len(shape)
	for _, f := range i.others {
		size += len(f)
	}
	begin := binary.AppendUvarint([]byte{graphInitializer<<3 | wireBytes}, uint64(size))
	return append([][]byte{append(begin, shape...)}, i.others...)
}

// shapeInitializer returns the field of a constant shape.
func shapeInitializer(name string, dims ...int64) []byte {
	t := appendNumbers(nil, tensorDims, uint64(len(dims)))
	t = appendNumbers(t, tensorElementType, elementIsInt64)
	t = appendBytes(t, tensorName, []byte(name))
	var raw []byte
	for _, d := range dims {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(d))
	}
	return appendBytes(nil, graphInitializer, appendBytes(t, tensorRawData, raw))
}

// numbers returns the values of a repeated field, which may be packed or not.
func numbers(message []byte, number uint64) (found []uint64, err error) {
	for f, err := range protobufFields(message) {
		switch {
		case err != nil:
			return nil, err
		case f.number != number:
		case f.wire == wireVarint:
			found = append(found, f.number64)
		case f.wire == wireBytes:
			for b := f.value; len(b) > 0; {
				v, size := binary.Uvarint(b)
				if size <= 0 {
					return nil, errProtobuf
				}
				found, b = append(found, v), b[size:]
			}
		default:
			return nil, errProtobuf
		}
	}
	return found, nil
}

func appendNumbers(b []byte, number uint64, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(binary.AppendUvarint(b, number<<3|wireVarint), v)
	}
	return b
}
