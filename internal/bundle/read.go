package bundle

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"parley/internal/durable"
)

// maxWindow bounds the memory that an untrusted zstd frame can ask for.
const maxWindow = 64 << 20

var (
	// ErrFormat means that the file is not a bundle, or not of the expected kind.
	ErrFormat = errors.New("it is another kind of file, or damaged")
	// ErrDeleted means that a file had been deleted when the bundle was written.
	ErrDeleted = errors.New("it was deleted while the file was written")
)

// A Reader reads a bundle from beginning to end. It trusts none of it: names, order,
// sizes and contents must match the header.
type Reader struct {
	zstd *zstd.Decoder
	tar  *tar.Reader
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return &Reader{zstd: z, tar: tar.NewReader(z)}, nil
}

// Close ends the reader. It does not close the underlying one.
func (r *Reader) Close() { r.zstd.Close() }

// Header reads the header with that name, of at most limit bytes. The error is ErrFormat
// if there is none.
func (r *Reader) Header(name string, limit int64, into any) error {
	m, err := r.tar.Next()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if m.Name != name || m.Size > limit {
		return fmt.Errorf("%w: it begins with %.80q of %d bytes", ErrFormat, m.Name, m.Size)
	}
	if err := json.NewDecoder(io.LimitReader(r.tar, limit)).Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// Extract writes the next member, which must be f under that name, to a new file at path
// and syncs it. tell is called with the bytes of every piece. The error is ErrDeleted if
// the file no longer existed when the bundle was written.
func (r *Reader) Extract(ctx context.Context, name string, f File, path string, tell func(bytes int64)) error {
	if err := r.next(name, f); err != nil {
		return err
	}
	return r.write(ctx, f, path, tell)
}

// Skip checks the next member as Extract does, without writing it.
func (r *Reader) Skip(ctx context.Context, name string, f File, tell func(bytes int64)) error {
	if err := r.next(name, f); err != nil {
		return err
	}
	return copyChecked(ctx, io.Discard, r.tar, f, tell)
}

// next reads the header of the next member, which must be f under that name.
func (r *Reader) next(name string, f File) error {
	m, err := r.tar.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends before %s: it is cut off, copy it again", f.Name)
	}
	if err != nil {
		return fmt.Errorf("the file is damaged: %w", err)
	}
	deleted := m.PAXRecords[deletedRecord] != ""
	if m.Typeflag != tar.TypeReg || m.Name != name || m.Size != f.Bytes && !deleted {
		return fmt.Errorf("it has %q of %d bytes where %q of %d should be", m.Name, m.Size, name, f.Bytes)
	}
	if deleted {
		return fmt.Errorf("%s: %w", f.Name, ErrDeleted)
	}
	return nil
}

func (r *Reader) write(ctx context.Context, f File, path string, tell func(bytes int64)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = copyChecked(ctx, durable.NewWriter(out), r.tar, f, tell)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the file ends within %s: it is cut off, copy it again", f.Name)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// End returns an error if more of the bundle follows. Reading to the very end also checks zstd's
// checksum of the whole.
func (r *Reader) End() error {
	m, err := r.tar.Next()
	if err == nil {
		return fmt.Errorf("it holds %q, which it does not announce", m.Name)
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("the file is damaged at its end: %w", err)
	}
	const padding = 1 << 20 // tar's is at most 10 KiB
	n, err := io.Copy(io.Discard, io.LimitReader(r.zstd, padding))
	if err != nil {
		return fmt.Errorf("the file is damaged at its end: %w", err)
	}
	if n == padding {
		return errors.New("it goes on after its end")
	}
	return nil
}
