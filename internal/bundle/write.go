package bundle

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/klauspost/compress/zstd"
)

// deletedRecord marks the empty member of a file that was deleted after the header was
// written.
const deletedRecord = "PARLEY.deleted"

// A Writer writes a bundle: the header, then each file that it lists, in order.
type Writer struct {
	zstd *zstd.Encoder
	tar  *tar.Writer
	made time.Time
	mode fs.FileMode
}

// NewWriter returns a Writer to w whose members have this time and mode.
func NewWriter(w io.Writer, made time.Time, mode fs.FileMode) (*Writer, error) {
	// Models and recordings hardly compress. The fastest level still halves
	// libraries and takes a database to a third.
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	return &Writer{
		zstd: z,
		tar:  tar.NewWriter(z),
		made: made,
		mode: mode,
	}, nil
}

// Header writes the header as a member with that name.
func (w *Writer) Header(name string, header any) error {
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if err := w.tar.WriteHeader(w.member(name, int64(len(text)))); err != nil {
		return err
	}
	_, err = w.tar.Write(text)
	return err
}

// Add writes f as a member with that name, and checks that the bytes of from match f.
// tell is called with the bytes of every piece.
func (w *Writer) Add(ctx context.Context, name string, f File, from io.Reader, tell func(bytes int64)) error {
	if err := w.tar.WriteHeader(w.member(name, f.Bytes)); err != nil {
		return err
	}
	return copyChecked(ctx, w.tar, from, f, tell)
}

// AddDeleted records that a file of the header no longer exists.
func (w *Writer) AddDeleted(name string) error {
	gone := w.member(name, 0)
	gone.PAXRecords = map[string]string{deletedRecord: "1"}
	return w.tar.WriteHeader(gone)
}

func (w *Writer) member(name string, size int64) *tar.Header {
	return &tar.Header{
		Name:    name,
		Size:    size,
		Mode:    int64(w.mode),
		ModTime: w.made,
		Format:  tar.FormatPAX,
	}
}

// Close writes the end of the bundle. It does not close the underlying writer.
func (w *Writer) Close() error { return errors.Join(w.tar.Close(), w.zstd.Close()) }
