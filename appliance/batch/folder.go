package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"parley/internal/durable"
	"parley/internal/layout"
)

// folder is the folder of a job, below layout.Batch of the data folder.
type folder string

func (s *Service) folder(jobID string) folder { return folder(s.Records.BatchFolder(jobID)) }

// source is the upload or the download of the nth source.
func (f folder) source(n int) string { return filepath.Join(f.sources(), fmt.Sprint(n)) }

func (f folder) sources() string { return filepath.Join(string(f), "source") }

// result is the result of the nth source: a contract.SourceResult as JSON.
func (f folder) result(n int) string { return filepath.Join(f.results(), fmt.Sprintf("%d.json", n)) }

func (f folder) results() string { return filepath.Join(string(f), "results") }

// makeResults creates the folder of the results, so that it outlasts a power cut.
func (f folder) makeResults() error {
	if err := os.MkdirAll(f.results(), 0o700); err != nil {
		return err
	}
	root := filepath.Dir(string(f))
	return errors.Join(durable.SyncFolder(string(f)), durable.SyncFolder(root), durable.SyncFolder(filepath.Dir(root)))
}

// faces is the folder with the pictures of faces of the nth source, until they are in the
// artifacts.
func (f folder) faces(n int) string { return filepath.Join(f.allFaces(), fmt.Sprint(n)) }

func (f folder) allFaces() string { return filepath.Join(string(f), "faces") }

func (f folder) artifacts() string { return filepath.Join(string(f), "artifacts.zip") }

// scratch is the folder for members of archives. Its name keeps it out of backups.
func (f folder) scratch() string { return filepath.Join(string(f), ".members") }

// size returns how many bytes the files of the folder take.
func (f folder) size() (bytes int64, err error) {
	err = filepath.WalkDir(string(f), func(_ string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// root is the folder of all jobs.
func (s *Service) root() string { return filepath.Join(s.Data, layout.Batch) }
