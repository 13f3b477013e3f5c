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

// periodMS is the length of the pieces that the sound card hands over: what a
// chat sends as one message. It may hold three of them.
const periodMS, bufferMS = 20, 60

// A soundDevice is the machine's speaker, with its microphone or without.
type soundDevice struct {
	speaker, microphone *soundcard.Stream
	queue               playQueue
}

// openSound opens the speaker and, when heard is not nil, the microphone,
// whose mono linear16 pieces of 20 ms are given to heard. heard is called by
// the sound card's thread: it must not block, and the piece is its own.
func openSound(heard func(linear16 []byte)) (*soundDevice, error) {
	wanted := soundcard.Config{PeriodMS: periodMS, HoldMS: bufferMS, Name: "Parley"}
	stopped := func() {} // who talks hears that nothing comes any more
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

// noSound says what to do without a sound device: who would have listened, too, reads a
// file instead.
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

// playQueue is the sound that is yet to be played. The sound card's thread
// takes from it.
type playQueue struct {
	mu      sync.Mutex
	samples []float32
	taken   chan struct{} // not nil: gets a sign when some were taken
}

// wait waits until there are no more than most samples to be played. One goroutine
// waiting at a time.
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

// fill writes the next samples and silence behind them.
func (q *playQueue) fill(out []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(out, q.samples)
	clear(out[n:])
	q.samples = q.samples[n:]
	select { // the sound card does not wait for who waits for it
	case q.taken <- struct{}{}:
	default: // nobody does, or there is a sign already
	}
}
