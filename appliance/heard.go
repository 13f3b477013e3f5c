package appliance

import (
	"errors"
	"log/slog"
	"time"

	"parley/appliance/audio"
	"parley/store"
)

// heardOf is how long the sound is that is kept of a chat. What cannot be read is
// told when somebody wants to hear it.
func heardOf(records *store.Store, chatID string, log *slog.Logger) (length time.Duration) {
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		sound, err := lengthOf(records, chatID, side)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			log.Warn("cannot tell how long the sound of a chat is", "chat", chatID, "side", string(side), "err", err)
		}
		length = max(length, sound)
	}
	return length
}

func lengthOf(records *store.Store, chatID string, side store.Side) (time.Duration, error) {
	const rateHz = 48000
	f, err := records.OpenRecording(chatID, side)
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
