package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"parley/appliance/engine"
)

// Silero's graph takes 64 samples of context before each frame of 512, and carries a state of two
// layers of 128 numbers from frame to frame.
const (
	sileroContext = 64
	sileroWindow  = sileroContext + engine.FrameSamples
	sileroState   = 2 * 128
)

// Silero detects voice activity with the Silero VAD network. It implements engine.VoiceDetector;
// any number of streams share its session. A frame costs about 0.1 ms of one core, too little to
// pass an engine.Gate.
type Silero struct {
	session *Session
	calls   *pool[*sileroCall]
}

// LoadSilero loads silero_vad.onnx.
func LoadSilero(rt *Runtime, path string) (*Silero, error) {
	session, err := rt.Load(path, SessionOptions{Threads: 1})
	if err != nil {
		return nil, err
	}
	s := &Silero{session: session}
	s.calls = newPool(2*runtime.NumCPU(), s.newCall)
	return s, nil
}

// Warm runs the network once on silence, because the first run is slow.
func (s *Silero) Warm(context.Context) error {
	_, err := s.NewStream().Probability(make([]float32, engine.FrameSamples))
	return err
}

// Close releases the memory of the model. No stream may be in use.
func (s *Silero) Close() error { return errors.Join(s.calls.Close(), s.session.Close()) }

// NewStream returns a new stream. A stream is only memory (3 KB) and needs no closing.
func (s *Silero) NewStream() engine.VoiceStream { return &sileroStream{detector: s} }

// sileroStream is the state of one stream.
type sileroStream struct {
	detector *Silero
	context  [sileroContext]float32
	state    [sileroState]float32
}

func (s *sileroStream) Reset() {
	clear(s.context[:])
	clear(s.state[:])
}

func (s *sileroStream) Probability(frame []float32) (float32, error) {
	if len(frame) != engine.FrameSamples {
		return 0, fmt.Errorf("onnx: voice frame: %d samples are required, got %d", engine.FrameSamples, len(frame))
	}
	c, err := s.detector.calls.get()
	if err != nil {
		return 0, err
	}
	copy(c.input, s.context[:])
	clampSound(c.input[sileroContext:], frame)
	copy(c.state, s.state[:])
	if err := c.call.Run(); err != nil {
		return 0, errors.Join(err, c.Close())
	}
	p := c.probability[0]
	copy(s.state[:], c.next)
	copy(s.context[:], c.input[engine.FrameSamples:])
	return p, s.detector.calls.put(c)
}

// clampSound copies sound to dst and limits it to [-1, 1]. NaN becomes silence, because the network
// would carry it in its state forever.
func clampSound(dst, sound []float32) {
	for i, x := range sound {
		switch {
		case x >= -1 && x <= 1:
		case x > 1:
			x = 1
		case x < -1:
			x = -1
		default:
			x = 0
		}
		dst[i] = x
	}
}

// sileroCall is a prepared run with its buffers.
type sileroCall struct {
	call                            *Call
	input, state, probability, next []float32
	values                          []Value
}

func (s *Silero) newCall() (_ *sileroCall, err error) {
	c := &sileroCall{
		input:       make([]float32, sileroWindow),
		state:       make([]float32, sileroState),
		probability: make([]float32, 1),
		next:        make([]float32, sileroState),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.call, err = s.session.NewCall(); err != nil {
		return nil, err
	}
	rate, err := NewScalar[int64](engine.SpeechRateHz)
	if err != nil {
		return nil, err
	}
	c.values = append(c.values, rate)
	bind := func(to func(string, Value) error, name string, data []float32, shape ...int64) error {
		t, err := NewTensor(data, shape...)
		if err != nil {
			return err
		}
		c.values = append(c.values, t)
		return to(name, t)
	}
	return c, errors.Join(
		c.call.In("sr", rate),
		bind(c.call.In, "input", c.input, 1, sileroWindow),
		bind(c.call.In, "state", c.state, 2, 1, 128),
		bind(c.call.Out, "output", c.probability, 1, 1),
		bind(c.call.Out, "stateN", c.next, 2, 1, 128),
	)
}

// Close releases what the C library holds for the call.
func (c *sileroCall) Close() error {
	var errs []error
	if c.call != nil {
		errs = append(errs, c.call.Close())
	}
	for _, v := range c.values {
		errs = append(errs, v.Destroy())
	}
	return errors.Join(errs...)
}
