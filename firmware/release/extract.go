package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"parley/internal/bundle"
	"parley/internal/disk"
	"parley/internal/durable"
	"parley/internal/progress"
)

// Part returns a reader of the content of a part. In place of the end it returns an error
// if the SHA-256 of what was read is not that of the manifest.
func (f *File) Part(name string) (io.Reader, error) {
	part, ok := f.Manifest.Part(name)
	if !ok {
		return nil, fmt.Errorf("the release file has no part %s", name)
	}
	return &content{io.NewSectionReader(f.file, f.offset[name], part.Bytes), sha256.New(), part}, nil
}

type content struct {
	r    io.Reader
	sum  hash.Hash
	part bundle.File
}

// Read reads the next bytes.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if sum := hex.EncodeToString(c.sum.Sum(nil)); sum != c.part.SHA256 {
			return n, fmt.Errorf("%s is damaged: it has sha256 %s, not %s", c.part.Name, sum, c.part.SHA256)
		}
	}
	return n, err
}

// Check reads every part and checks its content.
func (f *File) Check(ctx context.Context, tell progress.Func) error {
	return each(f.file.Name(), f.Manifest.Files, progress.Checking, tell, func(part bundle.File, told io.Writer) error {
		return f.copyPart(ctx, part, told)
	})
}

// Extract writes the parts that want accepts, or all if it is nil, into the folder dir,
// under their names, and syncs them. It checks the free space first, and the content of
// every part. A file that exists is an error. After an error nothing of them is left.
func (f *File) Extract(ctx context.Context, dir string, want func(name string) bool, tell progress.Func) error {
	var parts []bundle.File
	var total int64
	for _, part := range f.Manifest.Files {
		if want == nil || want(part.Name) {
			parts = append(parts, part)
			total += part.Bytes
		}
	}
	if err := disk.Require(dir, total); err != nil {
		return err
	}
	var written []string
	err := each(f.file.Name(), parts, progress.Unpacking, tell, func(part bundle.File, told io.Writer) error {
		path := filepath.Join(dir, filepath.FromSlash(part.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		written = append(written, path)
		err = f.copyPart(ctx, part, io.MultiWriter(durable.NewWriter(out), told))
		return errors.Join(err, out.Sync(), out.Close())
	})
	if err == nil {
		err = durable.SyncFolder(dir)
	}
	if err != nil {
		for _, path := range written {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// copyPart copies a checked part.
func (f *File) copyPart(ctx context.Context, part bundle.File, to io.Writer) error {
	from, err := f.Part(part.Name)
	if err != nil {
		return err
	}
	// 1 MiB reads: a tenth of the system calls of io.Copy's 32 KiB.
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, bundle.Cancellable(ctx, from), make([]byte, 1<<20))
	return err
}

// each calls do for each part, and reports the bytes that it writes to told as progress of
// the work on file.
func each(file string, parts []bundle.File, step progress.Step, tell progress.Func,
	do func(part bundle.File, told io.Writer) error) error {
	t := teller{&progress.Event{Name: filepath.Base(file), Step: step}, tell.Serial()}
	for _, part := range parts {
		t.event.Total += part.Bytes
	}
	for _, part := range parts {
		if err := do(part, t); err != nil {
			return err
		}
	}
	t.event.Step = progress.Done
	t.tell(*t.event)
	return nil
}

// A teller reports bytes that are written to it.
type teller struct {
	event *progress.Event
	tell  progress.Func
}

// Write counts the bytes of p.
func (t teller) Write(p []byte) (int, error) {
	t.event.Done += int64(len(p))
	t.tell(*t.event)
	return len(p), nil
}
