package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"parley/appliance/contract"
	"parley/store"
)

// Jobs returns the selected jobs of an account.
func (s *Service) Jobs(ctx context.Context, f store.BatchFilter) ([]contract.BatchJob, error) {
	found, err := s.Records.BatchJobs(ctx, f)
	if err != nil {
		return nil, err
	}
	all := make([]contract.BatchJob, len(found))
	for i, j := range found {
		if all[i], err = wireJob(j); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Job returns a job of an account, or store.ErrNotFound.
func (s *Service) Job(ctx context.Context, account, jobID string) (contract.BatchJob, error) {
	j, err := s.Records.BatchJob(ctx, account, jobID)
	if err != nil {
		return contract.BatchJob{}, err
	}
	w, err := wireJob(j)
	if err != nil || j.State != store.BatchInProgress {
		return w, err
	}
	sources, err := s.Records.BatchSources(ctx, jobID)
	all, done := int64(len(sources)), int64(0)
	for _, from := range sources {
		if from.Done {
			done++
		}
	}
	w.State.NumSources, w.State.NumSourcesDone = &all, &done
	return w, err
}

// wireJob returns a job as lists and details show it.
func wireJob(j store.BatchJob) (contract.BatchJob, error) {
	w := contract.BatchJob{
		Type:  contract.JobType,
		JobID: j.ID,
		State: contract.StateInference{
			Status:             contract.JobState(j.State),
			CreatedTimestampMS: j.CreatedMS,
			StartedTimestampMS: j.StartedMS,
			EndedTimestampMS:   j.EndedMS,
		},
	}
	switch j.State {
	case store.BatchQueued:
		w.State.StartedTimestampMS = 0 // of a job that waits for its next turn
	case store.BatchCompleted:
		predictions, failures := int64(j.Predictions), int64(j.Errors)
		w.State.NumPredictions, w.State.NumErrors = &predictions, &failures
	case store.BatchFailed:
		w.State.Message = &j.Message
	}
	if err := json.Unmarshal([]byte(j.Request), &w.Request); err != nil {
		return w, fmt.Errorf("reading the request of job %s: %w", j.ID, err)
	}
	return w, nil
}

// completed returns an error unless a job of the account is COMPLETED.
func (s *Service) completed(ctx context.Context, account, jobID string) error {
	j, err := s.Records.BatchJob(ctx, account, jobID)
	if err != nil || j.State == store.BatchCompleted {
		return err
	}
	why := fmt.Sprintf("the job is %s; it has results once it is %s", j.State, store.BatchCompleted)
	if j.Message != "" {
		why = fmt.Sprintf("the job is %s and has no results: %s", j.State, j.Message)
	}
	return contract.ErrInvalid{Field: "id", Why: why}
}

// Predictions opens the predictions of a job: a JSON array of contract.SourceResult, one
// for each source in the order of the request. The error is store.ErrNotFound if there is
// no such job, and a contract.ErrInvalid if it is not COMPLETED.
func (s *Service) Predictions(ctx context.Context, account, jobID string) (*Results, error) {
	if err := s.completed(ctx, account, jobID); err != nil {
		return nil, err
	}
	return s.openResults(ctx, jobID)
}

// Results reads a JSON array whose elements are files.
type Results struct {
	pieces []piece // the rest
	open   io.ReadCloser
	size   int64
}

// piece is a file, or a text if path is empty.
type piece struct {
	path, text string
}

// openResults returns the results of all sources of a job.
func (s *Service) openResults(ctx context.Context, jobID string) (*Results, error) {
	sources, err := s.Records.BatchSources(ctx, jobID)
	if err != nil {
		return nil, err
	}
	r, files := &Results{}, s.folder(jobID)
	between := "["
	for n, from := range sources {
		r.text(between)
		between = ","
		err := r.file(files.result(n))
		if errors.Is(err, fs.ErrNotExist) { // as after a restore from a backup of another time
			err = r.lost(from)
		}
		if err != nil {
			return nil, err
		}
	}
	r.text("]")
	return r, nil
}

func (r *Results) text(text string) {
	r.pieces = append(r.pieces, piece{text: text})
	r.size += int64(len(text))
}

func (r *Results) file(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		r.pieces = append(r.pieces, piece{path: path})
		r.size += info.Size()
	}
	return err
}

// lost adds the result of a source whose file is gone.
func (r *Results) lost(from store.BatchSource) error {
	text, err := contract.Marshal(contract.SourceResult{
		Source: wireSource(from),
		Results: &contract.InferenceResults{
			Predictions: []contract.InferencePrediction{},
			Errors:      []contract.BatchError{},
		},
		Error: "the result is not on the box any more",
	})
	r.text(string(text))
	return err
}

// Size returns the number of bytes of the whole array.
func (r *Results) Size() int64 { return r.size }

// Read reads the next bytes of the array.
func (r *Results) Read(p []byte) (int, error) {
	for {
		if r.open == nil {
			if len(r.pieces) == 0 {
				return 0, io.EOF
			}
			next := r.pieces[0]
			r.pieces = r.pieces[1:]
			r.open = io.NopCloser(strings.NewReader(next.text))
			if next.path != "" {
				f, err := os.Open(next.path)
				if err != nil {
					return 0, err
				}
				r.open = f
			}
		}
		n, err := r.open.Read(p)
		if err != io.EOF {
			return n, err
		}
		if err := r.Close(); err != nil {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// Close closes the file that is being read.
func (r *Results) Close() error {
	if r.open == nil {
		return nil
	}
	open := r.open
	r.open = nil
	return open.Close()
}
