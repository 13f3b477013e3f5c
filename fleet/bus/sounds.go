package bus

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
)

// Sound is the whole recording of a chat of a box.
type Sound struct {
	Box    string
	ChatID string // a UUID
	File   string // which is deleted when it was handled, if it is still there
}

// purgeEvery is after how many parts the server is told to delete them.
const purgeEvery = 16

// Sounds puts the recordings of all boxes together in files of a folder, and calls handle with each that is whole and
// has the right checksum, until ctx ends. If handle returns an error, Sounds returns it, and the recording comes again
// the next time. The folder is for Sounds alone.
func (h *Hub) Sounds(ctx context.Context, folder string, handle func(context.Context, Sound) error) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	done, purged := uint64(0), uint64(0) // sequence numbers
	f := follower{
		link:   h.link,
		stream: soundStream,
		config: jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy},
		next: func() uint64 {
			if done == 0 {
				return 0
			}
			return done + 1
		},
	}
	f.handle = func(ctx context.Context, group []jetstream.Msg) error {
		for _, m := range group {
			meta, err := m.Metadata()
			if err != nil {
				return err
			}
			p, err := parsePart(m)
			if err == nil {
				err = p.store(ctx, folder, handle)
			}
			var bad errPartOfSound
			if errors.As(err, &bad) {
				h.link.log.Warn("a part of a recording is left out", "subject", m.Subject(), "err", err)
			} else if err != nil {
				return err
			}
			done = meta.Sequence.Stream
			if done-purged >= purgeEvery || meta.NumPending == 0 {
				// If this fails, the parts are read again after the next start, which does no harm.
				if err := h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
					return purge(ctx, js, soundStream, "", done+1)
				}); err == nil {
					purged = done
				}
			}
		}
		return nil
	}
	return f.run(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		// A stream that was made anew counts from 1.
		if s, err := js.Stream(ctx, soundStream); err == nil && s.CachedInfo().State.LastSeq < done {
			done, purged = 0, 0
		}
		return nil
	})
}

// soundPart is one message of a recording.
type soundPart struct {
	box, chat, sum string
	part, parts    int
	data           []byte
}

// errPartOfSound says that a part is not of use.
type errPartOfSound string

func (e errPartOfSound) Error() string { return string(e) }

func parsePart(m jetstream.Msg) (soundPart, error) {
	headers := m.Headers()
	if headers.Get(headerStream) != "" {
		return soundPart{}, errPartOfSound(errForged.Error())
	}
	p := soundPart{
		box:  strings.TrimPrefix(m.Subject(), soundSubject),
		sum:  headers.Get(headerSum),
		data: m.Data(),
	}
	// All of this becomes part of a file's name.
	chat, err := uuid.Parse(headers.Get(headerChat))
	if err != nil || len(p.sum) != 2*sha256.Size || strings.Trim(p.sum, "0123456789abcdef") != "" {
		return p, errPartOfSound("its headers do not name a chat and a checksum")
	}
	p.chat = chat.String()
	p.part, _ = strconv.Atoi(headers.Get(headerPart))
	p.parts, _ = strconv.Atoi(headers.Get(headerParts))
	if p.part < 1 || p.part > p.parts || len(p.data) > partBytes || p.part < p.parts && len(p.data) != partBytes {
		return p, errPartOfSound(fmt.Sprintf("part %d of %d has %d bytes", p.part, p.parts, len(p.data)))
	}
	return p, nil
}

// store adds the part to its file, and hands the file over if it was the last. The parts of a recording come in order;
// those that the file has already are skipped, since a box sends a part again if it does not know the outcome.
func (p soundPart) store(ctx context.Context, folder string, handle func(context.Context, Sound) error) error {
	path := filepath.Join(folder, p.box+"_"+p.chat+"_"+p.sum)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// A part of which only a piece was written when the power failed is written again.
	have := int(info.Size() / partBytes)
	switch {
	case p.part > have+1:
		return errPartOfSound(fmt.Sprintf("part %d of %d comes after part %d", p.part, p.parts, have))
	case p.part == have+1:
		if _, err := f.WriteAt(p.data, int64(have)*partBytes); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if p.part < p.parts {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if err := checkSum(sum, p.sum); err != nil {
		return errors.Join(errPartOfSound(err.Error()), os.Remove(path))
	}
	if err := handle(ctx, Sound{Box: p.box, ChatID: p.chat, File: path}); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
