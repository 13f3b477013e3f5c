package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// The field numbers of onnx.proto3 (ONNX IR) that trimGraph needs.
const (
	modelGraph       = 7
	graphInitializer = 5
	graphOutput      = 12
	graphValueInfo   = 13
	valueName        = 1
	tensorDims       = 1
	tensorName       = 8
	tensorRawData    = 9
)

// The wire types of Protocol Buffers.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

var errProtobuf = errors.New("not an ONNX model: its protobuf is cut off or broken")

// trimGraph returns an ONNX model reduced to one of its outputs, with only the first rows of the
// named initializer, so that shorter inputs fit. It drops the model's notes about inner shapes,
// which are no longer valid.
func trimGraph(model []byte, output, initializer string, rows uint64) ([]byte, error) {
	out := make([]byte, 0, len(model))
	graphs := 0
	for f, err := range protobufFields(model) {
		if err != nil {
			return nil, err
		}
		if f.number != modelGraph {
			out = append(out, f.raw...)
			continue
		}
		graph, err := trimmedGraph(f.value, output, initializer, rows)
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, modelGraph, graph)
		graphs++
	}
	if graphs != 1 {
		return nil, fmt.Errorf("%d graphs, expected 1", graphs)
	}
	return out, nil
}

func trimmedGraph(graph []byte, output, initializer string, rows uint64) ([]byte, error) {
	out := make([]byte, 0, len(graph))
	found := 0
	for f, err := range protobufFields(graph) {
		if err != nil {
			return nil, err
		}
		switch f.number {
		case graphValueInfo:
		case graphOutput:
			if name, err := protobufString(f.value, valueName); err != nil || name != output {
				if err != nil {
					return nil, err
				}
				continue
			}
			found++
			out = append(out, f.raw...)
		case graphInitializer:
			name, err := protobufString(f.value, tensorName)
			if err != nil {
				return nil, err
			}
			if name != initializer {
				out = append(out, f.raw...)
				continue
			}
			found++
			tensor, err := firstRows(f.value, rows)
			if err != nil {
				return nil, fmt.Errorf("initializer %q: %w", name, err)
			}
			out = appendBytes(out, graphInitializer, tensor)
		default:
			out = append(out, f.raw...)
		}
	}
	if found != 2 {
		return nil, fmt.Errorf("the graph lacks the output %q or the initializer %q", output, initializer)
	}
	return out, nil
}

// firstRows reduces a tensor to its first rows.
func firstRows(tensor []byte, rows uint64) ([]byte, error) {
	var out []byte
	var had uint64
	for f, err := range protobufFields(tensor) {
		switch {
		case err != nil:
			return nil, err
		case f.number == tensorDims && f.wire == wireVarint && had == 0:
			if had = f.number64; had < rows {
				return nil, fmt.Errorf("%d rows, expected at least %d", had, rows)
			}
			out = binary.AppendUvarint(out, tensorDims<<3|wireVarint)
			out = binary.AppendUvarint(out, rows)
		case f.number == tensorRawData && had > 0:
			out = appendBytes(out, tensorRawData, f.value[:uint64(len(f.value))/had*rows])
		default:
			out = append(out, f.raw...)
		}
	}
	return out, nil
}

// protobufField is one field of a message.
type protobufField struct {
	number   uint64
	wire     uint64
	raw      []byte // the whole field, with its tag
	value    []byte // of wireBytes
	number64 uint64 // of wireVarint
}

// protobufFields iterates over the fields of a message.
func protobufFields(b []byte) iter.Seq2[protobufField, error] {
	return func(yield func(protobufField, error) bool) {
		for len(b) > 0 {
			f, err := nextField(b)
			if !yield(f, err) || err != nil {
				return
			}
			b = b[len(f.raw):]
		}
	}
}

func nextField(b []byte) (f protobufField, err error) {
	tag, at := binary.Uvarint(b)
	if at <= 0 {
		return f, errProtobuf
	}
	f.number, f.wire = tag>>3, tag&7
	end := uint64(at)
	switch f.wire {
	case wireVarint:
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return f, errProtobuf
		}
		f.number64, end = v, end+uint64(n)
	case wireFixed8:
		end += 8
	case wireFixed4:
		end += 4
	case wireBytes:
		size, n := binary.Uvarint(b[at:])
		if n <= 0 || size > uint64(len(b)) {
			return f, errProtobuf
		}
		end += uint64(n) + size
		if end <= uint64(len(b)) {
			f.value = b[end-size : end]
		}
	default:
		return f, errProtobuf
	}
	if end > uint64(len(b)) {
		return f, errProtobuf
	}
	f.raw = b[:end]
	return f, nil
}

// protobufString returns the string or bytes field with the given number.
func protobufString(b []byte, number uint64) (string, error) {
	for f, err := range protobufFields(b) {
		if err != nil {
			return "", err
		}
		if f.number == number && f.wire == wireBytes {
			return string(f.value), nil
		}
	}
	return "", nil
}

func appendBytes(b []byte, number uint64, value []byte) []byte {
	b = binary.AppendUvarint(b, number<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}
