package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"

	"github.com/nats-io/nats.go"
)

// Headers of a part of a recording.
const (
	headerChat  = "Parley-Chat"
	headerPart  = "Parley-Part"  // from 1
	headerParts = "Parley-Parts" // of the recording
	headerSum   = "Parley-Sha256"
)

// SendSound sends the recording of a chat. When it returns nil the server has stored all of it. It may be sent again.
func (b *Box) SendSound(ctx context.Context, chatID string, from io.ReadSeeker) error {
	sum := sha256.New()
	size, err := io.Copy(sum, from)
	if err != nil {
		return err
	}
	if size == 0 {
		return errors.New("the recording is empty")
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	parts := int((size + partBytes - 1) / partBytes)
	buffer := make([]byte, partBytes)
	for part := 1; part <= parts; part++ {
		n, err := io.ReadFull(from, buffer)
		if err != nil && !(part == parts && errors.Is(err, io.ErrUnexpectedEOF)) {
			return err
		}
		m := nats.NewMsg(soundSubject + b.join.Box)
		m.Data = buffer[:n]
		m.Header.Set(headerChat, chatID)
		m.Header.Set(headerPart, strconv.Itoa(part))
		m.Header.Set(headerParts, strconv.Itoa(parts))
		m.Header.Set(headerSum, hex.EncodeToString(sum.Sum(nil)))
		if _, err := b.store(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
