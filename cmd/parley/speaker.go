package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"parley/appliance/audio"
	"parley/appliance/audio/soundcard"
)

// speakerRateHz is the rate at which sound is played and recorded.
const speakerRateHz = soundcard.RateHz

// periodMS is the length of the sound card's pieces, as long as one message of a chat,
// and bufferMS that of its buffer.
const periodMS, bufferMS = 20, 60

// A soundDevice is the machine's loudspeaker, and its microphone if it is used.
type soundDevice struct {
	speaker, microphone *soundcard.Stream
	queue               playQueue
}

// openSound opens the loudspeaker and, if heard is not nil, the microphone. heard gets
// its mono linear16 pieces of 20 ms. It runs on the sound card's thread and must not
// block; it may keep the piece.
func openSound(heard func(linear16 []byte)) (*soundDevice, error) {
	wanted := soundcard.Config{PeriodMS: periodMS, HoldMS: bufferMS, Name: "Parley"}
	stopped := func() {} // a user notices the silence
	d := &soundDevice{}
	var err error
	if d.speaker, err = soundcard.Play(wanted, d.queue.fill, stopped); err != nil {
		return nil, noSound(err, heard != nil)
	}
	if heard != nil {
		wanted.System = d.speaker.Device.System
		d.microphone, err = soundcard.Record(wanted, func(in []float32) {
			heard(audio.AppendLinear16(nil, in))
		}, stopped)
	}
	if err != nil {
		return nil, noSound(errors.Join(err, d.close()), true)
	}
	return d, nil
}

// noSound is the error for a missing sound device, with advice: without a microphone, use
// a file for it too.
func noSound(err error, listens bool) error {
	instead := "write a file: --out"
	if listens {
		instead = "use files: --wav and --out"
	}
	return fmt.Errorf("no sound device can be used (%w): connect one, or %s", err, instead)
}

func (d *soundDevice) close() error {
	if d.microphone != nil {
		_ = d.microphone.Close()
	}
	return d.speaker.Close()
}

// playQueue is the sound to be played. The sound card's thread takes from it.
type playQueue struct {
	mu      sync.Mutex
	samples []float32
	taken   chan struct{} // if not nil, receives a value when samples were taken
}

// wait blocks while more than most samples are queued. One goroutine at a time may call
// it.
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

// clear drops the queued samples.
func (q *playQueue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.samples = nil
}

// fill writes the next samples, then silence.
func (q *playQueue) fill(out []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(out, q.samples)
	clear(out[n:])
	q.samples = q.samples[n:]
	select { // never blocks the sound card
	case q.taken <- struct{}{}:
	default: // nothing waits, or a value is pending
	}
}
