package batch

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"parley/appliance/batch/source"
	"parley/appliance/engine"
	"parley/internal/durable"
	"parley/store"
)

// Artifacts opens the zip archive of a job. For each file of each source it has a folder
// with a CSV file for each model, and the pictures of faces if the job saves them. The
// errors are those of Predictions.
func (s *Service) Artifacts(ctx context.Context, account, jobID string) (*os.File, error) {
	if err := s.completed(ctx, account, jobID); err != nil {
		return nil, err
	}
	f, err := os.Open(s.folder(jobID).artifacts())
	if errors.Is(err, fs.ErrNotExist) { // the disk was full at the end of the job
		if err = s.writeArtifacts(ctx, jobID, nil); err == nil {
			f, err = os.Open(s.folder(jobID).artifacts())
		}
	}
	return f, err
}

// writeArtifacts writes the zip archive of a job whose results are complete. It reads the
// results prediction by prediction, so that even those of a long video are never in memory
// as a whole.
func (s *Service) writeArtifacts(ctx context.Context, jobID string, gate *engine.Gate) error {
	sources, err := s.Records.BatchSources(ctx, jobID)
	if err != nil {
		return err
	}
	files := s.folder(jobID)
	f, err := durable.Create(files.artifacts(), 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	a := artifacts{
		core:  gate.Steps(ctx, nil),
		zip:   zip.NewWriter(f),
		now:   time.Now(),
		names: uniqueNames{},
	}
	defer a.core.Release()
	for n, from := range sources {
		a.folder = a.names.next(sourceName(n, from))
		a.faces = files.faces(n)
		if err := a.source(files.result(n)); err != nil {
			return fmt.Errorf("artifacts of source %d: %w", n, err)
		}
	}
	if err := a.zip.Close(); err != nil {
		return err
	}
	return f.Commit()
}

// sourceName returns the name of the folder of a source.
func sourceName(n int, from store.BatchSource) string {
	switch from.Kind {
	case store.BatchURL:
		return source.Name(from.Name)
	case store.BatchText:
		return fmt.Sprintf("text_%d", n)
	}
	return path.Base(from.Name)
}

// artifacts writes the zip archive of one job.
type artifacts struct {
	core   *engine.Steps // one step a prediction or picture
	zip    *zip.Writer
	now    time.Time
	names  uniqueNames
	folder string // of the source, in the archive
	faces  string // folder with the pictures of the source
}

// source adds what the result of a source holds.
func (a *artifacts) source(result string) error {
	f, err := os.Open(result)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	d, n := json.NewDecoder(f), 0
	return fields(d, func(key string) error {
		if key != "results" {
			return skip(d)
		}
		return fields(d, func(key string) error {
			if key != "predictions" {
				return skip(d)
			}
			return items(d, func() error {
				err := a.file(d, n)
				n++
				return err
			})
		})
	})
}

// file adds the predictions for the nth file of a source.
func (a *artifacts) file(d *json.Decoder, n int) error {
	csvFolder := path.Join(a.folder, "csv")
	folder := csvFolder // of the file
	err := fields(d, func(key string) (err error) {
		switch key {
		case "file":
			name := ""
			err := d.Decode(&name)
			folder = a.names.next(path.Join(csvFolder, cleanPath(name)))
			return err
		case "models":
			return fields(d, func(model string) error { return a.model(d, folder, model) })
		}
		return skip(d)
	})
	if err != nil {
		return err
	}
	return a.pictures(n, path.Join(a.folder, "faces", strings.TrimPrefix(folder, csvFolder)))
}

// model adds the CSV file of a model.
func (a *artifacts) model(d *json.Decoder, folder, model string) error {
	rows, ok := rowsOf(model)
	if !ok {
		return skip(d)
	}
	w, err := a.create(path.Join(folder, model+".csv"), zip.Deflate)
	if err != nil {
		return err
	}
	t := &table{csv: csv.NewWriter(w)}
	t.csv.UseCRLF = true // RFC 4180
	err = fields(d, func(key string) error {
		if key != "grouped_predictions" {
			return skip(d)
		}
		return items(d, func() error { return a.group(d, t, rows) })
	})
	if err != nil {
		return err
	}
	return t.close(rows)
}

// group adds the rows of the predictions for one person.
func (a *artifacts) group(d *json.Decoder, t *table, rows rower) error {
	id := ""
	return fields(d, func(key string) error {
		switch key {
		case "id":
			return d.Decode(&id)
		case "predictions":
			return items(d, func() error {
				if err := a.core.Next(); err != nil {
					return err
				}
				return rows.next(d, id, t)
			})
		}
		return skip(d)
	})
}

// create begins a member of the archive.
func (a *artifacts) create(name string, method uint16) (io.Writer, error) {
	return a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: a.now})
}

// pictures adds the pictures of faces of the nth file of a source.
func (a *artifacts) pictures(n int, folder string) error {
	dir := filepath.Join(a.faces, fmt.Sprint(n))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := a.picture(filepath.Join(dir, e.Name()), path.Join(folder, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (a *artifacts) picture(file, name string) error {
	if err := a.core.Next(); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := a.create(name, zip.Store) // JPEG does not shrink
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// fields calls each for the fields of the JSON object that comes next, after their names.
func fields(d *json.Decoder, each func(key string) error) error {
	if err := token(d, json.Delim('{')); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := each(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	return token(d, json.Delim('}'))
}

// items calls each for the elements of the JSON array that comes next.
func items(d *json.Decoder, each func() error) error {
	if err := token(d, json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	return token(d, json.Delim(']'))
}

func token(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		return fmt.Errorf("a result has %v where %v is expected", got, want)
	}
	return err
}

// skip drops the next value.
func skip(d *json.Decoder) error {
	var dropped json.RawMessage
	return d.Decode(&dropped)
}
