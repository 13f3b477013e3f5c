// Package batch analyses files, URLs and texts in jobs: it queues the jobs of all
// accounts, runs one after another, and stores their results until they are too old.
package batch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/batch/source"
	"parley/appliance/engine"
	"parley/internal/durable"
	"parley/store"
)

// Analyser measures one medium. It passes engine.Gate with the urgency engine.Batch, piece
// by piece, and returns soon after its context has ended.
type Analyser interface {
	Analyse(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error)
}

// Settings limit the jobs.
type Settings struct {
	KeepSources    bool  // files and downloads stay after their job, as long as its results
	MaxQueued      int   // jobs of one account that wait or run
	MaxUpload      int64 // bytes of the files of one job; 0: no limit
	DiskPerAccount int64 // bytes that an account may store in all; 0: no limit
}

// Parts are what a Service needs.
type Parts struct {
	Data     string // the data folder
	Records  *store.Store
	Settings Settings
	Fetcher  source.Fetcher
	Log      *slog.Logger
	// Ended is called after each run of a job with the state that it has then, and how
	// long the run took; it may be nil.
	Ended func(state store.BatchState, took time.Duration)
}

// Service has the jobs of all accounts. One goroutine runs one job at a time: the
// analysis of one job already uses the cores that conversations leave, and two jobs at
// once would only need more memory.
type Service struct {
	Parts
	wake chan struct{} // holds a value while there may be a job to run
	turn time.Duration // turnTime
	// recovered says that no job is left running by a crash. Open and then Run use it.
	recovered bool

	mu        sync.Mutex
	uploading map[string]int64 // bytes of the uploads that are no jobs yet, by account
	running   *running         // nil between two jobs
}

// Open returns the service. Jobs that ran when the box stopped without notice wait again,
// or have failed if that has happened twice. If the disk is full, that waits until Run.
// Nothing runs before Run.
func Open(ctx context.Context, p Parts) *Service {
	s := &Service{
		Parts:     p,
		wake:      make(chan struct{}, 1),
		turn:      turnTime,
		uploading: map[string]int64{},
	}
	if s.Ended == nil {
		s.Ended = func(store.BatchState, time.Duration) {}
	}
	if err := s.dropUploads(); err != nil {
		s.Log.Warn("cannot delete the uploads that a crash interrupted", "err", err)
	}
	s.recovered = s.recover(ctx)
	return s
}

// uploadPrefix begins the names of the folders of uploads. The dot keeps them out of
// backups.
const uploadPrefix = ".upload-"

// dropUploads deletes the uploads that a crash interrupted.
func (s *Service) dropUploads() error {
	if _, err := os.Stat(s.root()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	stage, err := durable.NewStage(s.root(), uploadPrefix) // removes those of dead processes
	if err != nil {
		return err
	}
	return stage.Remove()
}

// turnTime is how long a job runs while jobs of other accounts wait. At the end of the
// source after that, it goes back into the queue and continues at its next turn: a job of
// a thousand recordings takes days, and others have a picture.
const turnTime = 5 * time.Minute

// maxAttempts is how often a job may be running when the box stops without notice. A file
// that crashes the box would otherwise do so for ever.
const maxAttempts = 2

// recover puts the jobs that a crash left running back into the queue, or fails them. It
// reports whether it has.
func (s *Service) recover(ctx context.Context) bool {
	running, err := s.Records.RunningBatchJobs(ctx)
	for _, j := range running {
		if err == nil {
			err = s.recoverJob(ctx, j)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Error("cannot recover the analysis jobs that ran when the box stopped; trying again", "err", err)
	}
	return err == nil
}

func (s *Service) recoverJob(ctx context.Context, j store.BatchJob) error {
	if j.Attempts < maxAttempts {
		s.Log.Warn("an analysis job was running when the box stopped; it starts again", "job", j.ID)
		return s.Records.RequeueBatchJob(ctx, j.ID, true)
	}
	s.Log.Error("an analysis job failed: the box stopped twice while it ran", "job", j.ID)
	return s.end(ctx, j, tally{failure: "the box stopped twice while the job ran"})
}

// Run runs the jobs until ctx ends. A job that runs then is stopped, and waits again. Long
// work besides the analysis passes the gate too, piece by piece.
func (s *Service) Run(ctx context.Context, a Analyser, gate *engine.Gate) {
	s.notify()
	for ; !s.recovered && ctx.Err() == nil; s.recovered = s.recover(ctx) {
		pause(ctx)
	}
	for ctx.Err() == nil {
		j, err := s.Records.StartBatchJob(ctx, time.Now().UnixMilli())
		switch {
		case err == nil:
			s.runJob(ctx, j, a, gate)
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

// notify wakes the runner and never blocks.
func (s *Service) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// running is the job that runs now.
type running struct {
	jobID string
	stop  context.CancelFunc
	over  chan struct{} // closed when it has ended
}

// Delete deletes a job of an account with its files. It stops the job first if that runs.
// The error is store.ErrNotFound if the account has no such job.
func (s *Service) Delete(ctx context.Context, account, jobID string) error {
	if err := s.Records.DeleteBatchJob(ctx, account, jobID); err != nil {
		return err
	}
	s.mu.Lock()
	now := s.running
	s.mu.Unlock()
	if now != nil && now.jobID == jobID {
		now.stop()
		<-now.over // its last piece of work is short
	}
	return os.RemoveAll(string(s.folder(jobID)))
}
