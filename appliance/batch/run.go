package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// storeRetry is how long the runner waits after an error of the database.
const storeRetry = 5 * time.Second

// pause waits for storeRetry, or until ctx ends.
func pause(ctx context.Context) {
	select {
	case <-time.After(storeRetry):
	case <-ctx.Done():
	}
}

// runJob runs a job and ends it, or puts it back into the queue if ctx ends before.
func (s *Service) runJob(ctx context.Context, j store.BatchJob, a Analyser, gate *engine.Gate) {
	r := &jobRun{
		Service:  s,
		analyser: a,
		gate:     gate,
		job:      j,
		folder:   s.folder(j.ID),
		log:      s.Log.With("job", j.ID),
	}
	begun := time.Now()
	state, record := r.run(ctx)
	s.Ended(state, time.Since(begun))
	for {
		err := record(context.WithoutCancel(ctx)) // also while the box stops
		if err == nil || errors.Is(err, store.ErrNotFound) {
			return // in the second case the job was deleted
		}
		r.log.Error("cannot record the end of an analysis job; trying again", "err", err)
		if ctx.Err() != nil {
			return // the next start finds it running
		}
		pause(ctx)
	}
}

// run runs the job until it ends, ctx ends, or the job is deleted. It returns the state
// that the job has then, and what records that.
func (r *jobRun) run(ctx context.Context) (state store.BatchState, record func(context.Context) error) {
	jobCtx, stop := context.WithCancel(ctx)
	now := &running{r.job.ID, stop, make(chan struct{})}
	r.setRunning(now)
	defer close(now.over)
	defer r.setRunning(nil)
	defer stop()
	begun := time.Now()
	err := r.sources(jobCtx)
	if err == nil && r.tally.state() == store.BatchCompleted {
		if err := r.artifacts(jobCtx); err != nil && jobCtx.Err() == nil {
			r.log.Error("cannot write the artifacts of an analysis job; the first client that wants them tries again",
				"err", err)
		}
	}
	switch {
	case jobCtx.Err() != nil || errors.Is(err, errTurnOver):
		return store.BatchQueued, func(ctx context.Context) error {
			return r.Records.RequeueBatchJob(ctx, r.job.ID, false)
		}
	case err != nil && !errors.Is(err, store.ErrNotFound):
		r.log.Error("an analysis job failed", "err", err)
		r.tally.failure = failureOf(err)
	default:
		r.log.Info("an analysis job has ended", "state", string(r.tally.state()), "predictions",
			r.tally.predictions, "errors", r.tally.errors, "took", time.Since(begun).Round(time.Millisecond))
	}
	return r.tally.state(), func(ctx context.Context) error { return r.end(ctx, r.job, r.tally) }
}

// artifacts writes the zip archive of the job, unless an earlier run has, and deletes the
// pictures of faces, which are in it.
func (r *jobRun) artifacts(ctx context.Context) error {
	if _, err := os.Stat(r.folder.artifacts()); errors.Is(err, fs.ErrNotExist) {
		if err := r.writeArtifacts(ctx, r.job.ID, r.gate); err != nil {
			return err
		}
	}
	return os.RemoveAll(r.folder.allFaces())
}

func (s *Service) setRunning(now *running) {
	s.mu.Lock()
	s.running = now
	s.mu.Unlock()
}

// failureOf returns the reason of a failed job for its client.
func failureOf(err error) string {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, store.ErrFull) {
		return diskFull
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
	analyser  Analyser
	gate      *engine.Gate
	job       store.BatchJob
	folder    folder
	log       *slog.Logger
	request   contract.PostedBatchJob
	spaceLeft int64 // bytes that the account may still store
	bytes     int64 // of the files of the job
	texts     int   // texts so far
	tally     tally
}

// sources analyses the sources of the job that have no result yet. The error is the box's.
func (r *jobRun) sources(ctx context.Context) error {
	begun := time.Now()
	if err := json.Unmarshal([]byte(r.job.Request), &r.request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	all, err := r.Records.BatchSources(ctx, r.job.ID)
	if err != nil {
		return err
	}
	if r.spaceLeft, err = r.Service.spaceLeft(ctx, r.job.AccountID); err != nil {
		return err
	}
	if err := r.folder.makeResults(); err != nil {
		return err
	}
	if r.bytes, err = r.folder.size(); err != nil {
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
		if n == len(all)-1 {
			return nil
		}
		if err := r.takeTurns(ctx, begun); err != nil {
			return err
		}
	}
	return nil
}

// errTurnOver stops the run of a job because others wait.
var errTurnOver = errors.New("jobs of other accounts wait")

// takeTurns returns errTurnOver if the run that has begun then should end.
func (r *jobRun) takeTurns(ctx context.Context, begun time.Time) error {
	if time.Since(begun) < r.turn {
		return nil
	}
	wait, err := r.Records.OthersWait(ctx, r.job.AccountID)
	if err == nil && wait {
		err = errTurnOver
	}
	return err
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
		err = r.file(ctx, out, from.Name, r.folder.source(n))
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return err
	}
	r.tally.predictions += out.predictions
	r.tally.errors += len(out.errors)
	return r.Records.BatchSourceDone(ctx, r.job.ID, n, out.predictions, len(out.errors), r.bytes)
}
