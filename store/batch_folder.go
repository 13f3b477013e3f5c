package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"parley/internal/layout"
)

// strayBatchAge is how old a folder without a job is when it is removed. A folder gets its
// name a moment before its job is added.
const strayBatchAge = time.Hour

// removeBatchFolder deletes the files of a deleted job.
func (s *Store) removeBatchFolder(jobID string) error { return os.RemoveAll(s.BatchFolder(jobID)) }

// dropStrayBatchFolders deletes folders of jobs that do not exist: a crash came between
// deleting a job and its files, or before the job was added.
func (s *Store) dropStrayBatchFolders(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(s.dir, layout.Batch))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	ids := []string{} // a nil slice would be null in JSON, which SQLite reads as one entry
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && uuid.Validate(e.Name()) == nil && time.Since(info.ModTime()) > strayBatchAge {
			ids = append(ids, e.Name())
		}
	}
	stray, err := s.strayBatchFolders(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range stray {
		if err := s.removeBatchFolder(id); err != nil {
			return err
		}
	}
	return nil
}
