// Package soundcard lists the machine's loudspeakers and microphones, and opens
// them: through PulseAudio, which PipeWire speaks too, ALSA or JACK, whichever is
// there. It knows miniaudio; nothing else of ours does.
package soundcard

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/gen2brain/malgo"

	"parley/internal/clib"
)

// RateHz is the rate at which devices are opened: what almost every sound card
// runs at. Samples are mono.
const RateHz = 48000

// Kind is what a device is for.
type Kind string

// The kinds of devices.
const (
	Input  Kind = "input"  // a microphone
	Output Kind = "output" // a loudspeaker
)

// System is what brings sound to the devices.
type System string

// The systems, in the order in which they are tried.
const (
	PulseAudio System = "pulseaudio"
	ALSA       System = "alsa"
	JACK       System = "jack"
)

// systems are those that are tried, in this order. miniaudio would also take its
// null device, and a person would talk to nobody.
var systems = [...]struct {
	name    System
	backend malgo.Backend
}{{PulseAudio, malgo.BackendPulseaudio}, {ALSA, malgo.BackendAlsa}, {JACK, malgo.BackendJack}}

// ErrNoSoundSystem is what is wrong where no system for sound can be used.
var ErrNoSoundSystem = errors.New("no sound system answers (PulseAudio, PipeWire, ALSA or JACK)")

// A Device is a loudspeaker or a microphone.
type Device struct {
	ID      string `json:"id"`   // by which its system knows it
	Name    string `json:"name"` // for people
	Kind    Kind   `json:"kind"`
	Default bool   `json:"default"` // what is taken where none is named
	System  System `json:"system"`

	handle malgo.DeviceID
}

// connection is to one system. What it opens is closed before it is.
type connection struct {
	system System
	sound  *malgo.AllocatedContext
}

// connect reaches the first system that answers, or only, where that is not
// empty.
func connect(only System) (*connection, error) {
	quietALSA()
	err := ErrNoSoundSystem
	for _, s := range systems {
		if only != "" && s.name != only {
			continue
		}
		// The library knows no urgency of threads that stays theirs alone: see urgent.
		sound, e := malgo.InitContext([]malgo.Backend{s.backend},
			malgo.ContextConfig{ThreadPriority: malgo.ThreadPriorityNormal}, nil)
		if e == nil {
			return &connection{s.name, sound}, nil
		}
		if only != "" {
			err = fmt.Errorf("%s does not answer: %w", only, e)
		}
	}
	return nil, err
}

func (c *connection) close() {
	_ = c.sound.Uninit() // it fails where its server is gone
	c.sound.Free()
}

// devices are those of a kind that the system has now.
func (c *connection) devices(kind Kind) ([]Device, error) {
	found, err := c.sound.Devices(kind.malgo())
	if err != nil {
		return nil, fmt.Errorf("%s does not list its devices: %w", c.system, err)
	}
	all := make([]Device, 0, len(found))
	for _, d := range found {
		if id := idOf(d.ID); c.system == ALSA && slices.Contains(plugins[:], id) {
			continue
		}
		all = append(all, Device{
			ID:      idOf(d.ID),
			Name:    d.Name(),
			Kind:    kind,
			Default: d.IsDefault != 0,
			System:  c.system,
			handle:  d.ID,
		})
	}
	return all, nil
}

// plugins are what ALSA lists beside its cards: ways to reach one, and none at
// all, which would leave a person talking to nobody.
var plugins = [...]string{"null", "lavrate", "samplerate", "speexrate", "jack", "oss", "pulse", "pipewire", "speex",
	"upmix", "vdownmix"}

func (k Kind) malgo() malgo.DeviceType {
	if k == Input {
		return malgo.Capture
	}
	return malgo.Playback
}

// idOf is the name that a system gives a device. It is text in all systems but
// JACK, which has one device of each kind and numbers it.
func idOf(id malgo.DeviceID) string {
	for i, b := range id {
		switch {
		case b == 0 && i > 0:
			return string(id[:i])
		case b < ' ' || b > '~':
			return id.String()
		}
	}
	return id.String()
}

// List returns the microphones and the loudspeakers of the first system that
// answers. Without one the error is ErrNoSoundSystem.
func List() (inputs, outputs []Device, err error) {
	c, err := connect("")
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	if inputs, err = c.devices(Input); err != nil {
		return nil, nil, err
	}
	outputs, err = c.devices(Output)
	return inputs, outputs, err
}

// Name says which device is to be opened, and how.
type Config struct {
	System System // the only one that is asked; empty: the first that answers
	Device string // an id, a name or a part of either; empty: the system's default
	// PeriodMS is how much sound a microphone hands over at a time, and HoldMS how much
	// it may hold of what nobody took; of a loudspeaker HoldMS is how much it holds
	// when it was given all it asks for, and PeriodMS about how much it asks for at a
	// time. JACK has lengths of its own.
	PeriodMS, HoldMS int
	Name             string // by which the system's own tools show it
}

// A Stream is an open device.
type Stream struct {
	Device Device // as far as it is known: a loudspeaker that nobody named may become another one

	connection *connection
	device     *malgo.Device
	once       sync.Once
}

// Play opens a loudspeaker. fill writes the next samples, in [-1, 1]; it is called
// by the sound system's thread and must not wait. stopped is called, at most once
// and on that thread too, when the device stops by itself: then the stream is to be
// closed on another. Not every system tells that; what is sure is that fill is not
// called any more.
func Play(w Config, fill func(out []float32), stopped func()) (*Stream, error) {
	var thread realtimeThread
	return open(w, Output, malgo.DeviceCallbacks{
		Data: func(out, _ []byte, _ uint32) { thread.raise(); fill(samples(out)) },
		Stop: stopped,
	})
}

// Record opens a microphone. heard gets the next samples, which it does not keep;
// the rest is as in Play.
func Record(w Config, heard func(in []float32), stopped func()) (*Stream, error) {
	var thread realtimeThread
	return open(w, Input, malgo.DeviceCallbacks{
		Data: func(_, in []byte, _ uint32) { thread.raise(); heard(samples(in)) },
		Stop: stopped,
	})
}

// samples are the floats in a device's own memory.
func samples(raw []byte) []float32 {
	if len(raw) < 4 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&raw[0])), len(raw)/4)
}

func open(w Config, kind Kind, callbacks malgo.DeviceCallbacks) (*Stream, error) {
	c, err := connect(w.System)
	if err != nil {
		return nil, err
	}
	s := &Stream{Device: Device{Kind: kind, System: c.system}, connection: c}
	if err := s.open(w, kind, callbacks); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stream) open(w Config, kind Kind, callbacks malgo.DeviceCallbacks) error {
	all, err := s.connection.devices(kind)
	if err != nil {
		return err
	}
	config := malgo.DefaultDeviceConfig(kind.malgo())
	config.SampleRate = RateHz
	config.PeriodSizeInMilliseconds, config.Periods = w.periods(s.connection.system, kind)
	config.PerformanceProfile = malgo.LowLatency
	config.NoFixedSizedCallback = 1 // else a period more lies between the device and the callback
	config.Pulse.StreamNamePlayback, config.Pulse.StreamNameCapture = w.Name, w.Name
	side := &config.Playback
	if kind == Input {
		side = &config.Capture
	}
	side.Format, side.Channels = malgo.FormatF32, 1
	var pin runtime.Pinner
	defer pin.Unpin()
	if w.Device != "" {
		s.Device, err = Choose(all, kind, w.Device)
	} else {
		s.Device, err = DefaultDevice(all, kind)
	}
	if err != nil {
		return err
	}
	if w.Device != "" || s.stays(kind) {
		handle := s.Device.handle
		pin.Pin(&handle)
		side.DeviceID = unsafe.Pointer(&handle)
	}
	if s.device, err = malgo.InitDevice(s.connection.sound.Context, config, callbacks); err == nil {
		err = s.device.Start()
	}
	if err != nil {
		return fmt.Errorf("%s cannot open the %s %s: %w%s", s.connection.system, kind.words(), s.Device.called(), err,
			remedy(err))
	}
	return nil
}

// remedy is what to do about a device that cannot be opened, to be said behind why; empty
// where that is not known. ALSA lends a card to one program, and to the group audio.
func remedy(err error) string {
	switch {
	case errors.Is(err, malgo.ErrBusy):
		return ": another program has it: end that one, or have both use a sound server"
	case errors.Is(err, malgo.ErrAccessDenied):
		return ": the box's user may not use it: it has to be in the group audio"
	case errors.Is(err, malgo.ErrFailedToOpenBackendDevice): // of a default it says no more
		return ": another program may have it, or the box's user is not in the group audio"
	}
	return ""
}

// periods are a length in milliseconds, and how many of them there are, by which
// miniaudio makes the buffer that is wanted. What it calls a period is to PulseAudio
// all that a loudspeaker holds, of which it asks for a quarter at a time; the whole
// bounds what is held of sound that came too fast.
func (w Config) periods(s System, k Kind) (ms, n uint32) {
	if s == PulseAudio && k == Output {
		return uint32(w.HoldMS), 2
	}
	return uint32(w.PeriodMS), uint32(max(2, w.HoldMS/w.PeriodMS))
}

// stays tells whether a device that nobody named is to stay the one that it is. A
// loudspeaker follows the system's default; a microphone that is unplugged PulseAudio
// would silently replace by what the loudspeaker plays.
func (s *Stream) stays(k Kind) bool {
	return k == Input && s.Device.System == PulseAudio && s.Device.ID != ""
}

func (k Kind) words() string {
	if k == Input {
		return "microphone"
	}
	return "loudspeaker"
}

func (d Device) called() string {
	if d.ID == "" {
		return "that is its default"
	}
	return fmt.Sprintf("%q", d.Name)
}

// Close closes the device. It waits until no callback is under way, and so must
// not be called by one; where a sound server hangs, it waits for that. The error is
// nil.
func (s *Stream) Close() error {
	s.once.Do(func() {
		if s.device != nil {
			// Stop wakes the thread of a stream that its server has thrown out; Uninit
			// alone waits for it for ever.
			_ = s.device.Stop()
			s.device.Uninit()
		}
		s.connection.close()
	})
	return nil
}

// quietALSA keeps ALSA from writing pages to the terminal about each device
// that it does not find: the error that is returned says it in one line. Where
// there is no ALSA there is nothing to quieten.
var quietALSA = sync.OnceFunc(func() {
	var set func(handler uintptr) int32
	lib, err := clib.Open("libasound.so.2")
	if err != nil || lib.Bind(map[string]any{"snd_lib_error_set_handler": &set}) != nil {
		return
	}
	set(purego.NewCallback(func(file, line, function, code, format uintptr) uintptr { return 0 }))
})

// Opener opens devices of one system, the first that one was opened with: where a
// sound server is started anew, ALSA must not take the card from under it. Its zero
// value is ready, and may be used from many goroutines.
type Opener struct {
	mu     sync.Mutex
	system System
}

// Play is [Play].
func (s *Opener) Play(w Config, fill func(out []float32), stopped func()) (*Stream, error) {
	w.System = s.known()
	return s.learn(Play(w, fill, stopped))
}

// Record is [Record].
func (s *Opener) Record(w Config, heard func(in []float32), stopped func()) (*Stream, error) {
	w.System = s.known()
	return s.learn(Record(w, heard, stopped))
}

func (s *Opener) known() System {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.system
}

func (s *Opener) learn(opened *Stream, err error) (*Stream, error) {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.system = opened.Device.System
	}
	return opened, err
}
