package onnx

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// faceNet is a net that is loaded when it is first run. One that cannot be loaded is tried again,
// because its pack may be repaired. It is safe for concurrent use.
type faceNet struct {
	rt      *Runtime
	weights string // the file
	listing string // the file that lists the tensors; empty for ferManifest
	build   func(map[string]weightTensor) (builtGraph, error)
	calls   *pool[*faceCall]

	mu      sync.Mutex
	session *Session
	shape   builtGraph // without its model
}

func newFaceNet(rt *Runtime, weights, listing string, build func(map[string]weightTensor) (builtGraph, error),
	cores int) *faceNet {
	n := &faceNet{rt: rt, weights: weights, listing: listing, build: build}
	n.calls = newPool(cores, n.newCall)
	return n
}

// run fills the input from a picture, runs the net and passes its output to read.
func (n *faceNet) run(picture []byte, fill func(input []float32, picture []byte), read func(output []float32)) error {
	return n.calls.use(func(c *faceCall) error {
		if len(picture) != len(c.input) {
			return fmt.Errorf("onnx: a picture of %d bytes for a net that takes %d", len(picture), len(c.input))
		}
		fill(c.input, picture)
		if err := c.call.Run(); err != nil {
			return err
		}
		read(c.output)
		return nil
	})
}

// Close releases the memory. No call may be running.
func (n *faceNet) Close() error {
	err := n.calls.Close()
	if n.session != nil {
		err = errors.Join(err, n.session.Close())
	}
	return err
}

// loaded returns the session, which it loads if necessary.
func (n *faceNet) loaded() (*Session, builtGraph, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.session != nil {
		return n.session, n.shape, nil
	}
	for _, file := range []string{n.weights, n.listing} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return nil, builtGraph{},
				fmt.Errorf("onnx: the nets for faces: fetch them with `parley packs pull faces`: %w", err)
		}
	}
	model, err := n.graph()
	if err != nil {
		return nil, builtGraph{}, loadError(n.weights, err)
	}
	n.session, err = n.rt.LoadBytes(n.weights, model.onnx, SessionOptions{
		Threads: 1,
		Inputs:  []string{graphInputName},
		Outputs: []string{graphOutputName},
	})
	if err != nil {
		return nil, builtGraph{}, err
	}
	n.shape = builtGraph{input: model.input, output: model.output}
	return n.session, n.shape, nil
}

// graph builds the graph from the files.
func (n *faceNet) graph() (builtGraph, error) {
	manifest := ferManifest
	if n.listing != "" {
		var err error
		if manifest, err = os.ReadFile(n.listing); err != nil {
			return builtGraph{}, err
		}
	}
	weights, err := readWeights(n.weights, manifest)
	if err != nil {
		return builtGraph{}, err
	}
	return n.build(weights)
}

// faceCall is a prepared run with its buffers.
type faceCall struct {
	call          *Call
	input, output []float32
	values        []Value
}

func (n *faceNet) newCall() (_ *faceCall, err error) {
	session, shape, err := n.loaded()
	if err != nil {
		return nil, err
	}
	c := &faceCall{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.call, err = session.NewCall(); err != nil {
		return nil, err
	}
	bind := func(data *[]float32, shape []int64, to func(string, Value) error, name string) error {
		size := int64(1)
		for _, d := range shape {
			size *= d
		}
		*data = make([]float32, size)
		t, err := NewTensor(*data, shape...)
		if err != nil {
			return err
		}
		c.values = append(c.values, t)
		return to(name, t)
	}
	return c, errors.Join(bind(&c.input, shape.input, c.call.In, graphInputName),
		bind(&c.output, shape.output, c.call.Out, graphOutputName))
}

// Close releases what the C library holds for the call.
func (c *faceCall) Close() error {
	err := destroy(c.values)
	if c.call != nil {
		err = errors.Join(err, c.call.Close())
	}
	return err
}
