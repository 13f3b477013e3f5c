// Package bundle packs files into one file to carry them between machines: a
// zstd-compressed tar that begins with a JSON header, which lists what follows. Every
// file is checked against its SHA-256 as it is written and as it is read.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// A File is a file as the header lists it. Name is relative, with forward slashes.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// Hash returns the SHA-256 of a file in hexadecimal. It returns early with ctx's error.
func Hash(ctx context.Context, path string) (string, error) {
	return HashPrefix(ctx, path, math.MaxInt64)
}

// HashPrefix returns the SHA-256 of at most the first bytes of a file, in hexadecimal.
func HashPrefix(ctx context.Context, path string, bytes int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	// 1 MiB reads: a tenth of the system calls of io.Copy's 32 KiB.
	from := Cancellable(ctx, io.LimitReader(f, bytes))
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, from, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Cancellable returns a reader of r that returns ctx's error once ctx is done.
func Cancellable(ctx context.Context, r io.Reader) io.Reader { return &cancellable{ctx, r} }

type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// copyChecked copies f from r to w and checks its size and SHA-256. tell is called with
// the bytes of every piece.
func copyChecked(ctx context.Context, w io.Writer, r io.Reader, f File, tell func(bytes int64)) error {
	h := sha256.New()
	r = io.TeeReader(io.LimitReader(r, f.Bytes), h)
	var n int64
	for n < f.Bytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := io.CopyN(w, r, min(4<<20, f.Bytes-n)) // 4 MiB between two checks of ctx
		n += m
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s ends after %d of %d bytes", f.Name, n, f.Bytes)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		tell(m)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.SHA256 {
		return fmt.Errorf("%s is damaged: it has sha256 %s, not %s", f.Name, sum, f.SHA256)
	}
	return nil
}
