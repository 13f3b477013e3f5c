package registry

import (
	"context"
	"sync"
	"time"
)

const (
	// failuresInARow is how many failures it takes until a plugin is left alone.
	failuresInARow = 3
	// firstPause is for how long then; after each try that fails again it is as
	// long as all pauses so far together, up to longestPause. A service that
	// was restarted is back in the first, and one that is down for the night is
	// newRequests for six times an hour.
	firstPause   = 30 * time.Second
	longestPause = 10 * time.Minute
)

// breaker counts the failures of a plugin. That it is open stands in the store,
// where every process sees it.
type breaker struct {
	mu     sync.Mutex
	failed int
	trying bool // a call is on its way that decides whether it is mended
}

// enter says whether the plugin may be called at a time; trial that this call
// decides whether it works again.
func (b *breaker) enter(p *plugin, at time.Time) (trial bool, err error) {
	if p.BrokenMS == 0 {
		return false, nil
	}
	retry := time.UnixMilli(p.RetryMS)
	b.mu.Lock()
	defer b.mu.Unlock()
	// A clock that was set back keeps nothing closed for longer than a pause.
	waits := at.Before(retry) && retry.Sub(at) <= longestPause
	if waits || b.trying {
		return false, ErrBroken{p.Name, retry, p.BrokenError}
	}
	b.trying = true
	return true, nil
}

// count counts how a call ended, and tells whether the plugin is to be left alone.
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

// pause is for how long a plugin is left alone that fails at a time, having been
// so since brokenMS (0: it was not).
func pause(brokenMS int64, at time.Time) time.Duration {
	if brokenMS == 0 {
		return firstPause
	}
	return min(max(at.Sub(time.UnixMilli(brokenMS)), firstPause), longestPause)
}

// countOutcome counts what came of a call. blamed says that it failed by the plugin's
// fault, answered that it did not fail; otherwise it says nothing of the plugin.
func (s *Registry) countOutcome(ctx context.Context, p *plugin, trial, answered, blamed bool, why string) {
	var err error
	switch open := p.breaker.count(trial, answered, blamed); {
	case answered && trial:
		err = s.Records.MarkPluginWorking(ctx, p.Name, p.Digest)
		s.Log.Info("a plugin works again", "plugin", p.Name)
	case open:
		rest := pause(p.BrokenMS, time.Now())
		err = s.Records.MarkPluginBroken(ctx, p.Name, p.Digest, time.Now().Add(rest).UnixMilli(), why)
		s.Log.Warn("a plugin has failed in a row and is left alone", "plugin", p.Name, "for", rest, "last", why)
	}
	if trial || blamed && p.BrokenMS == 0 {
		// The next look at the store has it as it is now; until then nobody else
		// tries.
		if _, e := s.current(ctx); err == nil {
			err = e
		}
	}
	if trial {
		p.breaker.trialEnded()
	}
	if err != nil {
		s.Log.Error("cannot note how a plugin does", "plugin", p.Name, "err", err)
	}
}
