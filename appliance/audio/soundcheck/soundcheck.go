// Package soundcheck plays sounds from a loudspeaker and records them with a microphone, to
// find out how well both work together: how loud and how late the echo is, and how much of it
// can be cancelled.
package soundcheck

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/soundcard"
)

const (
	// rateHz is the rate at which recordings are evaluated.
	rateHz = 16000
	// holdMS and periodMS are those of a kiosk, so that the delay is that of a kiosk.
	holdMS, periodMS = 60, 10
	// startTimeout is how long a device may take to start, and recordTimeout how much longer than the score a
	// recording may take.
	startTimeout, recordTimeout = 5 * time.Second, 3 * time.Second
)

// Devices are names of devices, as in soundcard.Config; empty is the system's default.
type Devices struct{ Input, Output string }

// Run plays for 7 s, and returns what was found.
func Run(ctx context.Context, w Devices) (Result, error) {
	t := &tape{play: score(soundcard.RateHz), done: make(chan struct{}), heardFirst: make(chan struct{})}
	stopped := make(chan error, 2)
	in, err := soundcard.Record(soundcard.Config{
		Device:   w.Input,
		PeriodMS: periodMS,
		HoldMS:   500,
		Name:     "Parley sound check",
	}, t.heard,
		func() {
			stopped <- errors.New("the microphone has stopped: it was unplugged, or its sound server ended")
		})
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	if err := wait(ctx, t.heardFirst, stopped, startTimeout,
		"the microphone "+in.Device.Name+" brings no sound: another program has it, or it is suspended"); err != nil {
		return Result{}, err
	}
	out, err := soundcard.Play(soundcard.Config{
		System:   in.Device.System,
		Device:   w.Output,
		PeriodMS: periodMS,
		HoldMS:   holdMS,
		Name:     "Parley sound check",
	}, t.fill,
		func() {
			stopped <- errors.New("the loudspeaker has stopped: it was unplugged, or its sound server ended")
		})
	if err != nil {
		return Result{}, err
	}
	defer out.Close()
	long := time.Duration(len(t.play))*time.Second/soundcard.RateHz + startTimeout + recordTimeout
	if err := wait(ctx, t.done, stopped, long,
		"the loudspeaker "+out.Device.Name+" takes no sound: another program has it, or it is suspended"); err != nil {
		return Result{}, err
	}
	r := judge(t.recording(), audio.Resample(t.play, soundcard.RateHz, rateHz), t.playbackLead())
	r.Input, r.Output, r.System = in.Device.Name, out.Device.Name, in.Device.System
	return r, nil
}

// wait waits for an event, or returns what is wrong.
func wait(ctx context.Context, what <-chan struct{}, stopped <-chan error, long time.Duration, wrong string) error {
	late := time.NewTimer(long)
	defer late.Stop()
	select {
	case <-what:
		return nil
	case err := <-stopped:
		return err
	case <-late.C:
		return fmt.Errorf("%s (waited for %v)", wrong, long)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tape has what is played and recorded. The devices' threads write it.
type tape struct {
	mu         sync.Mutex
	play       []float32 // at the devices' rate
	played     int
	recorded   []float32 // from the beginning
	newest     time.Time // when recorded last grew
	from       int       // length of recorded when the first sample of play was requested
	begun      time.Time // when that was
	lead       int       // the loudspeaker's largest lead over the time since, in samples
	heardFirst chan struct{}
	done       chan struct{}
}

func (t *tape) heard(in []float32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recorded) == 0 && len(in) > 0 {
		close(t.heardFirst)
	}
	before := len(t.recorded)
	t.recorded = append(t.recorded, in...)
	t.newest = time.Now()
	if end := t.from + len(t.play) + soundcard.RateHz/2; t.played > 0 && before < end && len(t.recorded) >= end {
		close(t.done)
	}
}

func (t *tape) fill(out []float32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.played == 0 {
		t.from, t.begun = len(t.recorded)+int(time.Since(t.newest)*soundcard.RateHz/time.Second), time.Now()
	}
	t.lead = max(t.lead, t.played-int(time.Since(t.begun)*soundcard.RateHz/time.Second))
	n := copy(out, t.play[min(t.played, len(t.play)):])
	clear(out[n:])
	t.played += len(out)
}

// playbackLead returns how early the loudspeaker requests sound, once its buffer is full.
func (t *tape) playbackLead() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Duration(t.lead) * time.Second / soundcard.RateHz
}

// recording returns the sound since the first sample was requested.
func (t *tape) recording() recording {
	t.mu.Lock()
	defer t.mu.Unlock()
	raw := t.recorded[min(t.from, len(t.recorded)):]
	return recording{clipped: clipped(t.recorded), pcm: audio.Resample(raw, soundcard.RateHz, rateHz)}
}
