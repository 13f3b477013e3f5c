package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/internal/durable"
	"parley/internal/layout"
)

const recordingSuffix = ".opus"

// Side is a side of a conversation; each is recorded in a separate file.
type Side string

// The sides of a conversation.
const (
	UserSide      Side = "user"
	AssistantSide Side = "assistant"
)

// RecordingStatus is the state of a recording.
type RecordingStatus string

// The statuses, in the words of the wire.
const (
	Recording       RecordingStatus = "IN_PROGRESS"
	Recorded        RecordingStatus = "COMPLETE"
	RecordingFailed RecordingStatus = "ERROR"
)

// CreateRecording creates the file for one side of a chat that was started as Recorded.
func (s *Store) CreateRecording(chatID string, side Side) (*os.File, error) {
	dir := filepath.Join(s.dir, layout.Recordings)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, folderError(s.dir, err)
	}
	f, err := os.OpenFile(s.recordingPath(chatID, side), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, folderError(s.dir, err)
	}
	if err := durable.SyncFolder(dir); err != nil {
		return nil, errors.Join(folderError(s.dir, err), f.Close())
	}
	return f, nil
}

func (s *Store) recordingPath(chatID string, side Side) string {
	return filepath.Join(s.dir, layout.Recordings, recordingName(chatID, side))
}

func recordingName(chatID string, side Side) string {
	return chatID + "-" + string(side) + recordingSuffix
}

// OpenRecording opens one side of a chat's recording. The error is ErrNotFound if nothing
// of that side was recorded. It does not check the account: callers use [Store.Chat]
// first.
func (s *Store) OpenRecording(chatID string, side Side) (*os.File, error) {
	f, err := os.Open(s.recordingPath(chatID, side))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("recording of chat %s: %w", chatID, ErrNotFound)
	}
	return f, err
}

// HasSound reports whether any sound of a chat is recorded so far.
func (s *Store) HasSound(chatID string) bool {
	for _, side := range []Side{UserSide, AssistantSide} {
		if _, err := os.Stat(s.recordingPath(chatID, side)); err == nil {
			return true
		}
	}
	return false
}

// FailRecording records that a part of a chat's sound could not be written. Otherwise a
// recording is complete when its chat ends.
func (s *Store) FailRecording(ctx context.Context, chatID string) error {
	return s.change(ctx, "giving up the recording of chat "+chatID, func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `
			UPDATE recording SET status = ?, modified_ms = ? WHERE chat = (SELECT num FROM chat WHERE id = ?)`,
			RecordingFailed, time.Now().UnixMilli(), chatID)
	})
}

// endRecording completes the recording of a chat that ends, if there is one.
func endRecording(ctx context.Context, c conn, chatID string, atMS int64) error {
	return execute(ctx, c, `
		UPDATE recording SET status = ?, modified_ms = ? WHERE status = ? AND chat = (SELECT num FROM chat WHERE id =
		  ?)`,
		Recorded, atMS, Recording, chatID)
}

// ChatRecording is the state of a chat's recording.
type ChatRecording struct {
	Status     RecordingStatus
	ModifiedMS int64 // Unix milliseconds
}

// Recordings returns the recordings of chats by chat id, without chats that were not
// recorded or are being deleted. It does not check the account.
func (s *Store) Recordings(ctx context.Context, chatIDs ...string) (map[string]ChatRecording, error) {
	wanted, err := json.Marshal(chatIDs)
	if err != nil {
		return nil, fmt.Errorf("reading recordings: %w", err)
	}
	type row struct {
		chat string
		ChatRecording
	}
	rows, err := query(ctx, s.read, func(r scanner) (one row, err error) {
		return one, r.Scan(&one.chat, &one.Status, &one.ModifiedMS)
	}, `
		SELECT c.id, r.status, r.modified_ms
		  FROM json_each(?) w CROSS JOIN chat c ON c.id = w.value CROSS JOIN recording r ON r.chat = c.num
		  JOIN chat_group g ON g.num = c.chat_group
		 WHERE c.account <> 0 AND g.account <> 0`, string(wanted))
	if err != nil {
		return nil, explain("reading recordings", err)
	}
	found := make(map[string]ChatRecording, len(rows))
	for _, one := range rows {
		found[one.chat] = one.ChatRecording
	}
	return found, nil
}

// removeRecordings deletes the recordings of deleted chats.
func (s *Store) removeRecordings(chatIDs []string) error {
	var failed error
	for _, id := range chatIDs {
		for _, side := range []Side{UserSide, AssistantSide} {
			if err := os.Remove(s.recordingPath(id, side)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}

// strayRecordings returns the ids of chats that have files but no recording: a crash came
// between deleting the record and the files.
func (s *Store) strayRecordings(ctx context.Context) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(s.dir, layout.Recordings))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	ids := []string{} // a nil slice would be null in JSON, which SQLite reads as one entry
	for _, f := range files {
		if id, side, ok := cutLast(strings.TrimSuffix(f.Name(), recordingSuffix)); ok &&
			strings.HasSuffix(f.Name(), recordingSuffix) &&
			(side == string(UserSide) || side == string(AssistantSide)) {
			ids = append(ids, id)
		}
	}
	named, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return query(ctx, s.read, scanText, `
		SELECT value FROM json_each(?)
		 WHERE NOT EXISTS (SELECT 1 FROM recording r JOIN chat c ON c.num = r.chat WHERE c.id = value)`, string(named))
}

// cutLast cuts s at its last hyphen.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
