package ws

import (
	"context"
	"sync"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Play queues sound for the client, as WAV files in messages of their own. A
// little of it waits for more, to be cut where it is quiet. It waits as Send
// does, and is called by the same goroutine.
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

// Kept is how many samples wait for more.
func (l *Line) HeldBack() int {
	l.dropCut()
	return len(l.clip.pending)
}

// endClip sends what still waits for more sound that will not come.
func (l *Line) endClip(ctx context.Context) error {
	l.dropCut()
	return l.files(ctx, true)
}

// dropCut forgets what waits if it was cut since.
func (l *Line) dropCut() {
	if cuts := l.sound.cuts(); cuts != l.clip.cuts {
		l.clip.pending, l.clip.cuts = nil, cuts
	}
}

// files sends what there is of the newest sound, as far as files can be made of
// it; all of it where it is the last.
func (l *Line) files(ctx context.Context, last bool) error {
	for l.clip.cuts == l.sound.cuts() {
		more := last || len(l.clip.pending) > l.clip.longest()
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
			break // what is left waits for more sound
		}
	}
	return nil
}

// Cut drops the sound that waits for the network. What the network has cannot
// be taken back: the client is told of an interruption, and stops playing.
func (l *Line) Cut() { l.sound.cut() }

// Unsent is how much sound has not been handed to the network.
func (l *Line) Unsent() time.Duration {
	return time.Duration(l.sound.waits()) * time.Second / contract.OutputRateHz
}

// soundQueue counts the sound that Play was given and the network was not.
type soundQueue struct {
	mu      sync.Mutex
	cutOff  int64 // how often
	samples int   // since
}

// cuts is how often what was there was cut.
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

// add counts samples that came, or went (below 0), unless they were cut.
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
