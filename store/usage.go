package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// What a row takes beside its texts, in bytes: ids, numbers and its entries in
// the indexes, as measured on full databases. The schema's steps count the same.
const (
	chatBytes    = 800
	eventBytes   = 150
	versionBytes = 400
)

// Usage is how much of the disk is an account's.
type Usage struct {
	RecordBytes int64 // of chats, what was said in them, configs, prompts and tools
	SoundBytes  int64 // of recordings of chats that have ended
}

// Total is all of it, in bytes.
func (u Usage) Total() int64 { return u.RecordBytes + u.SoundBytes }

// Usage returns how much of the disk is an account's. It runs along indexes: 5 ms
// for an account with 100,000 chats. Deleted ones do not count, though it may
// take seconds until they are gone.
func (s *Store) Usage(ctx context.Context, accountID string) (u Usage, err error) {
	_, err = first(ctx, s.read, func(row scanner) (none struct{}, err error) {
		return none, row.Scan(&u.RecordBytes, &u.SoundBytes)
	}, `
		WITH mine(account) AS (SELECT num FROM account WHERE id = ?),
		     ended(bytes, sound) AS (SELECT coalesce(sum(bytes), 0), coalesce(sum(sound_bytes), 0)
		                               FROM chat WHERE account = (SELECT account FROM mine) AND ended_ms IS NOT NULL)
		SELECT ended.bytes + (SELECT coalesce(sum(bytes), 0) FROM chat WHERE ended_ms IS NULL AND +account = mine.account)
		                   + (SELECT coalesce(sum(bytes), 0) FROM resource WHERE account = mine.account), ended.sound
		  FROM mine CROSS JOIN ended`, accountID)
	return u, explain("measuring what an account holds", err)
}

// measureBatch is how many chats' recordings are measured in one transaction.
const measureBatch = 100

// measureSound notes how large the recordings are of chats that have ended.
func (s *Store) measureSound(ctx context.Context) error {
	return s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
		chats, err := query(ctx, s.read, scanText, `
			SELECT id FROM chat WHERE sound_bytes IS NULL AND ended_ms IS NOT NULL ORDER BY num LIMIT ?`, measureBatch)
		if err != nil || len(chats) == 0 {
			return false, err
		}
		sizes := make(map[string]int64, len(chats))
		for _, id := range chats {
			if sizes[id], err = s.soundBytes(id); err != nil {
				return false, err
			}
		}
		text, err := json.Marshal(sizes)
		if err != nil {
			return false, err
		}
		return len(chats) == measureBatch, s.change(ctx, "noting the sizes of recordings", func(ctx context.Context, c conn) error {
			_, err := c.ExecContext(ctx, `UPDATE chat SET sound_bytes = j.value FROM json_each(?) j WHERE chat.id = j.key`, string(text))
			return err
		})
	})
}

// soundBytes is how large the files of a chat's recording are.
func (s *Store) soundBytes(chatID string) (size int64, err error) {
	for _, side := range []Side{UserSide, AssistantSide} {
		switch info, err := os.Stat(s.recordingPath(chatID, side)); {
		case err == nil:
			size += info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	return size, nil
}
