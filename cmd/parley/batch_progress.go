package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"parley/appliance/contract"
)

// jobProgress shows on a terminal how long a job has taken, and what the box does with
// it.
type jobProgress struct {
	all   *mpb.Progress // nil: not on a terminal
	bar   *mpb.Bar
	words atomic.Pointer[string]
}

func newJobProgress(c *console) *jobProgress {
	p := &jobProgress{}
	waiting := "waiting"
	p.words.Store(&waiting)
	if !onTerminal(c.err) {
		return p
	}
	p.all = mpb.New(mpb.WithOutput(c.err), mpb.WithAutoRefresh())
	begun := time.Now()
	p.bar = p.all.AddBar(0, mpb.AppendDecorators(
		decor.Any(func(decor.Statistics) string {
			return fmt.Sprintf(" %s, %v", *p.words.Load(), time.Since(begun).Round(time.Second))
		})))
	return p
}

// advance shows the state of the job.
func (p *jobProgress) advance(j contract.BatchJob) {
	words := strings.ToLower(strings.ReplaceAll(string(j.State.Status), "_", " "))
	if all, done := j.State.NumSources, j.State.NumSourcesDone; p.all != nil && all != nil && done != nil {
		words += fmt.Sprintf(", %d of %d", *done, *all)
		p.bar.SetTotal(*all, false)
		p.bar.SetCurrent(*done)
	}
	p.words.Store(&words)
}

// done removes the bar.
func (p *jobProgress) done() {
	if p.all != nil {
		p.bar.Abort(true)
		p.all.Wait()
	}
}
