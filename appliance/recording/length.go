package recording

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"parley/appliance/audio"
	"parley/store"
)

// Opener opens the recordings of chats.
type Opener interface {
	// OpenRecording returns store.ErrNotFound when a side was not recorded.
	OpenRecording(chatID string, side store.Side) (*os.File, error)
}

// Length returns how long the recording of a chat is: its longer side. Length logs
// a side that cannot be decoded, and counts it as 0.
func Length(from Opener, chatID string, log *slog.Logger) (length time.Duration) {
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		l, err := sideLength(from, chatID, side)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			log.Warn("cannot tell how long the recording of a chat is", "chat", chatID, "side", string(side),
				"err", err)
		}
		length = max(length, l)
	}
	return length
}

func sideLength(from Opener, chatID string, side store.Side) (time.Duration, error) {
	const rateHz = 48000
	f, err := from.OpenRecording(chatID, side)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	sound, err := audio.NewOpusFile(f, info.Size())
	if err != nil {
		return 0, err
	}
	return time.Duration(sound.Samples(rateHz)) * time.Second / rateHz, nil
}
