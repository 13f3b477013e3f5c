package recording

import (
	"context"
	"time"

	"parley/store"
)

// Limits say how much room recordings may take, and for how long.
type Limits struct {
	Days         int   // after its chat that a recording is kept; 0: as long as the chat
	Bytes        int64 // of all together; 0: any
	AccountBytes int64 // of one account; 0: any
}

// minAge is how long after the end of its chat no recording is deleted: its
// last pages may still be written.
const minAge = 10 * time.Minute

// Surplus returns those of kept that have to go, in the order in which they
// do. kept is in the order in which the chats ended. What is too old goes first,
// then the oldest of each account that has too much; and while all together are
// too much, the oldest of the account that then has the most. So one account
// never pushes out another that has less. Chats that go on keep what they have.
func (l Limits) Surplus(kept []store.StoredSound, now time.Time) (surplus []store.StoredSound) {
	s := sizes{all: map[string]*account{}}
	for _, k := range kept {
		s.add(k, now)
	}
	drop := func(a *account) {
		oldest := a.ended[0]
		a.ended, a.bytes, s.bytes = a.ended[1:], a.bytes-oldest.Bytes, s.bytes-oldest.Bytes
		surplus = append(surplus, oldest)
	}
	before := now.AddDate(0, 0, -l.Days).UnixMilli()
	for _, a := range s.order {
		for l.Days > 0 && len(a.ended) > 0 && a.ended[0].EndedMS < before {
			drop(a)
		}
		for l.AccountBytes > 0 && len(a.ended) > 0 && a.bytes > l.AccountBytes {
			drop(a)
		}
	}
	for l.Bytes > 0 && s.bytes > l.Bytes {
		a := s.largest()
		if a == nil {
			break
		}
		drop(a)
	}
	return surplus
}

// sizes are what the recordings of all accounts take.
type sizes struct {
	bytes int64
	all   map[string]*account
	order []*account // as they came, so that the outcome is always the same
}

type account struct {
	bytes int64
	ended []store.StoredSound // that may go, the oldest first
}

func (s *sizes) add(k store.StoredSound, now time.Time) {
	a := s.all[k.AccountID]
	if a == nil {
		a = &account{}
		s.all[k.AccountID] = a
		s.order = append(s.order, a)
	}
	a.bytes, s.bytes = a.bytes+k.Bytes, s.bytes+k.Bytes
	if k.EndedMS > 0 && k.EndedMS <= now.Add(-minAge).UnixMilli() {
		a.ended = append(a.ended, k)
	}
}

// largest is the account that has the most, of those of which something may go;
// nil when there is none.
func (s *sizes) largest() (largest *account) {
	for _, a := range s.order {
		if len(a.ended) > 0 && (largest == nil || a.bytes > largest.bytes) {
			largest = a
		}
	}
	return largest
}

// Archive is where recordings lie.
type Archive interface {
	// KeptSounds returns all recordings, in the order in which their chats ended.
	StoredSounds(context.Context) ([]store.StoredSound, error)
	// DropSounds deletes the recordings of chats.
	DropSounds(ctx context.Context, chatIDs []string) error
}

const (
	// stepSize is how many recordings are deleted at a time: their rows are one
	// transaction of under a millisecond.
	stepSize = 8
	// stepPause comes after each step, so that the disk serves live chats in
	// between. A thousand recordings take six seconds.
	stepPause = 50 * time.Millisecond
)

// Drop deletes recordings from the shelf in small steps. It returns how many it
// has deleted, also beside an error.
func Drop(ctx context.Context, from Archive, surplus []store.StoredSound) (dropped int, err error) {
	for len(surplus) > 0 {
		step := surplus[:min(stepSize, len(surplus))]
		surplus = surplus[len(step):]
		ids := make([]string, len(step))
		for i, k := range step {
			ids[i] = k.ChatID
		}
		if err := from.DropSounds(ctx, ids); err != nil {
			return dropped, err
		}
		dropped += len(step)
		if len(surplus) == 0 {
			break
		}
		select {
		case <-time.After(stepPause):
		case <-ctx.Done():
			return dropped, context.Cause(ctx)
		}
	}
	return dropped, nil
}

// Total is how many bytes recordings have together.
func Total(kept []store.StoredSound) (bytes int64) {
	for _, k := range kept {
		bytes += k.Bytes
	}
	return bytes
}
