package appliance

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/appliance/api"
	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/store"
)

// openStore opens the database and ends the chats that a crash left open. It is
// not bounded in time: bringing a large database up to date may take minutes.
func openStore(ctx context.Context, cfg config.Config, log *slog.Logger) (*store.Store, error) {
	records, err := store.Open(ctx, cfg.Data, log)
	if err != nil {
		return nil, err
	}
	ended, err := records.EndOpenChats(ctx, time.Now().UnixMilli(), func(chatID string) time.Duration {
		return lengthOfChat(records, chatID, log)
	})
	if err != nil {
		return nil, errors.Join(err, records.Close())
	}
	// Made while there is room for it: who asks where a chat can be heard then only
	// reads, also on a full disk.
	if _, err := records.Secret(ctx, api.AudioURLKey); err != nil {
		log.Warn("the key by which links to recordings are signed cannot be made", "err", err)
	}
	for _, c := range ended {
		log.Warn("a chat was left open by a crash and is ended as an error", "chat", c.ID)
	}
	return records, nil
}

// lengthOfChat is how long the sound is that is kept of a chat. What cannot be read is
// told when somebody wants to hear it.
func lengthOfChat(records *store.Store, chatID string, log *slog.Logger) (length time.Duration) {
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		sound, err := lengthOfSide(records, chatID, side)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			log.Warn("cannot tell how long the sound of a chat is", "chat", chatID, "side", string(side), "err", err)
		}
		length = max(length, sound)
	}
	return length
}

func lengthOfSide(records *store.Store, chatID string, side store.Side) (time.Duration, error) {
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
