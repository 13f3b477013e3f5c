package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"parley/appliance/batch/source"
	"parley/appliance/contract"
	"parley/store"
)

// storeRetry is how long the runner waits after an error of the database.
const storeRetry = 5 * time.Second

// run runs one job after another until ctx ends.
func (s *Service) run(ctx context.Context, a Analyser) {
	for ctx.Err() == nil {
		j, err := s.Records.StartBatchJob(ctx, time.Now().UnixMilli())
		switch {
		case err == nil:
			s.runJob(ctx, a, j)
		case errors.Is(err, store.ErrNotFound):
			select {
			case <-s.wake:
			case <-ctx.Done():
			}
		case ctx.Err() == nil:
			s.Log.Error("cannot start an analysis job; trying again", "err", err)
			pause(ctx)
		}
	}
}

// pause waits for storeRetry, or until ctx ends.
func pause(ctx context.Context) {
	select {
	case <-time.After(storeRetry):
	case <-ctx.Done():
	}
}

// runJob runs a job and ends it, or puts it back into the queue if ctx ends before.
func (s *Service) runJob(ctx context.Context, a Analyser, j store.BatchJob) {
	log, begun := s.Log.With("job", j.ID), time.Now()
	r := &jobRun{
		Service:  s,
		analyser: a,
		job:      j,
		folder:   s.folder(j.ID),
		log:      log,
	}
	err := r.sources(ctx)
	record := func(ctx context.Context) error { return s.end(ctx, j, r.tally) }
	state := r.tally.state()
	switch {
	case ctx.Err() != nil:
		record = func(ctx context.Context) error { return s.Records.RequeueBatchJob(ctx, j.ID, false) }
		state = store.BatchQueued
	case err != nil:
		log.Error("an analysis job failed", "err", err)
		r.tally.failure, state = failureOf(err), store.BatchFailed
	default:
		log.Info("an analysis job has ended", "state", string(state), "predictions", r.tally.predictions,
			"errors", r.tally.errors, "took", time.Since(begun).Round(time.Millisecond))
	}
	s.Ended(state, time.Since(begun))
	for {
		err := record(context.WithoutCancel(ctx)) // also while the box stops
		if err == nil || errors.Is(err, store.ErrNotFound) {
			return // it was deleted with its account
		}
		log.Error("cannot record the end of an analysis job; trying again", "err", err)
		if ctx.Err() != nil {
			return // the next start finds it running
		}
		pause(ctx)
	}
}

// failureOf returns the reason of a failed job for its client.
func failureOf(err error) string {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, store.ErrFull) || errors.Is(err, source.ErrDiskFull) {
		return "the disk of the box is full"
	}
	return "the box cannot store what it measures; its log says why"
}

// tally adds up the results of a job.
type tally struct {
	predictions int    // in all results
	errors      int    // in all results
	files       int    // that were analysed, or not because of their own fault
	boxFaults   int    // files that were not analysed because of a fault of the box
	boxFault    string // the first of these faults
	failure     string // why the job failed as a whole
}

// state returns how a job with these results ends. It has failed only if the box could
// analyse none of its files.
func (t *tally) state() store.BatchState {
	if t.failure == "" && t.files == 0 && t.boxFaults > 0 {
		t.failure = t.boxFault
	}
	if t.failure != "" {
		return store.BatchFailed
	}
	return store.BatchCompleted
}

// jobRun is one run of a job.
type jobRun struct {
	*Service
	analyser Analyser
	job      store.BatchJob
	folder   folder
	log      *slog.Logger
	request  contract.PostedBatchJob
	room     int64 // bytes that the account may still store
	texts    int   // texts so far
	tally    tally
}

// sources analyses the sources of the job that have no result yet. The error is the box's.
func (r *jobRun) sources(ctx context.Context) error {
	if err := json.Unmarshal([]byte(r.job.Request), &r.request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	all, err := r.Records.BatchSources(ctx, r.job.ID)
	if err != nil {
		return err
	}
	if r.room, err = r.Service.room(ctx, r.job.AccountID); err != nil {
		return err
	}
	if err := os.MkdirAll(r.folder.results(), 0o700); err != nil {
		return err
	}
	for n, from := range all {
		text := r.nextText(from)
		if from.Done {
			r.tally.predictions += from.Predictions
			r.tally.errors += from.Errors
			r.tally.files++
			continue
		}
		if err := r.source(ctx, n, from, text); err != nil {
			return err
		}
	}
	return nil
}

// namedText is a text of the request, and its name in results.
type namedText struct{ name, text string }

// nextText returns the text of a source that is one.
func (r *jobRun) nextText(from store.BatchSource) (t namedText) {
	if from.Kind != store.BatchText || r.texts >= len(r.request.Text) {
		return t
	}
	t = namedText{"text", r.request.Text[r.texts]}
	if len(r.request.Text) > 1 {
		t.name = fmt.Sprintf("text_%d", r.texts)
	}
	r.texts++
	return t
}

// source analyses one source and stores its result.
func (r *jobRun) source(ctx context.Context, n int, from store.BatchSource, text namedText) error {
	out, err := r.newResult(n, from)
	if err != nil {
		return err
	}
	defer out.discard()
	switch from.Kind {
	case store.BatchText:
		err = r.text(ctx, out, text)
	case store.BatchURL:
		err = r.url(ctx, out, from.Name)
	default:
		err = r.file(ctx, out, fileName(n, from.Name), r.folder.source(n))
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return err
	}
	r.tally.predictions += out.predictions
	r.tally.errors += len(out.errors)
	size, err := r.folder.size()
	if err != nil {
		return err
	}
	return r.Records.BatchSourceDone(ctx, r.job.ID, n, out.predictions, len(out.errors), size)
}

// fileName returns the name of an uploaded file in results.
func fileName(n int, name string) string {
	if name == "" {
		return fmt.Sprintf("file_%d", n)
	}
	return name
}
