package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/ebitengine/purego"
	"github.com/gen2brain/malgo"

	"parley/appliance/audio"
)

// speakerRateHz is the rate at which sound is played and recorded: what
// almost every sound card runs at.
const speakerRateHz = 48000

// periodMS is the length of the pieces that the sound card hands over: what a
// chat sends as one message.
const periodMS = 20

// soundCards are the systems that are tried, in this order. miniaudio would
// also take its null device, and a person would talk to nobody.
func soundCards() []malgo.Backend {
	return []malgo.Backend{malgo.BackendPulseaudio, malgo.BackendAlsa, malgo.BackendJack}
}

// quietALSA keeps ALSA from writing pages to the terminal about each device
// that it does not find: the error that we return says it in one line. Where
// there is no ALSA there is nothing to quieten.
func quietALSA() {
	lib, err := purego.Dlopen("libasound.so.2", purego.RTLD_NOW)
	if err != nil {
		return
	}
	set, err := purego.Dlsym(lib, "snd_lib_error_set_handler")
	if err != nil {
		return
	}
	purego.SyscallN(set, purego.NewCallback(func(file, line, function, code, format uintptr) uintptr { return 0 }))
}

// A soundDevice is the machine's speaker, with its microphone or without.
type soundDevice struct {
	sound  *malgo.AllocatedContext
	device *malgo.Device
	queue  playQueue
}

// openSound opens the speaker and, when heard is not nil, the microphone,
// whose mono linear16 pieces of 20 ms are given to heard. heard is called by
// the sound card's thread: it must not block, and the piece is its own.
func openSound(heard func(linear16 []byte)) (*soundDevice, error) {
	quietALSA()
	sound, err := malgo.InitContext(soundCards(), malgo.ContextConfig{}, nil)
	if err != nil {
		return nil, noSound(err)
	}
	d := &soundDevice{sound: sound}
	kind := malgo.Playback
	if heard != nil {
		kind = malgo.Duplex
	}
	config := malgo.DefaultDeviceConfig(kind)
	config.SampleRate = speakerRateHz
	config.PeriodSizeInMilliseconds = periodMS
	config.Playback.Format, config.Playback.Channels = malgo.FormatS16, 1
	config.Capture.Format, config.Capture.Channels = malgo.FormatS16, 1
	d.device, err = malgo.InitDevice(sound.Context, config, malgo.DeviceCallbacks{
		Data: func(out, in []byte, _ uint32) {
			d.queue.fill(out)
			if heard != nil && len(in) > 0 {
				heard(append([]byte(nil), in...))
			}
		},
	})
	if err == nil {
		err = d.device.Start()
	}
	if err != nil {
		d.close()
		return nil, noSound(err)
	}
	return d, nil
}

func noSound(err error) error {
	return fmt.Errorf("no sound device can be used (%w): connect one, or use files: --wav and --out", err)
}

func (d *soundDevice) close() {
	if d.device != nil {
		d.device.Uninit()
	}
	d.sound.Uninit()
	d.sound.Free()
}

// playQueue is the sound that is yet to be played. The sound card's thread
// takes from it.
type playQueue struct {
	mu      sync.Mutex
	samples []float32
	taken   chan struct{} // not nil: gets a sign when some were taken
}

// wait waits until there are no more than most samples to be played. One goroutine
// waits at a time.
func (q *playQueue) wait(ctx context.Context, most int) error {
	for {
		q.mu.Lock()
		if q.taken == nil {
			q.taken = make(chan struct{}, 1)
		}
		taken, left := q.taken, len(q.samples)
		q.mu.Unlock()
		if left <= most {
			return nil
		}
		select {
		case <-taken:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *playQueue) add(pcm []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.samples = append(q.samples, pcm...)
}

// clear forgets what was not played.
func (q *playQueue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.samples = nil
}

// fill writes the next samples as linear16 and silence behind them.
func (q *playQueue) fill(out []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.samples), len(out)/2)
	audio.AppendLinear16(out[:0], q.samples[:n])
	clear(out[2*n:])
	q.samples = q.samples[n:]
	select { // the sound card does not wait for who waits for it
	case q.taken <- struct{}{}:
	default: // nobody does, or there is a sign already
	}
}
