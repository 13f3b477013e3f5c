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
	size := 0
	for side, sound := range sides {
		if err := s.writeSound(filepath.Base(s.recordingPath(chatID, side)), sound); err != nil {
			return folderError(s.dir, err)
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

// writeSound writes a file into the folder of recordings, and gives it to the owner of the
// data folder: root may import, but the box seldom runs as root. A link in the data folder
// must not lead root elsewhere.
func (s *Store) writeSound(name string, sound []byte) (err error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	give := func(string) error { return nil }
	if os.Geteuid() == 0 {
		info, err := root.Stat(".")
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		give = func(name string) error { return root.Lchown(name, int(owner.Uid), int(owner.Gid)) }
	}
	if err = root.Mkdir(layout.Recordings, 0o700); err == nil {
		err = give(layout.Recordings)
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	path := filepath.Join(layout.Recordings, name)
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by an import that was killed
		return err
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(sound); err != nil {
		return err
	}
	return errors.Join(f.Sync(), give(path), durable.SyncFolder(filepath.Join(s.dir, layout.Recordings)))
}
