package ws

import (
	"context"

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
	l.clip.session = s.CustomSessionID
	l.clip.held = append(l.clip.held, s.PCM...)
	return l.files(ctx, s.Last)
}

// Kept is how many samples wait for more.
func (l *Line) Kept() int {
	l.dropCut()
	return len(l.clip.held)
}

// endClip sends what still waits for more sound that will not come.
func (l *Line) endClip(ctx context.Context) error {
	l.dropCut()
	return l.files(ctx, true)
}

// dropCut forgets what waits if it was cut since.
func (l *Line) dropCut() {
	if cuts := l.cuts.Load(); cuts != l.clip.cuts {
		l.clip.held, l.clip.cuts = nil, cuts
	}
}

// files sends what there is of the newest sound, as far as files can be made of
// it; all of it where it is the last.
func (l *Line) files(ctx context.Context, last bool) error {
	for l.clip.cuts == l.cuts.Load() {
		more := last || len(l.clip.held) > l.clip.longest()
		part := l.clip.next(last)
		if len(part) == 0 {
			break
		}
		m := contract.AudioOutput{ID: l.clip.id, Index: l.clip.files, Data: audio.EncodeWAV(part, contract.OutputRateHz), CustomSessionID: l.clip.session}
		data, err := m.MarshalJSON()
		if err != nil {
			return err
		}
		if err := l.enqueue(ctx, queued{data: data, sound: true, cuts: l.clip.cuts}); err != nil {
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
func (l *Line) Cut() { l.cuts.Add(1) }
