package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"parley/internal/durable"
	"parley/internal/layout"
)

// ImportSound stores the sound of an ended chat that has none, a complete Ogg/Opus file for
// each side. The error is ErrNotFound if there is no such chat, ErrConflict if it has a
// recording.
func (s *Store) ImportSound(ctx context.Context, chatID string, sides map[Side][]byte) error {
	doing := "importing the recording of chat " + chatID
	var ended int64
	var recorded bool
	err := scanFirst(ctx, s.read, []any{&ended, &recorded}, `
		SELECT ended_ms, EXISTS (SELECT 1 FROM recording WHERE chat = num) FROM chat
		 WHERE id = ? AND ended_ms IS NOT NULL`, chatID)
	switch {
	case err != nil:
		return explain(doing, err)
	case recorded:
		return fmt.Errorf("%s: it has one: %w", doing, ErrConflict)
	}
	// The files come first: without a row they are removed by Tidy.
	folder := filepath.Join(s.dir, layout.Recordings)
	if err := os.Mkdir(folder, 0o700); err == nil {
		err = s.giveToOwner(folder)
		if err != nil {
			return explain(doing, err)
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return folderError(s.dir, err)
	}
	size := 0
	for side, sound := range sides {
		path := s.recordingPath(chatID, side)
		if err := durable.WriteFile(path, sound, 0o600); err != nil {
			return folderError(s.dir, err)
		}
		if err := s.giveToOwner(path); err != nil {
			return explain(doing, err)
		}
		size += len(sound)
	}
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		err := changeOne(ctx, c, `
			INSERT INTO recording (chat, status, modified_ms) SELECT num, ?, ended_ms FROM chat
			 WHERE id = ? AND ended_ms IS NOT NULL`, Recorded, chatID)
		if err != nil {
			return err
		}
		return execute(ctx, c, `UPDATE chat SET sound_bytes = ? WHERE id = ?`, size, chatID)
	})
}

// giveToOwner gives a file to the owner of the data folder: root may import, but the box
// seldom runs as root.
func (s *Store) giveToOwner(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}
