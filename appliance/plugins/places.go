package plugins

import "context"

// pluginPlaces is how many plugins may be at work for conversations at once; one
// that waits for a server counts. There are as many callers at most on a small box.
const pluginPlaces = 8

// places are as many as may be at something at once.
type places chan struct{}

// Do runs f in one of the places; where none is free before ctx ends, f is not run.
func (p places) Do(ctx context.Context, f func()) error {
	select {
	case p <- struct{}{}:
		defer func() { <-p }()
		f()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
