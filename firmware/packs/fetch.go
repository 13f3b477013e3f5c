package packs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"parley/internal/progress"
)

const (
	// maxTries bounds the tries for a package. Clients retry broken connections by
	// themselves; these tries are for failures that they take for final.
	maxTries = 3
	// stallTimeout is how long a client may write nothing before it is stopped: longer
	// than any client's timeout for a connection (npm's is five minutes, pip's 15 s).
	stallTimeout = 6 * time.Minute
	// pollInterval is how often the size of a download is checked.
	pollInterval = 300 * time.Millisecond
)

// fetch downloads a source and extracts its parts, and tries again if its client fails.
func (p *puller) fetch(ctx context.Context, d *download) error {
	for try := 1; ; try++ {
		again, err := p.tryFetch(ctx, d)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil || !again || try == maxTries {
			return err
		}
		select {
		case <-time.After(time.Duration(try*try) * time.Second): // 1 s, 4 s
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryFetch reports whether a retry may succeed: after a failure of the client, but not if
// the package is not the published one.
func (p *puller) tryFetch(ctx context.Context, d *download) (again bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s := d.source()
	folder := filepath.Join(p.temp, fmt.Sprintf("%s-%d", d.stage.pack.Name, d.index))
	defer os.RemoveAll(folder)
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return false, err
	}
	d.folder.Store(&folder)
	defer d.folder.Store(nil)
	defer d.unpacking.Store(false)
	growing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go cancelWhenStalled(growing, folder, stop)
	a, err := p.clients.fetch(growing, s, folder)
	if err != nil {
		if cause := context.Cause(growing); cause != nil {
			err = cause
		}
		noClient := (*ErrNoClient)(nil)
		return !errors.As(err, &noClient), fmt.Errorf("fetching %s: %w", s, err)
	}
	stop(nil)
	d.unpacking.Store(true)
	if err := extractParts(ctx, a, missingParts(s.Parts, d.valid), d.stage.files()); err != nil {
		return false, fmt.Errorf("unpacking %s: %w", s, err)
	}
	return false, os.WriteFile(d.stage.marker(d.index), nil, 0o644)
}

// cancelWhenStalled stops a client whose folder has not grown for stallTimeout.
func cancelWhenStalled(ctx context.Context, folder string, stop context.CancelCauseFunc) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	var size int64
	grown := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if _, all := largest(folder); all != size {
				size, grown = all, now
			} else if now.Sub(grown) > stallTimeout {
				stop(fmt.Errorf("no data arrived for %s: check the network, and run the command again", stallTimeout))
			}
		}
	}
}

// watch reports the progress of the downloads, until over is closed.
func (p *puller) watch(over <-chan struct{}) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		for _, j := range p.jobs {
			if e, active := p.stateOf(j); active {
				p.report(e)
			}
		}
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

// stateOf returns the progress of a job; active is false if no client works for it. The
// step is downloading as long as any of its clients downloads, else unpacking.
func (p *puller) stateOf(j *job) (e progress.Event, active bool) {
	e = progress.Event{
		Name:  j.stage.pack.Name,
		Step:  progress.Unpacking,
		Done:  j.done.Load(),
		Total: j.total,
	}
	for _, d := range p.downloads {
		folder := d.folder.Load()
		if d.job != j || folder == nil {
			continue
		}
		active = true
		if d.unpacking.Load() {
			e.Done += d.source().Bytes
			continue
		}
		size, _ := largest(*folder)
		e.Done += min(size, d.source().Bytes)
		e.Step = progress.Downloading
	}
	e.Done = min(e.Done, e.Total)
	return e, active
}
