package packs

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"parley/internal/bundle"
	"parley/internal/durable"
)

// An archive iterates over the members of a fetched package: it calls take for each that
// want selects.
type archive func(want func(member string) bool, take func(member string, r io.Reader) error) error

// openArchive finds what a client left in out (pip, npm) or in its cache (go).
func openArchive(s Source, folder, out string) (archive, error) {
	if s.Client == "go" {
		// The path of the module in Go's cache is escaped, and there is only one: searching
		// is simpler than escaping.
		found, err := filepath.Glob(filepath.Join(folder, "modules", "cache", "download", "*", "*", "*", "@v", "*.zip"))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("go left %d archives, not one", len(found))
		}
		return zipArchive(found[0], s.Package+"@"+s.Version+"/"), nil
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 {
		return nil, fmt.Errorf("%s left %d files, not one", s.Client, len(entries))
	}
	path := filepath.Join(out, entries[0].Name())
	if s.Client == "npm" {
		return tgzArchive(path), nil
	}
	return zipArchive(path, ""), nil
}

func zipArchive(path, prefix string) archive {
	return func(want func(string) bool, take func(string, io.Reader) error) error {
		z, err := zip.OpenReader(path)
		if err != nil {
			return err
		}
		defer z.Close()
		for _, m := range z.File {
			if len(m.Name) < len(prefix) || m.Name[:len(prefix)] != prefix || !want(m.Name[len(prefix):]) {
				continue
			}
			r, err := m.Open()
			if err != nil {
				return err
			}
			err = take(m.Name[len(prefix):], r)
			r.Close()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func tgzArchive(path string) archive {
	return func(want func(string) bool, take func(string, io.Reader) error) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		return tarMembers(z, want, take)
	}
}

func tarMembers(r io.Reader, want func(string) bool, take func(string, io.Reader) error) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg && want(h.Name) {
			if err := take(h.Name, t); err != nil {
				return err
			}
		}
	}
}

// extractParts writes parts of a package into folder, and checks the sha256 of each on
// the way. It returns early with ctx's error.
func extractParts(ctx context.Context, a archive, takes []Part, folder string) error {
	byMember := map[string]Part{}
	for _, t := range takes {
		byMember[t.Member] = t
	}
	err := a(func(m string) bool { _, ok := byMember[m]; return ok }, func(m string, r io.Reader) error {
		t := byMember[m]
		delete(byMember, m)
		if err := extractPart(ctx, t, r, folder); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for m := range byMember {
		return fmt.Errorf("%s is not in the package", m)
	}
	return nil
}

func extractPart(ctx context.Context, t Part, r io.Reader, folder string) error {
	h := sha256.New()
	n := &counter{}
	// One byte more than expected is enough to detect that it is too long.
	r = io.TeeReader(io.LimitReader(bundle.Cancellable(ctx, r), t.Bytes+1), io.MultiWriter(h, n))
	var err error
	if t.Unpack != nil {
		err = unpack(ctx, t.Unpack, r, folder)
	} else {
		err = writeAt(filepath.Join(folder, filepath.FromSlash(t.File)), t.Offset, r)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // what the unpacker left unread
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n.bytes != t.Bytes || sum != t.SHA256 {
		return fmt.Errorf(
			"it has %d bytes with sha256 %s, not %d with %s: the package is not the published one",
			n.bytes, sum, t.Bytes, t.SHA256)
	}
	return nil
}

func unpack(ctx context.Context, takes []Part, r io.Reader, folder string) error {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	return extractParts(ctx, func(want func(string) bool, take func(string, io.Reader) error) error {
		return tarMembers(z, want, take)
	}, takes, folder)
}

// writeAt writes all of r into a file, from offset on, and syncs it, since a marker will
// say that it is complete.
func writeAt(path string, offset int64, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Seek(offset, io.SeekStart); err == nil {
		_, err = io.Copy(durable.NewWriter(f), r)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// largest returns the size of the largest file under folder, and of all together. The
// largest file is the archive that a client is downloading; the total grows while the
// client does anything.
func largest(folder string) (size, all int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that was removed meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size = max(size, info.Size())
			all += info.Size()
		}
		return nil
	})
	return size, all
}
