package appliance

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/api"
	"parley/appliance/batch"
	"parley/appliance/batch/source"
	"parley/appliance/config"
	"parley/appliance/media"
	"parley/appliance/stream"
	"parley/internal/addresses"
	"parley/internal/disk"
	"parley/internal/version"
	"parley/store"
)

// openBatch opens the analysis jobs. From then on clients may queue some; the first one
// runs when the models are loaded.
func (a *appliance) openBatch(ctx context.Context) (err error) {
	settings := batch.Settings{
		KeepSources:    a.cfg.Batch.KeepSources,
		MaxQueued:      a.cfg.Batch.MaxQueued,
		MaxUpload:      a.cfg.Batch.MaxUpload.Bytes,
		DiskPerAccount: a.limits.DiskPerAccount,
	}
	if a.cfg.Batch.MaxUpload.Percent > 0 {
		size, err := disk.Size(a.cfg.Data)
		if err != nil {
			return fmt.Errorf("batch.max_upload is a part of the disk: %w", err)
		}
		settings.MaxUpload = a.cfg.Batch.MaxUpload.Of(size)
	}
	fetcher := source.Fetcher{Agent: "Parley/" + version.String()}
	if a.cfg.Batch.PrivateURLs {
		if fetcher.Allowed, err = addresses.ParseAllowed([]string{"0.0.0.0/0", "::/0"}); err != nil {
			return err
		}
	}
	a.batch = batch.Open(ctx, batch.Parts{
		Data:     a.cfg.Data,
		Records:  a.records,
		Settings: settings,
		Fetcher:  fetcher,
		Log:      a.log,
		Ended:    func(state store.BatchState, took time.Duration) { a.figures.BatchRun(string(state), took) },
	})
	a.figures.WatchBatch(func() (queued, running int) {
		queued, running, err := a.records.BatchLoad(context.Background())
		if err != nil {
			a.log.Warn("cannot count the analysis jobs", "err", err)
		}
		return queued, running
	})
	return nil
}

// startBatch runs the analysis jobs from now on, and lets media in that clients stream.
func (a *appliance) startBatch(ctx context.Context) {
	analyser := &analysis.Analyser{
		Meter:       a.meter,
		Gate:        a.engines.Gate,
		Media:       &media.Reader{},
		Faces:       a.engines.Faces,
		Detector:    a.engines.Detector,
		Transcriber: a.engines.Recordings,
	}
	streamed := *analyser
	streamed.Media = &media.Reader{Urgent: true} // the client of a stream waits
	live := *analyser
	live.Transcriber = a.engines.Transcriber
	a.startOpenAI(&live, analyser)
	a.stream.service.Store(stream.New(&streamed, streamed.Media, a.log))
	a.onClose(inBackground(ctx, func(ctx context.Context) { a.batch.Run(ctx, analyser, a.engines.Gate) }))
}

// sweepBatch deletes the jobs that ended too many days ago.
func sweepBatch(ctx context.Context, b config.Batch, records *store.Store, now time.Time) (deleted int, err error) {
	if b.ResultsDays == 0 {
		return 0, nil
	}
	return records.ExpireBatchJobs(ctx, now.AddDate(0, 0, -b.ResultsDays).UnixMilli())
}

// batchAPI has the analysis jobs as the API calls them.
type batchAPI struct{ *batch.Service }

// NewUpload begins a job of an account.
func (b batchAPI) NewUpload(account string) api.BatchUpload { return b.Service.NewUpload(account) }

// Predictions opens the results of a job.
func (b batchAPI) Predictions(ctx context.Context, account, jobID string) (api.BatchResults, error) {
	return b.Service.Predictions(ctx, account, jobID)
}

// batchBody returns the largest body of a request for a job: its files, and the JSON and
// the headers of the form around them. 0 means no limit.
func (a *appliance) batchBody() int64 {
	const around = 8 << 20
	if most := a.batch.Settings.MaxUpload; most > 0 {
		return most + around
	}
	return 0
}
