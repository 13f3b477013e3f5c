package batch

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// maxCallbackBytes bounds the body of a callback: an attempt to deliver a webhook has 10 s,
// in which a line of 1 Mbit/s sends 1.2 MB. The webhooks of an account that wait may take
// 64 MiB; a few large bodies must not push the others out.
const maxCallbackBytes = 1 << 20

// end ends a job: it deletes what is no longer needed, records the results, and queues the
// callback.
func (s *Service) end(ctx context.Context, j store.BatchJob, t tally) error {
	files := s.folder(j.ID)
	e := store.BatchEnd{
		State:       t.state(),
		AtMS:        time.Now().UnixMilli(),
		Predictions: t.predictions,
		Errors:      t.errors,
		Message:     t.failure,
	}
	gone := []string{files.scratch()}
	if !s.Settings.KeepSources {
		gone = append(gone, files.sources())
	}
	if e.State == store.BatchFailed { // nobody can read them
		gone = append(gone, files.results(), files.allFaces())
	}
	for _, path := range gone {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	var err error
	if e.FileBytes, err = files.size(); err != nil {
		return err
	}
	if e.CallbackURL, err = callbackURL(j); err == nil && e.CallbackURL != "" {
		e.Callback, err = s.callback(ctx, j, e)
	}
	if err != nil {
		return err
	}
	return s.Records.EndBatchJob(ctx, j.ID, e)
}

// callbackURL returns where the end of a job is reported, or "".
func callbackURL(j store.BatchJob) (string, error) {
	var request struct {
		CallbackURL string `json:"callback_url"`
	}
	err := json.Unmarshal([]byte(j.Request), &request)
	return request.CallbackURL, err
}

// callback returns the body of the callback of a job that ends.
func (s *Service) callback(ctx context.Context, j store.BatchJob, e store.BatchEnd) (string, error) {
	body := contract.JobCallback{
		JobID:  j.ID,
		Status: contract.JobState(e.State),
		Error:  e.Message,
	}
	if e.State == store.BatchCompleted {
		results, err := s.openResults(ctx, j.ID)
		if err != nil {
			return "", err
		}
		defer results.Close()
		if results.Size() > maxCallbackBytes {
			body.Error = "the predictions are too long for a callback: GET /v0/batch/jobs/" + j.ID + "/predictions"
		} else if body.Predictions, err = io.ReadAll(results); err != nil {
			return "", err
		}
	}
	text, err := contract.Marshal(body)
	return string(text), err
}
