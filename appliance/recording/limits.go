package recording

import (
	"context"
	"time"

	"parley/store"
)

// Limits bound the space of recordings, and how long they are stored.
type Limits struct {
	Days         int   // that a recording is stored after its chat; 0 for as long as the chat
	Bytes        int64 // of all recordings; 0 for no limit
	AccountBytes int64 // of one account's recordings; 0 for no limit
}

// minAge is how old, after the end of its chat, a recording must be to be deleted: its last
// pages may still be written.
const minAge = 10 * time.Minute

// Surplus returns the recordings to delete, in that order. all is ordered by the end of the
// chats. Recordings that are too old come first, then the oldest of each account that has
// too much. While all together are still too much, the oldest recording of the account with
// the most follows, so an account never pushes out the recordings of one with less.
// Recordings of live chats stay.
func (l Limits) Surplus(all []store.StoredSound, now time.Time) (surplus []store.StoredSound) {
	s := sizes{all: map[string]*account{}}
	for _, k := range all {
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

// sizes are the sizes of the recordings of all accounts.
type sizes struct {
	bytes int64
	all   map[string]*account
	order []*account // in the order of add, so that the result is deterministic
}

type account struct {
	bytes int64
	ended []store.StoredSound // may be deleted, the oldest first
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

// largest returns the account with the most bytes among those that have something to
// delete, and nil if there is none.
func (s *sizes) largest() (largest *account) {
	for _, a := range s.order {
		if len(a.ended) > 0 && (largest == nil || a.bytes > largest.bytes) {
			largest = a
		}
	}
	return largest
}

// Archive stores recordings.
type Archive interface {
	// StoredSounds returns all recordings, in the order in which their chats ended.
	StoredSounds(context.Context) ([]store.StoredSound, error)
	// DropSounds deletes the recordings of chats.
	DropSounds(ctx context.Context, chatIDs []string) error
}

const (
	// stepSize is how many recordings are deleted in one step: their rows are one
	// transaction of less than a millisecond.
	stepSize = 8
	// stepPause follows each step, so that live chats get the disk in between. A thousand
	// recordings take six seconds.
	stepPause = 50 * time.Millisecond
)

// Drop deletes recordings in small steps. It returns how many it has deleted, also with an
// error.
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

// Total returns the size of recordings in bytes.
func Total(all []store.StoredSound) (bytes int64) {
	for _, k := range all {
		bytes += k.Bytes
	}
	return bytes
}
