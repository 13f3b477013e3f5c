// Package source turns what a job names into local files, within bounds: it fetches URLs
// and unpacks archives, one member at a time.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"parley/internal/disk"
)

// Error is the fault of a URL, an archive or a member: its text is for the client of the
// job. Any other error of this package is the box's: a full disk, or a cancelled context.
type Error struct{ Why string }

func (e *Error) Error() string { return e.Why }

func fault(format string, values ...any) *Error { return &Error{fmt.Sprintf(format, values...)} }

// ErrDiskFull is the error of a box whose disk has no space for a file of a job.
var ErrDiskFull = errors.New("the disk of the box is full")

const (
	// copyBytes is the size of one read. It is also how often a copy looks at its context.
	copyBytes = 64 << 10
	// checkBytes is how much a copy writes until it asks for the free space again: much
	// less than disk.Spare, and asking takes microseconds.
	checkBytes = 16 << 20
)

// save writes at most limit bytes of from to a new file at path, which it removes again
// after an error. It returns how many bytes it has written, also with an error, and
// tooLong if from has more. Errors of from are returned as they are.
func save(ctx context.Context, path string, from io.Reader, limit int64, tooLong error) (n int64, err error) {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := to.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	buffer, checked := make([]byte, copyBytes), int64(-checkBytes)
	for {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		if n-checked >= checkBytes {
			if err := checkSpace(path, 0); err != nil {
				return n, err
			}
			checked = n
		}
		got, failed := from.Read(buffer)
		if n+int64(got) > limit {
			return n, tooLong
		}
		written, err := to.Write(buffer[:got])
		n += int64(written)
		switch {
		case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT):
			return n, fmt.Errorf("%w: %w", ErrDiskFull, err)
		case err != nil:
			return n, err
		case failed == io.EOF:
			return n, nil
		case failed != nil:
			return n, failed
		}
	}
}

// checkSpace returns ErrDiskFull if the disk of path would have less than disk.Spare free
// after size more bytes.
func checkSpace(path string, size int64) error {
	free, err := disk.Free(filepath.Dir(path))
	if err == nil && free-size < disk.Spare {
		return fmt.Errorf("%w: %d MiB are free, of which %d MiB are reserved for conversations", ErrDiskFull,
			free>>20, disk.Spare>>20)
	}
	return err
}

// isOurs reports whether an error while a local file was read is the box's and not the
// fault of what the file contains.
func isOurs(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	return path || errors.Is(err, ErrDiskFull) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}
