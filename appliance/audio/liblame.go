package audio

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"parley/internal/clib"
)

// lameName is the library that encodes MP3. Its licence is LGPL-2. It is loaded at run time if
// the machine has it; all other formats work without it.
const lameName = "libmp3lame.so.0"

// Constants of lame.h.
const (
	lameOK       = 0
	lameMono     = 3
	lameConstant = 0 // vbr_off
	// lameScale compensates that LAME makes sound at a constant bitrate 0.45 dB quieter (the
	// presets of presets.c multiply it by 0.95).
	lameScale = 1 / 0.95
)

// lame is a libmp3lame encoder: mono, MP3Hz, mp3BitsPerSecond, without a header. One goroutine
// uses it. Its memory is freed by free, or by the garbage collector.
type lame struct {
	handle uintptr
	free   func() // frees the memory; nothing else may be called afterwards
	out    []byte

	encodeFloat func(handle uintptr, left, right *float32, n int32, out *byte, size int32) int32
}

// openLAME creates an encoder with the library of a name.
func openLAME(name string) (*lame, error) {
	l := &lame{}
	var create func() uintptr
	var begin, destroy func(handle uintptr) int32
	settings := []struct {
		call  string
		value int32
	}{
		{"lame_set_in_samplerate", MP3Hz},
		{"lame_set_out_samplerate", MP3Hz},
		{"lame_set_num_channels", 1},
		{"lame_set_mode", lameMono},
		{"lame_set_VBR", lameConstant},
		{"lame_set_brate", mp3BitsPerSecond / 1000},
		{"lame_set_quality", mp3Quality},
		{"lame_set_disable_reservoir", 1},
		{"lame_set_bWriteVbrTag", 0}, // mp3info.go writes the header
	}
	sets := make([]func(handle uintptr, value int32) int32, len(settings))
	calls := map[string]any{
		"lame_init":                     &create,
		"lame_init_params":              &begin,
		"lame_close":                    &destroy,
		"lame_encode_buffer_ieee_float": &l.encodeFloat,
	}
	for i, s := range settings {
		calls[s.call] = &sets[i]
	}
	var setScale func(handle uintptr, by float32) int32
	calls["lame_set_scale"] = &setScale
	var reports [3]func(handle, report uintptr) int32 // its reports would go to stderr
	for i, call := range []string{"lame_set_errorf", "lame_set_msgf", "lame_set_debugf"} {
		calls[call] = &reports[i]
	}
	missing := "this machine has no " + name + ", which encodes MP3: apt-get install libmp3lame0, or ask for wav or pcm"
	if err := clib.Load(calls, missing, name); err != nil {
		return nil, err
	}
	if l.handle = create(); l.handle == 0 {
		return nil, errors.New(lameName + " cannot create an encoder")
	}
	cleanup := runtime.AddCleanup(l, func(handle uintptr) { destroy(handle) }, l.handle)
	handle := l.handle
	l.free = sync.OnceFunc(func() { cleanup.Stop(); destroy(handle) })
	for _, silence := range reports {
		silence(l.handle, 0)
	}
	for i, set := range sets {
		if set(l.handle, settings[i].value) != lameOK {
			l.free()
			return nil, fmt.Errorf("%s does not support %s(%d)", lameName, settings[i].call, settings[i].value)
		}
	}
	if setScale(l.handle, lameScale) != lameOK || begin(l.handle) != lameOK {
		l.free()
		return nil, errors.New(lameName + " cannot be initialised")
	}
	return l, nil
}

// encode encodes samples in [-1, 1] and returns the finished bytes, valid until the next call.
func (l *lame) encode(pcm []float32) ([]byte, error) {
	if len(pcm) == 0 {
		return nil, nil
	}
	// The worst case of lame.h.
	if size := len(pcm)*5/4 + 7200; len(l.out) < size {
		l.out = make([]byte, size)
	}
	in := unsafe.SliceData(pcm)
	n := l.encodeFloat(l.handle, in, in, int32(len(pcm)), unsafe.SliceData(l.out), int32(len(l.out)))
	runtime.KeepAlive(l)
	if n < 0 {
		return nil, fmt.Errorf("mp3: %s fails with %d", lameName, n)
	}
	return l.out[:n], nil
}
