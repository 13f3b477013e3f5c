// Package soundcard lists the machine's loudspeakers and microphones, and opens them through
// PulseAudio (also provided by PipeWire), ALSA or JACK, whichever is there. It is the only
// package that uses miniaudio.
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

// RateHz is the rate at which devices are opened, the native rate of almost every sound card.
// Samples are mono.
const RateHz = 48000

// Kind is the direction of a device.
type Kind string

// The kinds of devices.
const (
	Input  Kind = "input"  // a microphone
	Output Kind = "output" // a loudspeaker
)

// System is a sound system.
type System string

// The sound systems, in the order in which they are tried.
const (
	PulseAudio System = "pulseaudio"
	ALSA       System = "alsa"
	JACK       System = "jack"
)

// systems are the systems that are tried, in order. By default miniaudio would also use its
// null device, without any sound.
var systems = [...]struct {
	name    System
	backend malgo.Backend
}{{PulseAudio, malgo.BackendPulseaudio}, {ALSA, malgo.BackendAlsa}, {JACK, malgo.BackendJack}}

// ErrNoSoundSystem reports that no sound system is available.
var ErrNoSoundSystem = errors.New("no sound system answers (PulseAudio, PipeWire, ALSA or JACK)")

// Device is a loudspeaker or a microphone.
type Device struct {
	ID      string `json:"id"`   // of its system
	Name    string `json:"name"` // for people
	Kind    Kind   `json:"kind"`
	Default bool   `json:"default"` // it is used if no device is named
	System  System `json:"system"`

	handle malgo.DeviceID
}

// connection is a connection to a sound system. Its devices must be closed before it.
type connection struct {
	system System
	sound  *malgo.AllocatedContext
}

// connect connects to the first system that answers, or to only if that is not empty.
func connect(only System) (*connection, error) {
	quietALSA()
	err := ErrNoSoundSystem
	for _, s := range systems {
		if only != "" && s.name != only {
			continue
		}
		// The library's real-time priority would be inherited: see realtimeThread.
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
	_ = c.sound.Uninit() // fails if the server is gone
	c.sound.Free()
}

// devices returns the present devices of a kind.
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

// plugins are what ALSA lists in addition to its cards: ways to reach one, and a null device
// without any sound.
var plugins = [...]string{"null", "lavrate", "samplerate", "speexrate", "jack", "oss", "pulse", "pipewire", "speex",
	"upmix", "vdownmix"}

func (k Kind) malgo() malgo.DeviceType {
	if k == Input {
		return malgo.Capture
	}
	return malgo.Playback
}

// idOf returns a system's id of a device. It is text in all systems but JACK, which has one
// numbered device of each kind.
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

// List returns the microphones and loudspeakers of the first system that answers, or
// ErrNoSoundSystem.
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

// Config selects a device, and how it is opened.
type Config struct {
	System System // the only system to try; empty: the first that answers
	Device string // an id, a name or a part of either; empty: the system's default
	// PeriodMS is how much sound a microphone delivers at a time, and HoldMS how much it may
	// hold until it is read. A loudspeaker holds HoldMS when its request was filled, and
	// requests about PeriodMS at a time. JACK uses its own lengths.
	PeriodMS, HoldMS int
	Name             string // shown by the system's own tools
}

// Stream is an open device.
type Stream struct {
	Device Device // as opened: the default loudspeaker may change later

	connection *connection
	device     *malgo.Device
	once       sync.Once
}

// Play opens a loudspeaker. fill writes the next samples, in [-1, 1]; it is called on the sound
// system's thread and must not block. stopped is called at most once, on that thread too, when
// the device stops by itself; the stream must then be closed on another thread. Not every
// system reports that, but fill is not called any more.
func Play(w Config, fill func(out []float32), stopped func()) (*Stream, error) {
	var thread realtimeThread
	return open(w, Output, malgo.DeviceCallbacks{
		Data: func(out, _ []byte, _ uint32) { thread.raise(); fill(samples(out)) },
		Stop: stopped,
	})
}

// Record opens a microphone. heard gets the next samples and must not retain them; the rest is
// as for Play.
func Record(w Config, heard func(in []float32), stopped func()) (*Stream, error) {
	var thread realtimeThread
	return open(w, Input, malgo.DeviceCallbacks{
		Data: func(_, in []byte, _ uint32) { thread.raise(); heard(samples(in)) },
		Stop: stopped,
	})
}

// samples returns the device's own memory as floats.
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
	config.NoFixedSizedCallback = 1 // otherwise there is one more period between the device and the callback
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

// remedy returns what to do about a device that cannot be opened, to follow the error; empty if
// unknown. ALSA gives a card to one program at a time, and to members of the group audio.
func remedy(err error) string {
	switch {
	case errors.Is(err, malgo.ErrBusy):
		return ": another program has it: end that one, or have both use a sound server"
	case errors.Is(err, malgo.ErrAccessDenied):
		return ": the box's user may not use it: it has to be in the group audio"
	case errors.Is(err, malgo.ErrFailedToOpenBackendDevice): // the error of a default device is no more specific
		return ": another program may have it, or the box's user is not in the group audio"
	}
	return ""
}

// periods returns the period in milliseconds and the number of periods for miniaudio's buffer.
// With PulseAudio, a loudspeaker's period is all that it holds, of which it requests a quarter
// at a time; the whole buffer bounds what is held of sound that arrives too early.
func (c Config) periods(s System, k Kind) (ms, n uint32) {
	if s == PulseAudio && k == Output {
		return uint32(c.HoldMS), 2
	}
	return uint32(c.PeriodMS), uint32(max(2, c.HoldMS/c.PeriodMS))
}

// stays reports whether the stream must stay on the default device. A loudspeaker follows the
// system's default; an unplugged microphone would silently be replaced by PulseAudio with the
// loudspeaker's monitor.
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

// Close closes the device. It waits for a running callback, and so must not be called from one;
// it also waits for a sound server that hangs. The error is nil.
func (s *Stream) Close() error {
	s.once.Do(func() {
		if s.device != nil {
			// Stop wakes the thread of a stream that its server has closed; Uninit alone would
			// wait for it for ever.
			_ = s.device.Stop()
			s.device.Uninit()
		}
		s.connection.close()
	})
	return nil
}

// quietALSA stops ALSA from writing pages to the terminal about each missing device: the
// returned error says it in one line. Without ALSA it does nothing.
var quietALSA = sync.OnceFunc(func() {
	var set func(handler uintptr) int32
	lib, err := clib.Open("libasound.so.2")
	if err != nil || lib.Bind(map[string]any{"snd_lib_error_set_handler": &set}) != nil {
		return
	}
	set(purego.NewCallback(func(file, line, function, code, format uintptr) uintptr { return 0 }))
})

// Opener opens devices of one system, the one that the first device used: while a sound server
// restarts, ALSA must not take its card. The zero value is ready to use, and safe for
// concurrent use.
type Opener struct {
	mu     sync.Mutex
	system System
}

// Play is [Play].
func (o *Opener) Play(w Config, fill func(out []float32), stopped func()) (*Stream, error) {
	w.System = o.known()
	return o.learn(Play(w, fill, stopped))
}

// Record is [Record].
func (o *Opener) Record(w Config, heard func(in []float32), stopped func()) (*Stream, error) {
	w.System = o.known()
	return o.learn(Record(w, heard, stopped))
}

func (o *Opener) known() System {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.system
}

func (o *Opener) learn(opened *Stream, err error) (*Stream, error) {
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.system = opened.Device.System
	}
	return opened, err
}
