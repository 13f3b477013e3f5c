package firmware

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
)

// An exported file is a tar in zstd: first headerName, then every file of
// every pack as pack/file, in the header's order.
const headerName = "parley-packs.json"

// exportFormat is the only format there has been.
const exportFormat = 1

type header struct {
	Format int      `json:"format"`
	Packs  []record `json:"packs"`
}

// Export writes packs from dir into one file, for Import on another machine.
// The file appears whole or not at all. Packs of the operating system cannot
// be carried; progress is told so. Each file is checked as it is read, so that
// no damage is carried on.
func Export(ctx context.Context, dir string, packs []Pack, file string, progress Progress) error {
	progress = progress.serial()
	var carried []Pack
	for _, p := range packs {
		if p.System != nil {
			progress(Event{Pack: p.Name, Step: Skipped, Note: "belongs to the operating system: there, run: " + inspectSystem(p, "/nowhere").Mend})
			continue
		}
		carried = append(carried, p)
	}
	if len(carried) == 0 {
		return errors.New("there is nothing to export: name a pack that is not the operating system's")
	}
	if err := Require(ctx, dir, carried); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	defer os.Remove(out.Name())
	err = exportTo(ctx, dir, carried, out, progress)
	if err == nil {
		err = out.Chmod(0o644)
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("exporting to %s: %w", file, err)
	}
	return os.Rename(out.Name(), file)
}

func exportTo(ctx context.Context, dir string, packs []Pack, w io.Writer, progress Progress) error {
	// Models hardly compress; the fastest level still halves the libraries.
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	h := header{Format: exportFormat}
	for _, p := range packs {
		r := newRecord(p)
		build, _ := p.Build()
		for _, f := range build.Files {
			r.Files = append(r.Files, recordFile{File: f})
		}
		h.Packs = append(h.Packs, r)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := writeMember(t, headerName, int64(len(text))); err != nil {
		return err
	}
	if _, err := t.Write(text); err != nil {
		return err
	}
	for _, r := range h.Packs {
		if err := exportPack(ctx, dir, r, t, progress); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// writeMember begins a member of the archive. Its time is always the same, so
// that the same packs make the same file.
func writeMember(t *tar.Writer, name string, size int64) error {
	return t.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX})
}

func exportPack(ctx context.Context, dir string, r record, t *tar.Writer, progress Progress) error {
	e := Event{Pack: r.Name, Step: Writing}
	for _, f := range r.Files {
		e.Total += f.Bytes
	}
	for _, f := range r.Files {
		in, err := os.Open(filepath.Join(dir, r.Name, filepath.FromSlash(f.Name)))
		if err != nil {
			return err
		}
		err = writeMember(t, r.Name+"/"+f.Name, f.Bytes)
		if err == nil {
			err = copyChecked(ctx, t, in, f.File, &e, progress)
		}
		in.Close()
		if err != nil {
			return fmt.Errorf("pack %s: %w", r.Name, err)
		}
	}
	e.Step = Done
	progress(e)
	return nil
}

// copyChecked copies f from r to w and checks its size and sha256 on the way.
func copyChecked(ctx context.Context, w io.Writer, r io.Reader, f File, e *Event, progress Progress) error {
	h := sha256.New()
	r = io.TeeReader(io.LimitReader(r, f.Bytes), h)
	var n int64
	for n < f.Bytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := io.CopyN(w, r, min(4<<20, f.Bytes-n)) // 4 MiB between looks at ctx
		n += m
		e.Done += m
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s ends after %d of %d bytes", f.Name, n, f.Bytes)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		progress(*e)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.SHA256 {
		return fmt.Errorf("%s is damaged: it has sha256 %s, not %s", f.Name, sum, f.SHA256)
	}
	return nil
}
