package packs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"parley/internal/bundle"
	"parley/internal/durable"
	"parley/internal/progress"
)

// headerName is the header of an exported file, a bundle. The files of every pack follow
// as PACK/FILE, in the header's order.
const headerName = "parley-packs.json"

// exportFormat is the only format so far.
const exportFormat = 1

type header struct {
	Format int      `json:"format"`
	Packs  []record `json:"packs"`
}

// Export writes packs from dir into one file, for Import on another machine. The file
// appears whole or not at all. Packs of the operating system are skipped, with an event
// for tell. Each file is checked as it is read.
func Export(ctx context.Context, dir string, packs []Pack, file string, tell progress.Func) error {
	tell = tell.Serial()
	var carried []Pack
	for _, p := range packs {
		if p.System != nil {
			tell(progress.Event{Name: p.Name, Step: progress.Skipped,
				Note: "belongs to the operating system: on the other machine, run: " +
					inspectSystem(p, "/nowhere").Mend})
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
	out, err := durable.Create(file, 0o644)
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	defer out.Discard()
	// A fixed time, so that the same packs make the same file.
	w, err := bundle.NewWriter(out, time.Unix(0, 0), 0o644)
	if err != nil {
		return err
	}
	err = exportTo(ctx, dir, carried, w, tell)
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return fmt.Errorf("exporting to %s: %w", file, err)
	}
	return nil
}

func exportTo(ctx context.Context, dir string, packs []Pack, w *bundle.Writer, tell progress.Func) error {
	h := header{Format: exportFormat}
	for _, p := range packs {
		r := newRecord(p)
		build, _ := p.Build()
		for _, f := range build.Files {
			r.Files = append(r.Files, recordFile{File: f})
		}
		h.Packs = append(h.Packs, r)
	}
	if err := w.Header(headerName, h); err != nil {
		return err
	}
	for _, r := range h.Packs {
		if err := exportPack(ctx, dir, r, w, tell); err != nil {
			return err
		}
	}
	return w.Close()
}

func exportPack(ctx context.Context, dir string, r record, w *bundle.Writer, tell progress.Func) error {
	e := progress.Event{Name: r.Name, Step: progress.Writing}
	for _, f := range r.Files {
		e.Total += f.Bytes
	}
	for _, f := range r.Files {
		in, err := os.Open(filepath.Join(dir, r.Name, filepath.FromSlash(f.Name)))
		if err != nil {
			return err
		}
		err = w.Add(ctx, r.Name+"/"+f.Name, f.File, in, func(bytes int64) {
			e.Done += bytes
			tell(e)
		})
		in.Close()
		if err != nil {
			return fmt.Errorf("pack %s: %w", r.Name, err)
		}
	}
	e.Step = progress.Done
	tell(e)
	return nil
}
