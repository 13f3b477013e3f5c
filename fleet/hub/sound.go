package hub

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"parley/fleet/bus"
	"parley/store"
)

// maxSide bounds the recording of one side of a chat: a day of Opus at 32 kbit/s has 345 MB.
const maxSide = 512 << 20

// storeSound stores the recording of a chat of a box: a tar file with a file for each side, such as user.opus. One that
// does not fit a chat of that box is dropped.
func (h *Hub) storeSound(ctx context.Context, sound bus.Sound) error {
	box, chatID := sound.Box, sound.ChatID
	owner, _, err := h.Records.BoxOfChat(ctx, chatID)
	if err == nil && owner != box {
		err = store.ErrNotFound
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil {
		h.Log.Warn("dropped a recording: the hub has no such chat of this box", "box", box, "chat", chatID)
		return nil
	}
	from, err := os.Open(sound.File)
	if err != nil {
		return err
	}
	defer from.Close()
	sides, err := readSides(from)
	if err != nil {
		h.Log.Warn("dropped a recording that cannot be read", "box", box, "chat", chatID, "err", err)
		return nil
	}
	err = h.Records.ImportSound(ctx, chatID, sides)
	switch {
	case errors.Is(err, store.ErrConflict):
		return nil // it came before
	case errors.Is(err, store.ErrNotFound):
		h.Log.Warn("dropped a recording of a chat that goes on or was deleted", "box", box, "chat", chatID)
		return nil
	}
	return err
}

func readSides(from io.Reader) (map[store.Side][]byte, error) {
	sides := map[store.Side][]byte{}
	files := tar.NewReader(from)
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return sides, nil
		}
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutSuffix(head.Name, ".opus")
		side := store.Side(name)
		if !ok || side != store.UserSide && side != store.AssistantSide {
			return nil, fmt.Errorf("it has a file %.40q", head.Name)
		}
		sound, err := io.ReadAll(io.LimitReader(files, maxSide+1))
		if err != nil {
			return nil, err
		}
		if len(sound) > maxSide {
			return nil, fmt.Errorf("%s has more than %d bytes", head.Name, maxSide)
		}
		sides[side] = sound
	}
}
