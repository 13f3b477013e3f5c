package clean

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"parley/internal/clib"
)

// speexName is the library that learns and cancels an echo. It has a BSD licence, and is loaded
// at run time if the machine has it.
const speexName = "libspeexdsp.so.1"

// Requests of speex_echo.h and speex_preprocess.h.
const (
	speexEchoSetRate           = 24
	speexEchoResponseSize      = 27
	speexEchoResponse          = 29
	speexSetNoiseSuppress      = 18
	speexSetEchoSuppress       = 20
	speexSetEchoSuppressActive = 22
	speexSetEchoState          = 24
)

// suppressed and suppressedActive are by how many dB residual echo is reduced, without and with
// other speech: the library's defaults. Larger values were tried, without effect.
const suppressed, suppressedActive = -40, -15

// speex is an echo canceller of libspeexdsp followed by its suppressor of residual echo and
// noise: an adaptive filter in the frequency domain (J. Valin, "On Adjusting the Learning Rate
// in Frequency Domain Echo Cancellation With Double-Talk", 2007), and a suppressor after
// Ephraim and Malah (1984). One goroutine uses it. Its memory is freed by free, or by the
// garbage collector.
type speex struct {
	echo, rest uintptr
	free       func() // frees the memory; nothing else may be called afterwards

	heard, played, out []int16
	left               []float32 // the residual of the newest frame
	takes              float64   // 1; 0 while the microphone's sound is used instead of the residual
	response           []int32

	ctl      func(state uintptr, request int32, value unsafe.Pointer) int32
	cancel   func(echo uintptr, heard, played, out *int16)
	suppress func(rest uintptr, pcm *int16) int32
	reset    func(echo uintptr)
}

// speexCalls are the functions that make and free a canceller.
type speexCalls struct {
	newEcho, newRest   func(frame, second int32) uintptr
	freeEcho, freeRest func(state uintptr)
	echoCtl, restCtl   func(state uintptr, request int32, value unsafe.Pointer) int32
}

// openSpeex makes a canceller with the library of a name, for frames and echoes of so many
// samples, that reduces noise by so many dB.
func openSpeex(name string, rateHz, frame, tail, noise int) (*speex, error) {
	s := &speex{
		heard:  make([]int16, frame),
		played: make([]int16, frame),
		out:    make([]int16, frame),
		left:   make([]float32, frame),
		takes:  1,
	}
	var c speexCalls
	err := clib.Load(map[string]any{
		"speex_echo_state_init":          &c.newEcho,
		"speex_echo_state_destroy":       &c.freeEcho,
		"speex_echo_state_reset":         &s.reset,
		"speex_echo_cancellation":        &s.cancel,
		"speex_echo_ctl":                 &c.echoCtl,
		"speex_preprocess_state_init":    &c.newRest,
		"speex_preprocess_state_destroy": &c.freeRest,
		"speex_preprocess_run":           &s.suppress,
		"speex_preprocess_ctl":           &c.restCtl,
	}, "this machine has no "+name+
		", which takes the box's own voice out of its microphone: apt-get install libspeexdsp1",
		name)
	if err != nil {
		return nil, err
	}
	s.echo, s.rest = c.newEcho(int32(frame), int32(tail)), c.newRest(int32(frame), int32(rateHz))
	echo, rest := s.echo, s.rest
	free := func(states [2]uintptr) {
		if states[1] != 0 { // it refers to the other
			c.freeRest(states[1])
		}
		if states[0] != 0 {
			c.freeEcho(states[0])
		}
	}
	cleanup := runtime.AddCleanup(s, free, [2]uintptr{echo, rest})
	s.free = sync.OnceFunc(func() { cleanup.Stop(); free([2]uintptr{echo, rest}) })
	if echo == 0 || rest == 0 {
		s.free()
		return nil, fmt.Errorf("%s: cannot create an echo canceller", name)
	}
	s.ctl = c.echoCtl
	if err := errors.Join(c.setUp(echo, rest, rateHz, noise), s.measure()); err != nil {
		s.free()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (c speexCalls) setUp(echo, rest uintptr, rateHz, noise int) error {
	rate := int32(rateHz)
	if c.echoCtl(echo, speexEchoSetRate, unsafe.Pointer(&rate)) != 0 {
		return fmt.Errorf("rate %d Hz is not supported", rateHz)
	}
	for request, db := range map[int32]int32{
		speexSetNoiseSuppress:      int32(-noise),
		speexSetEchoSuppress:       suppressed,
		speexSetEchoSuppressActive: suppressedActive,
	} {
		if c.restCtl(rest, request, unsafe.Pointer(&db)) != 0 {
			return fmt.Errorf("%d dB is not supported for request %d", db, request)
		}
	}
	// The state itself is the value: memory of the library, not of Go.
	state := *(*unsafe.Pointer)(unsafe.Pointer(&echo))
	if c.restCtl(rest, speexSetEchoState, state) != 0 {
		return fmt.Errorf("cannot connect the suppressor to the echo filter")
	}
	return nil
}

// measure allocates the buffer for a room's response.
func (s *speex) measure() error {
	var size int32
	if s.ctl(s.echo, speexEchoResponseSize, unsafe.Pointer(&size)) != 0 || size <= 0 {
		return fmt.Errorf("cannot read the room response")
	}
	s.response = make([]int32, size)
	return nil
}

// roomResponse returns the room's impulse response as far as the filter knows it, in arbitrary
// units.
func (s *speex) roomResponse() []float32 {
	s.ctl(s.echo, speexEchoResponse, unsafe.Pointer(unsafe.SliceData(s.response)))
	runtime.KeepAlive(s)
	out := make([]float32, len(s.response))
	for i, v := range s.response {
		out[i] = float32(v)
	}
	return out
}

// filter removes the echo of played from heard, into left. All have the frame length.
func (s *speex) filter(heard, played []float32) {
	s.learn(heard, played)
	for i, v := range s.out {
		s.left[i] = float32(v) / 32768
	}
	// A filter whose residual exceeds its input subtracts an echo that no longer arrives.
	takes := 1.0
	if meanPower(s.left) > meanPower(heard)*overHeard {
		takes = 0
	}
	if takes == 1 && s.takes == 1 {
		return
	}
	for i := range s.left {
		share := float32(s.takes + (takes-s.takes)*float64(i+1)/float64(len(s.left)))
		s.left[i] = share*s.left[i] + (1-share)*heard[i]
	}
	s.takes = takes
	toInt16(s.out, s.left)
}

// finish removes residual echo and noise from the newest residual; its output is one frame
// late.
func (s *speex) finish(out []float32) {
	s.suppress(s.rest, unsafe.SliceData(s.out))
	runtime.KeepAlive(s)
	for i, v := range s.out {
		out[i] = float32(v) / 32768
	}
}

// learn runs the filter without output.
func (s *speex) learn(heard, played []float32) {
	toInt16(s.heard, heard)
	toInt16(s.played, played)
	s.cancel(s.echo, unsafe.SliceData(s.heard), unsafe.SliceData(s.played), unsafe.SliceData(s.out))
	runtime.KeepAlive(s)
}

// restart resets what the filter learned.
func (s *speex) restart() {
	s.reset(s.echo)
	runtime.KeepAlive(s)
}

func toInt16(to []int16, from []float32) {
	for i, v := range from {
		to[i] = int16(min(max(v*32768, -32768), 32767))
	}
}
