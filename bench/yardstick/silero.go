package yardstick

import (
	"errors"

	"parley/appliance/engine"
)

// What Silero is given for each frame: the end of the frame before, then the
// frame; and what it carries from one to the next.
const (
	sileroContext = 64
	sileroWindow  = sileroContext + engine.FrameSamples
	sileroState   = 2 * 128
)

// Silero is the voice detector. It follows one stream.
type Silero struct {
	graph  *Graph
	input  []float32
	in     []*byte
	values []uintptr // input, state, sr
	out    []*byte
	rate   []int64
	state  []float32
}

// OpenSilero loads the network of voice activity.
func (y *ONNX) OpenSilero(path string) (*Silero, error) {
	graph, err := y.Load(path, 1)
	if err != nil {
		return nil, err
	}
	s := &Silero{
		graph: graph,
		input: make([]float32, sileroWindow),
		state: make([]float32, sileroState),
		rate:  []int64{engine.SpeechRateHz},
		in:    cStrings([]string{"input", "state", "sr"}),
		out:   cStrings([]string{"output", "stateN"}),
	}
	for _, in := range []Input{
		{Data: s.input, Shape: []int64{1, sileroWindow}},
		{Data: s.state, Shape: []int64{2, 1, 128}},
		{Data: s.rate},
	} {
		v, err := y.input(in)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.values = append(s.values, v)
	}
	return s, nil
}

// Frame returns the probability of voice in a frame.
func (s *Silero) Frame(frame []float32) (float32, error) {
	copy(s.input, s.input[engine.FrameSamples:])
	copy(s.input[sileroContext:], frame)
	made := make([]uintptr, 2)
	if err := s.graph.run(s.in, s.values, s.out, made); err != nil {
		return 0, err
	}
	defer s.graph.y.free(apiReleaseValue, made[0])
	s.graph.y.free(apiReleaseValue, s.values[1])
	s.values[1] = made[1]
	p, err := s.graph.y.floats(made[0])
	if err != nil {
		return 0, err
	}
	return p[0], nil
}

// Close gives everything back.
func (s *Silero) Close() error {
	for _, v := range s.values {
		s.graph.y.free(apiReleaseValue, v)
	}
	return s.graph.Close()
}
