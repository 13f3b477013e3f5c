package batch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/internal/durable"
	"parley/store"
)

// errNoSpace is the error of a picture of a face that the account has no space for.
var errNoSpace = errors.New("the account has no disk space left")

// result writes the result of one source: a contract.SourceResult as JSON, file by file,
// so that the result of an archive is never in memory as a whole.
type result struct {
	run         *jobRun
	n           int // number of the source
	file        *durable.File
	out         *bufio.Writer // to file
	files       int           // in the result
	predictions int
	errors      []contract.BatchError
	failed      string // why the source as a whole has no result
}

// resultBuffer is how much of a result is written to its file at once.
const resultBuffer = 64 << 10

// newResult begins the result of the nth source.
func (r *jobRun) newResult(n int, from store.BatchSource) (*result, error) {
	if err := os.RemoveAll(r.folder.faces(n)); err != nil { // of a run that was interrupted
		return nil, err
	}
	head, err := contract.Marshal(wireSource(from))
	if err != nil {
		return nil, err
	}
	f, err := durable.Create(r.folder.result(n), 0o600)
	if err != nil {
		return nil, err
	}
	out := &result{
		run:    r,
		n:      n,
		file:   f,
		out:    bufio.NewWriterSize(f, resultBuffer),
		errors: []contract.BatchError{},
	}
	out.write(fmt.Sprintf(`{"source":%s,"results":{"predictions":[`, head))
	return out, nil
}

// wireSource returns a source as results show it.
func wireSource(from store.BatchSource) contract.BatchSource {
	s := contract.BatchSource{Type: contract.SourceType(from.Kind)}
	switch from.Kind {
	case store.BatchURL:
		s.URL = from.Name
	case store.BatchFile:
		s.File = contract.BatchFile{
			Filename:    from.Name,
			ContentType: from.ContentType,
			MD5Sum:      from.MD5,
		}
	}
	return s
}

// fail adds an error about a file.
func (r *result) fail(file, why string) {
	r.errors = append(r.errors, contract.BatchError{Message: why, File: file})
}

// add appends the predictions for a file, one after another: those of a long text or video
// take a hundred megabytes as JSON. If the account has no space for all of them, the
// result has the first ones and an error.
func (r *result) add(ctx context.Context, p contract.InferencePrediction) error {
	file, err := contract.Marshal(p.File)
	if err != nil {
		return err
	}
	if r.files > 0 {
		r.write(",")
	}
	r.files++
	r.write(`{"file":` + string(file) + `,"models":{`)
	w := &modelWriter{result: r, core: r.run.gate.Steps(ctx, nil)}
	defer w.core.Release()
	err = errors.Join(
		addModel(w, "face", p.Models.Face), addModel(w, "burst", p.Models.Burst),
		addModel(w, "prosody", p.Models.Prosody), addModel(w, "language", p.Models.Language),
		addModel(w, "ner", p.Models.NER), addModel(w, "facemesh", p.Models.Facemesh))
	r.write("}}")
	if w.full {
		r.fail(p.File, accountFull)
	}
	if w.unencoded != nil {
		r.run.log.Error("a prediction cannot be stored", "source", r.n, "err", w.unencoded)
		r.fail(p.File, internalFault)
	}
	return err
}

// write appends to the result. commit reports its errors.
func (r *result) write(text string) { r.out.WriteString(text) }

// modelWriter writes the predictions for one file.
type modelWriter struct {
	*result
	core   *engine.Steps // one step a prediction
	models int           // so far
	full   bool          // the account has no space for more
	// unencoded is why a prediction was left out: JSON has no NaN.
	unencoded error
}

// addModel writes the predictions of one model.
func addModel[P any](w *modelWriter, name string, m *contract.ModelPredictions[P]) error {
	if m == nil {
		return nil
	}
	if w.models++; w.models > 1 {
		w.write(",")
	}
	w.write(`"` + name + `":{`)
	if m.Metadata != nil {
		text, err := contract.Marshal(m.Metadata)
		if err != nil {
			return err
		}
		w.write(`"metadata":` + string(text) + `,`)
	}
	w.write(`"grouped_predictions":[`)
	for i, g := range m.GroupedPredictions {
		if i > 0 {
			w.write(",")
		}
		if err := addGroup(w, g); err != nil {
			return err
		}
	}
	w.write("]}")
	return nil
}

func addGroup[P any](w *modelWriter, g contract.Grouped[P]) error {
	id, err := contract.Marshal(g.ID)
	if err != nil {
		return err
	}
	w.write(`{"id":` + string(id) + `,"predictions":[`)
	between := ""
	for _, p := range g.Predictions {
		if err := w.core.Next(); err != nil {
			return err
		}
		text, err := contract.Marshal(p)
		if err != nil {
			w.unencoded = err
			continue
		}
		if w.full = w.full || w.run.spaceLeft < int64(len(text)); w.full {
			break
		}
		w.run.stored(int64(len(text)))
		w.write(between + string(text))
		between = ","
		w.predictions++
	}
	w.write("]}")
	return nil
}

// commit ends the result and writes it to the disk.
func (r *result) commit() error {
	list, err := contract.Marshal(r.errors)
	if err != nil {
		return err
	}
	end := fmt.Sprintf(`],"errors":%s}`, list)
	if r.failed != "" {
		why, err := contract.Marshal(r.failed)
		if err != nil {
			return err
		}
		end += fmt.Sprintf(`,"error":%s`, why)
	}
	r.write(end + "}")
	if err := r.out.Flush(); err != nil { // also of an earlier write
		return err
	}
	return r.file.Commit()
}

// discard gives up a result that was not committed.
func (r *result) discard() { r.file.Discard() }

// facesFolder is the folder with the pictures of faces of the next file in the result.
func (r *result) facesFolder() string {
	return filepath.Join(r.run.folder.faces(r.n), fmt.Sprint(r.files))
}

// saveFace stores a picture of a face in a frame of the file that is being analysed.
func (r *result) saveFace(group string, frame int, jpeg []byte) error {
	if r.run.spaceLeft < int64(len(jpeg)) {
		return errNoSpace
	}
	r.run.stored(int64(len(jpeg)))
	dir := r.facesFolder()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for k := 1; ; k++ {
		name := fmt.Sprintf("%s-%06d.jpg", group, frame)
		if k > 1 { // more faces of one group in a frame
			name = fmt.Sprintf("%s-%06d-%d.jpg", group, frame, k)
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(jpeg)
		return errors.Join(err, f.Close())
	}
}

// dropFaces deletes the pictures of a file that has no predictions.
func (r *result) dropFaces() error { return os.RemoveAll(r.facesFolder()) }
