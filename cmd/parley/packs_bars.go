package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"parley/internal/progress"
)

// withBars does work and shows how far its packs are: a bar each on a
// terminal, a few plain lines elsewhere.
func withBars(ctx context.Context, w io.Writer, work func(progress.Func) error) error {
	if !onTerminal(w) {
		l := &lines{w: w, told: map[string]*told{}}
		return work(l.progress)
	}
	b := &bars{all: mpb.NewWithContext(ctx, mpb.WithOutput(w), mpb.WithAutoRefresh()), bars: map[string]*mpb.Bar{}}
	err := work(b.progress)
	for _, bar := range b.bars {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	b.all.Wait()
	return err
}

// bars shows a bar for each pack and step.
type bars struct {
	all  *mpb.Progress
	bars map[string]*mpb.Bar
}

func (b *bars) progress(e progress.Event) {
	if e.Step == progress.Skipped {
		fmt.Fprintf(b.all, "%s: %s\n", e.Name, e.Note)
		return
	}
	bar := b.bars[e.Name]
	if bar == nil {
		bar = b.all.AddBar(max(e.Total, 1),
			mpb.PrependDecorators(decor.Name(e.Name, decor.WCSyncSpaceR)),
			mpb.AppendDecorators(
				decor.Percentage(decor.WC{W: 5}),
				decor.CountersKiloByte("  % .1f of % .1f", decor.WCSyncSpace),
				decor.OnComplete(decor.AverageSpeed(decor.SizeB1000(0), "  % .1f", decor.WCSyncSpace), "  done"),
			))
		b.bars[e.Name] = bar
	}
	switch e.Step {
	case progress.Done:
		bar.SetTotal(-1, true)
	case progress.Checking, progress.Installing:
		// The bar stays full while the files are hashed: a few seconds.
	default:
		// One byte short, since a full bar is done: checking comes after.
		bar.SetCurrent(min(e.Done, e.Total-1))
	}
}

// lines tells of each pack when it begins, every so often, and when it is
// done.
type lines struct {
	w    io.Writer
	told map[string]*told
}

type told struct {
	begun, last time.Time
}

// often is how often a log, which somebody may be watching, hears of a pack.
const often = 10 * time.Second

func (l *lines) progress(e progress.Event) {
	now := time.Now()
	t := l.told[e.Name]
	if t == nil {
		t = &told{begun: now, last: now}
		l.told[e.Name] = t
		if e.Step != progress.Done && e.Step != progress.Skipped {
			fmt.Fprintf(l.w, "%s: %s, %.1f MB\n", e.Name, e.Step, float64(e.Total)/1e6)
		}
	}
	switch {
	case e.Step == progress.Skipped:
		fmt.Fprintf(l.w, "%s: %s\n", e.Name, e.Note)
	case e.Step == progress.Done:
		fmt.Fprintf(l.w, "%s: done, %.1f MB in %.1f s\n", e.Name, float64(e.Total)/1e6, now.Sub(t.begun).Seconds())
	case now.Sub(t.last) >= often:
		t.last = now
		speed := float64(e.Done) / 1e6 / now.Sub(t.begun).Seconds()
		fmt.Fprintf(l.w, "%s: %s, %.1f of %.1f MB, %.1f MB/s\n", e.Name, e.Step, float64(e.Done)/1e6, float64(e.Total)/1e6, speed)
	}
}
