package store

import (
	"context"
	"encoding/json"
)

// StoredSound is the recording of a chat on the disk.
type StoredSound struct {
	ChatID, AccountID string
	EndedMS           int64 // of the chat, Unix milliseconds; 0: active
	Bytes             int64 // of both sides
}

// StoredSounds returns the recordings of all chats, in the order in which the chats
// ended, those of active chats last.
func (s *Store) StoredSounds(ctx context.Context) ([]StoredSound, error) {
	const doing = "reading what is recorded"
	type row struct {
		StoredSound
		measured bool
	}
	rows, err := query(ctx, s.read, func(from scanner) (r row, err error) {
		return r, from.Scan(&r.ChatID, &r.AccountID, &r.EndedMS, &r.Bytes, &r.measured)
	}, `
		SELECT c.id, a.id, coalesce(c.ended_ms, 0), coalesce(c.sound_bytes, 0), c.sound_bytes IS NOT NULL AND
		  c.ended_ms IS NOT NULL
		  FROM recording r JOIN chat c ON c.num = r.chat JOIN account a ON a.num = c.account
		 WHERE c.account <> 0
		 ORDER BY c.ended_ms IS NULL, c.ended_ms, c.num`)
	if err != nil {
		return nil, explain(doing, err)
	}
	stored := make([]StoredSound, len(rows))
	for i, r := range rows {
		if !r.measured {
			if r.Bytes, err = s.soundBytes(r.ChatID); err != nil {
				return nil, explain(doing, err)
			}
		}
		stored[i] = r.StoredSound
	}
	return stored, nil
}

// DropSounds deletes the recordings of ended chats; the chats stay, as if they had not
// been recorded. After a crash in the middle, [Store.Tidy] deletes the remaining files.
func (s *Store) DropSounds(ctx context.Context, chatIDs []string) error {
	const doing = "deleting recordings"
	named, err := json.Marshal(chatIDs)
	if err != nil {
		return explain(doing, err)
	}
	var dropped []string
	err = s.change(ctx, doing, func(ctx context.Context, c conn) (err error) {
		dropped, err = query(ctx, c, scanText, `
			UPDATE chat SET sound_bytes = 0
			 WHERE id IN (SELECT value FROM json_each(?)) AND ended_ms IS NOT NULL RETURNING id`, string(named))
		if err != nil {
			return err
		}
		return execute(ctx, c, `
			DELETE FROM recording WHERE chat IN (
			       SELECT c.num FROM json_each(?) w JOIN chat c ON c.id = w.value WHERE c.ended_ms IS NOT NULL)`,
			string(named))
	})
	if err != nil {
		return err
	}
	return explain(doing, s.removeRecordings(dropped))
}
