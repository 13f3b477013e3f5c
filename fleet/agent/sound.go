package agent

import (
	"context"
	"errors"
	"io"
	"time"

	"parley/store"
)

// OpenSound opens the recording of an ended chat as one file: a tar with the sides of the
// conversation. The error is store.ErrNotFound if there is none.
type OpenSound func(ctx context.Context, chatID string) (io.ReadSeekCloser, error)

// soundLimit is how long a recording may take: an hour of a chat has 30 MB, which a slow
// uplink sends in an hour.
const soundLimit = time.Hour

// sendSounds sends the recordings of ended chats, one after the other.
func (a *Agent) sendSounds(ctx context.Context) {
	pause := firstRetry
	for {
		more, err := a.sendSound(ctx)
		var retry <-chan time.Time
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.Log.Warn("cannot send a recording to the hub; trying again", "in", pause, "err", err)
			retry, pause = time.After(pause), min(2*pause, lastRetry)
		default:
			pause = firstRetry
		}
		if more && err == nil {
			continue
		}
		select {
		case <-a.sounds:
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// sendSound sends one recording. more reports whether there may be another one.
func (a *Agent) sendSound(ctx context.Context) (more bool, err error) {
	if !a.connected() {
		return false, nil
	}
	chat, err := a.Records.FleetRecording(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sound, err := a.OpenSound(ctx, chat)
	if errors.Is(err, store.ErrNotFound) { // nobody said anything, or it was deleted
		return true, a.Records.FleetRecordingSent(ctx, chat)
	}
	if err != nil {
		return false, err
	}
	defer sound.Close()
	sending, cancel := context.WithTimeout(ctx, soundLimit)
	defer cancel()
	if err := a.Hub.SendSound(sending, chat, sound); err != nil {
		return false, err
	}
	return true, a.Records.FleetRecordingSent(ctx, chat)
}
