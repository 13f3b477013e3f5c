package clean

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"parley/internal/clib"
)

// speexName is the library that learns how an echo comes about and takes it
// away. It has a licence of the BSD kind, and is found on the machine at run
// time, or not.
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

// suppressed and suppressedActive are by how many dB what is left of an echo is
// made softer, where nobody else speaks and where somebody does: the library's own
// figures. More was tried, and changed nothing.
const suppressed, suppressedActive = -40, -15

// speex is one canceller of libspeexdsp, with what takes away the rest of an echo
// and noise behind it: an adaptive filter in the frequency domain (J. Valin, "On
// Adjusting the Learning Rate in Frequency Domain Echo Cancellation With
// Double-Talk", 2007), and a suppressor after Ephraim and Malah (1984). One
// goroutine uses it. Its memory is freed by free, or with it.
type speex struct {
	echo, rest uintptr
	free       func() // gives the memory back; nothing else is called after it

	heard, played, out []int16
	left               []float32 // by the filter, of the newest frame
	takes              float64   // 1; 0 where what is heard is taken instead
	response           []int32

	ctl      func(state uintptr, request int32, value unsafe.Pointer) int32
	cancel   func(echo uintptr, heard, played, out *int16)
	suppress func(rest uintptr, pcm *int16) int32
	reset    func(echo uintptr)
}

// speexCalls are those that are used while one is made and freed.
type speexCalls struct {
	newEcho, newRest   func(frame, second int32) uintptr
	freeEcho, freeRest func(state uintptr)
	echoCtl, restCtl   func(state uintptr, request int32, value unsafe.Pointer) int32
}

// openSpeex makes one with the library of that name, for frames and an echo of so
// many samples, which makes noise softer by so many dB.
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
		if states[1] != 0 { // it looks at the other
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
		return nil, fmt.Errorf("%s makes no canceller", name)
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
		return fmt.Errorf("it does not take a rate of %d Hz", rateHz)
	}
	for request, db := range map[int32]int32{
		speexSetNoiseSuppress:      int32(-noise),
		speexSetEchoSuppress:       suppressed,
		speexSetEchoSuppressActive: suppressedActive,
	} {
		if c.restCtl(rest, request, unsafe.Pointer(&db)) != 0 {
			return fmt.Errorf("it does not take %d dB for request %d", db, request)
		}
	}
	// The state itself is the value: memory of the library, not of Go's.
	state := *(*unsafe.Pointer)(unsafe.Pointer(&echo))
	if c.restCtl(rest, speexSetEchoState, state) != 0 {
		return fmt.Errorf("it does not take the echo's filter")
	}
	return nil
}

// measure makes room for the response of a room.
func (s *speex) measure() error {
	var size int32
	if s.ctl(s.echo, speexEchoResponseSize, unsafe.Pointer(&size)) != 0 || size <= 0 {
		return fmt.Errorf("it does not tell what it knows of a room")
	}
	s.response = make([]int32, size)
	return nil
}

// roomResponse is how the room answers to a click, as far as the filter knows it, in no
// particular unit.
func (s *speex) roomResponse() []float32 {
	s.ctl(s.echo, speexEchoResponse, unsafe.Pointer(unsafe.SliceData(s.response)))
	runtime.KeepAlive(s)
	out := make([]float32, len(s.response))
	for i, v := range s.response {
		out[i] = float32(v)
	}
	return out
}

// filter takes what was played out of what was heard, into left. All are of the length
// that it was made for.
func (s *speex) filter(heard, played []float32) {
	s.learn(heard, played)
	for i, v := range s.out {
		s.left[i] = float32(v) / 32768
	}
	// A filter that leaves more than there was puts in an echo that does not come any more.
	takes := 1.0
	if mean(s.left) > mean(heard)*overHeard {
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

// finish takes the rest of the echo, and the noise, out of what the filter left of the
// newest frame; what comes out is a frame late.
func (s *speex) finish(out []float32) {
	s.suppress(s.rest, unsafe.SliceData(s.out))
	runtime.KeepAlive(s)
	for i, v := range s.out {
		out[i] = float32(v) / 32768
	}
}

// learn hears without being heard.
func (s *speex) learn(heard, played []float32) {
	toInt16(s.heard, heard)
	toInt16(s.played, played)
	s.cancel(s.echo, unsafe.SliceData(s.heard), unsafe.SliceData(s.played), unsafe.SliceData(s.out))
	runtime.KeepAlive(s)
}

// begin forgets what was learned.
func (s *speex) begin() {
	s.reset(s.echo)
	runtime.KeepAlive(s)
}

func toInt16(to []int16, from []float32) {
	for i, v := range from {
		to[i] = int16(min(max(v*32768, -32768), 32767))
	}
}
