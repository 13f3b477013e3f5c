package appliance

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"parley/store"
)

// openSound implements agent.OpenSound: a tar with a file for each side, such as user.opus. It
// lies in a file without a name, which is gone when it is closed.
func (m *member) openSound(_ context.Context, chatID string) (_ io.ReadSeekCloser, err error) {
	f, err := os.CreateTemp(m.cfg.Data, ".sound-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	w, sides := tar.NewWriter(f), 0
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		err := m.addSide(w, chatID, side)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			sides++
		}
	}
	if sides == 0 {
		return nil, store.ErrNotFound
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return f, nil
}

func (m *member) addSide(w *tar.Writer, chatID string, side store.Side) error {
	sound, err := m.records.OpenRecording(chatID, side)
	if err != nil {
		return err
	}
	defer sound.Close()
	info, err := sound.Stat()
	if err != nil {
		return err
	}
	err = w.WriteHeader(&tar.Header{
		Name:    string(side) + ".opus",
		Mode:    0o600,
		Size:    info.Size(),
		ModTime: info.ModTime().Truncate(time.Second),
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.LimitReader(sound, info.Size()))
	return err
}
