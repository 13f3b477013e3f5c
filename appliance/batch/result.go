package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/appliance/contract"
	"parley/internal/durable"
	"parley/store"
)

// errNoRoom is the error of a picture of a face that the account has no space for.
var errNoRoom = errors.New("the account has no disk space left")

// result writes the result of one source: a contract.SourceResult as JSON, file by file,
// so that the result of an archive is never in memory as a whole.
type result struct {
	run         *jobRun
	n           int // number of the source
	file        *durable.File
	files       int // in the result
	predictions int
	errors      []contract.BatchError
	failed      string // why the source as a whole has no result
}

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
		errors: []contract.BatchError{},
	}
	if _, err := fmt.Fprintf(f, `{"source":%s,"results":{"predictions":[`, head); err != nil {
		f.Discard()
		return nil, err
	}
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

// add appends the predictions for a file, or an error if the account has no space for
// them.
func (r *result) add(p contract.InferencePrediction) error {
	text, err := contract.Marshal(p)
	if err != nil {
		return err
	}
	if r.run.room < int64(len(text)) {
		r.fail(p.File, accountFull)
		return r.dropFaces()
	}
	r.run.stored(int64(len(text)))
	if r.files > 0 {
		text = append([]byte{','}, text...)
	}
	r.files++
	r.predictions += countPredictions(p.Models)
	_, err = r.file.Write(text)
	return err
}

// countPredictions returns the number of single predictions of all models.
func countPredictions(m contract.ModelsPredictions) int {
	return countOf(m.Face) + countOf(m.Burst) + countOf(m.Prosody) + countOf(m.Language) + countOf(m.NER) +
		countOf(m.Facemesh)
}

func countOf[P any](m *contract.ModelPredictions[P]) (n int) {
	if m != nil {
		for _, g := range m.GroupedPredictions {
			n += len(g.Predictions)
		}
	}
	return n
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
	if _, err := r.file.Write([]byte(end + "}")); err != nil {
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
	if r.run.room < int64(len(jpeg)) {
		return errNoRoom
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
