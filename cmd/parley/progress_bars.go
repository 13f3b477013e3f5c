package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"parley/internal/progress"
)

// withBars runs work and shows its progress: bars on a terminal, else a few plain lines.
func withBars(ctx context.Context, w io.Writer, work func(progress.Func) error) error {
	if !onTerminal(w) {
		l := &lines{w: w, now: time.Now, reported: map[string]*reported{}}
		return work(l.show)
	}
	b := &bars{all: mpb.NewWithContext(ctx, mpb.WithOutput(w), mpb.WithAutoRefresh()), bars: map[string]*bar{}}
	err := work(b.show)
	b.close()
	return err
}

// bars shows a progress bar for each thing that is worked on.
type bars struct {
	all  *mpb.Progress
	bars map[string]*bar
}

type bar struct {
	*mpb.Bar
	doing      atomic.Pointer[string] // the step and its throughput
	throughput throughput
}

func (b *bars) show(e progress.Event) {
	if e.Step == progress.Skipped {
		fmt.Fprintf(b.all, "%s: %s\n", e.Name, e.Note)
		return
	}
	one := b.bars[e.Name]
	if one == nil {
		one = b.add(e)
	}
	doing := one.throughput.describe(e, time.Now())
	one.doing.Store(&doing)
	if e.Step == progress.Done {
		one.SetTotal(-1, true)
		return
	}
	// One byte less, since a full bar counts as done: the steps after the last byte, such
	// as checking, take seconds.
	one.SetCurrent(min(e.Done, max(e.Total, 1)-1))
}

func (b *bars) add(e progress.Event) *bar {
	one := &bar{}
	doing := string(e.Step)
	one.doing.Store(&doing)
	one.Bar = b.all.AddBar(max(e.Total, 1),
		mpb.PrependDecorators(decor.Name(e.Name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(
			decor.Percentage(decor.WC{W: 5}),
			decor.CountersKiloByte("  % .1f of % .1f", decor.WCSyncSpace),
			decor.Any(func(decor.Statistics) string { return "  " + *one.doing.Load() }, decor.WCSyncSpaceR),
		))
	b.bars[e.Name] = one
	return one
}

// close leaves the bars of unfinished work as they are.
func (b *bars) close() {
	for _, one := range b.bars {
		if !one.Completed() {
			one.Abort(false)
		}
	}
	b.all.Wait()
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// throughput measures the speed of a step.
type throughput struct {
	step  progress.Step
	begun time.Time
	from  int64 // bytes done when the step began
}

// describe returns the step, and its throughput once that is known.
func (p *throughput) describe(e progress.Event, now time.Time) string {
	if e.Step != p.step {
		*p = throughput{step: e.Step, begun: now, from: e.Done}
	}
	words := string(e.Step)
	took, done := now.Sub(p.begun), e.Done-p.from
	if e.Step == progress.Done || done <= 0 || took < time.Second {
		return words
	}
	return fmt.Sprintf("%s, %.1f MB/s", words, megabytes(done)/took.Seconds())
}

// lines prints a line when work on a thing begins, every reportInterval, and when it is
// done.
type lines struct {
	w        io.Writer
	now      func() time.Time
	reported map[string]*reported
}

type reported struct {
	begun, last time.Time
	throughput  throughput
}

// reportInterval is how often a log gets a line about one thing.
const reportInterval = 10 * time.Second

func (l *lines) show(e progress.Event) {
	now := l.now()
	t := l.reported[e.Name]
	if t == nil {
		t = &reported{begun: now, last: now}
		l.reported[e.Name] = t
		if e.Step != progress.Done && e.Step != progress.Skipped {
			fmt.Fprintf(l.w, "%s: %s, %.1f MB\n", e.Name, e.Step, megabytes(e.Total))
		}
	}
	words := t.throughput.describe(e, now)
	switch {
	case e.Step == progress.Skipped:
		fmt.Fprintf(l.w, "%s: %s\n", e.Name, e.Note)
	case e.Step == progress.Done:
		fmt.Fprintf(l.w, "%s: done, %.1f MB in %.1f s\n", e.Name, megabytes(e.Total), now.Sub(t.begun).Seconds())
	case now.Sub(t.last) >= reportInterval:
		t.last = now
		fmt.Fprintf(l.w, "%s: %.1f of %.1f MB, %s\n", e.Name, megabytes(e.Done), megabytes(e.Total), words)
	}
}
