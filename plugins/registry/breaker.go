package registry

import (
	"context"
	"sync"
	"time"
)

const (
	// failuresInARow is the number of consecutive failures after which a plugin is paused.
	failuresInARow = 3
	// firstPause is the length of the first pause. Each trial that fails again starts a
	// pause as long as all pauses so far together, up to longestPause. A service that was
	// restarted is back within the first pause, and one that is down for the night is tried
	// six times an hour.
	firstPause   = 30 * time.Second
	longestPause = 10 * time.Minute
)

// breaker counts the failures of a plugin. Whether it is open is stored in the database,
// where every process sees it.
type breaker struct {
	mu     sync.Mutex
	failed int
	trying bool // a call is running that decides whether the plugin works again
}

// enter reports whether the plugin may be called at a time. trial means that this call
// decides whether it works again.
func (b *breaker) enter(p *plugin, at time.Time) (trial bool, err error) {
	if p.BrokenMS == 0 {
		return false, nil
	}
	retry := time.UnixMilli(p.RetryMS)
	b.mu.Lock()
	defer b.mu.Unlock()
	// If the clock was set back, a plugin is paused for no longer than one pause.
	waits := at.Before(retry) && retry.Sub(at) <= longestPause
	if waits || b.trying {
		return false, ErrBroken{p.Name, retry, p.BrokenError}
	}
	b.trying = true
	return true, nil
}

// count counts the outcome of a call, and reports whether the plugin is to be paused.
func (b *breaker) count(trial, answered, blamed bool) (open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case answered:
		b.failed = 0
	case blamed:
		b.failed++
	}
	return blamed && (trial || b.failed >= failuresInARow)
}

func (b *breaker) trialEnded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying, b.failed = false, 0
}

// pause returns how long a plugin is paused that fails at a time and has been broken since
// brokenMS (0: it was not).
func pause(brokenMS int64, at time.Time) time.Duration {
	if brokenMS == 0 {
		return firstPause
	}
	return min(max(at.Sub(time.UnixMilli(brokenMS)), firstPause), longestPause)
}

// countOutcome records the outcome of a call: blamed means that it failed by the plugin's
// fault, answered that it succeeded. If neither is set, the outcome says nothing about the
// plugin.
func (s *Registry) countOutcome(ctx context.Context, p *plugin, trial, answered, blamed bool, why string) {
	var err error
	switch open := p.breaker.count(trial, answered, blamed); {
	case answered && trial:
		err = s.Records.MarkPluginWorking(ctx, p.Name, p.Digest)
		s.Log.Info("a plugin works again", "plugin", p.Name)
	case open:
		rest := pause(p.BrokenMS, time.Now())
		err = s.Records.MarkPluginBroken(ctx, p.Name, p.Digest, time.Now().Add(rest).UnixMilli(), why)
		s.Log.Warn("a plugin failed several times in a row and is paused", "plugin", p.Name, "for", rest, "last", why)
	}
	if trial || blamed && p.BrokenMS == 0 {
		// The next read of the store sees the new state; until then no other call is a
		// trial.
		if _, e := s.current(ctx); err == nil {
			err = e
		}
	}
	if trial {
		p.breaker.trialEnded()
	}
	if err != nil {
		s.Log.Error("cannot store the state of a plugin", "plugin", p.Name, "err", err)
	}
}
