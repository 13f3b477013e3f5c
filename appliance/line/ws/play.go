package ws

import (
	"context"
	"sync"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Play queues sound for the client, as messages with WAV files. It holds some of it back,
// to cut files where it is quiet. It blocks as Send does; the same goroutine calls both.
func (l *Line) Play(ctx context.Context, s contract.Sound) error {
	if s.Index == 0 || s.ID != l.clip.id {
		if err := l.endClip(ctx); err != nil {
			return err
		}
		l.clip = clip{id: s.ID}
	}
	l.dropCut()
	l.sound.add(l.clip.cuts, len(s.PCM))
	l.clip.session = s.CustomSessionID
	l.clip.pending = append(l.clip.pending, s.PCM...)
	return l.files(ctx, s.Last)
}

// HeldBack returns the number of samples that wait for more.
func (l *Line) HeldBack() int {
	l.dropCut()
	return len(l.clip.pending)
}

// endClip sends the sound that was held back.
func (l *Line) endClip(ctx context.Context) error {
	l.dropCut()
	return l.files(ctx, true)
}

// dropCut drops the held sound if it was cut.
func (l *Line) dropCut() {
	if cuts := l.sound.cuts(); cuts != l.clip.cuts {
		l.clip.pending, l.clip.cuts = nil, cuts
	}
}

// files sends the newest sound in files; all of it if last is set.
func (l *Line) files(ctx context.Context, last bool) error {
	for l.clip.cuts == l.sound.cuts() {
		more := last || len(l.clip.pending) > l.clip.maxSamples()
		part := l.clip.next(last)
		if len(part) == 0 {
			break
		}
		m := contract.AudioOutput{
			ID:              l.clip.id,
			Index:           l.clip.files,
			Data:            audio.EncodeWAV(part, contract.OutputRateHz),
			CustomSessionID: l.clip.session,
		}
		data, err := contract.Marshal(m)
		if err != nil {
			return err
		}
		if err := l.enqueue(ctx, queued{data: data, sound: len(part), cuts: l.clip.cuts}); err != nil {
			return err
		}
		l.clip.files++
		if !more {
			break // the rest waits for more sound
		}
	}
	return nil
}

// Cut drops the sound that waits for the network. What was handed to the network cannot be
// taken back: the client gets an interruption message, and stops playing.
func (l *Line) Cut() { l.sound.cut() }

// Unsent returns the length of the sound that has not been handed to the network.
func (l *Line) Unsent() time.Duration {
	return time.Duration(l.sound.waits()) * time.Second / contract.OutputRateHz
}

// soundQueue counts the sound between Play and the network.
type soundQueue struct {
	mu      sync.Mutex
	cutOff  int64 // number of cuts
	samples int   // since the last cut
}

// cuts returns the number of cuts so far.
func (o *soundQueue) cuts() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cutOff
}

func (o *soundQueue) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cutOff, o.samples = o.cutOff+1, 0
}

// add adds samples, or subtracts them if negative, unless they were cut.
func (o *soundQueue) add(cuts int64, samples int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if cuts == o.cutOff {
		o.samples += samples
	}
}

func (o *soundQueue) waits() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.samples
}
