package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// What a row takes besides its texts, in bytes: ids, numbers and index entries.
// Measured on a database filled at once: 690 for a chat with its group, 94 for an
// event, 235 for a version with its resource; a database that grew has emptier pages.
// Step 6 of the schema counts the same.
const (
	chatBytes    = 800
	eventBytes   = 150
	versionBytes = 400
)

// Usage is how much of the disk an account uses, in bytes.
type Usage struct {
	// RecordBytes is the size of chats, configs, prompts, tools, voices and generations.
	RecordBytes int64
	SoundBytes  int64 // recordings of ended chats
	BatchBytes  int64 // analysis jobs: uploads, results and artifacts
}

// Total is the sum, in bytes.
func (u Usage) Total() int64 { return u.RecordBytes + u.SoundBytes + u.BatchBytes }

const accountUsage = `
	WITH mine AS MATERIALIZED (SELECT num FROM account WHERE id = ?),
	     ended AS (SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(sum(sound_bytes), 0) AS sound
	                 FROM chat INDEXED BY chat_size WHERE account = (SELECT num FROM mine) AND ended_ms IS NOT NULL)
	SELECT ended.bytes
	       + (SELECT coalesce(sum(bytes), 0) FROM chat INDEXED BY chat_open WHERE ended_ms IS NULL AND account =
	  mine.num)
	       + (SELECT coalesce(sum(bytes), 0) FROM resource INDEXED BY resource_size WHERE account = mine.num)
	       + (SELECT coalesce(sum(bytes), 0) FROM generation INDEXED BY generation_account WHERE account = mine.num)
	       + (SELECT coalesce(sum(bytes), 0) FROM voice INDEXED BY voice_account WHERE account = mine.num), ended.sound,
	       (SELECT coalesce(sum(bytes), 0) FROM batch_job INDEXED BY batch_job_bytes WHERE account = mine.num)
	  FROM mine CROSS JOIN ended`

// Usage returns how much of the disk an account uses. It reads indexes only: 10 ms for an
// account with 100,000 chats. Deleted chats do not count, though they may stay on the
// disk for seconds.
func (s *Store) Usage(ctx context.Context, accountID string) (u Usage, err error) {
	err = scanFirst(ctx, s.read, []any{&u.RecordBytes, &u.SoundBytes, &u.BatchBytes}, accountUsage, accountID)
	return u, explain("measuring what an account holds", err)
}

// measureBatch is how many recordings one transaction measures.
const measureBatch = 100

// measureSound stores the sizes of the recordings of ended chats.
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
		return len(chats) == measureBatch,
			s.change(ctx, "noting the sizes of recordings", func(ctx context.Context, c conn) error {
				// not of recordings that were dropped meanwhile
				return execute(ctx, c,
					`UPDATE chat SET sound_bytes = j.value FROM json_each(?) j WHERE chat.id = `+
						`j.key AND chat.sound_bytes IS NULL`, string(text))
			})
	})
}

// soundBytes returns the size of a chat's recording.
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
