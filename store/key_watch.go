package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// checkInterval is when the keys in use are checked without a notification: the clock
	// may have been set past the expiry of one, and the signal file may have been
	// deleted.
	checkInterval = time.Minute
	// checkUnwatched is the interval if the kernel cannot watch the signal file, and
	// checkRetry the delay after a failed read of the database.
	checkUnwatched = time.Second
	checkRetry     = time.Second
)

// keyWatch reports to connections that the key behind them is no longer valid. There is
// one for the box. It sleeps until this or another process revokes a key, or the next key
// in use expires, and then runs one query a key, however many connections the key has.
type keyWatch struct {
	store     *Store
	wake      <-chan struct{}
	unwatched bool // other processes cannot notify the box
	log       *slog.Logger

	mu    sync.Mutex
	keys  map[string]*watchedKey // in use, by the hash of the API key
	added chan struct{}          // holds one value when an unchecked key was added

	changed chan struct{} // holds one value when a key was created, renewed or revoked

	stop    context.CancelFunc
	stopped chan struct{}
}

// watchedKey is a key that connections are open with.
type watchedKey struct {
	grant   Grant
	holders int
	lost    context.Context
	lose    context.CancelCauseFunc
}

func startKeyWatch(s *Store, log *slog.Logger) *keyWatch {
	ctx, stop := context.WithCancel(context.Background())
	w := &keyWatch{
		store:     s,
		wake:      s.keyNotifier.wake,
		unwatched: s.keyNotifier.watch == nil,
		log:       log,
		keys:      map[string]*watchedKey{},
		added:     make(chan struct{}, 1),
		changed:   make(chan struct{}, 1),
		stop:      stop,
		stopped:   make(chan struct{}),
	}
	go func() {
		defer close(w.stopped)
		w.run(ctx)
	}()
	return w
}

func (w *keyWatch) close() {
	w.stop()
	<-w.stopped
}

// KeysChanged returns a channel that receives a value when this or another process has created, renewed or revoked a
// key. Only one goroutine may receive from it. In a store opened with Join it receives nothing.
func (s *Store) KeysChanged() <-chan struct{} {
	if s.keyWatch == nil {
		return nil
	}
	return s.keyWatch.changed
}

// WatchKey watches the key behind a grant. The context ends with the cause ErrNotFound as
// soon as the key is revoked, regenerated or expired. release, called once, ends the
// watch. In a store opened with Join the context never ends.
func (s *Store) WatchKey(g Grant) (lost context.Context, release func()) {
	if s.keyWatch == nil {
		return context.Background(), func() {}
	}
	return s.keyWatch.add(g)
}

func (w *keyWatch) add(g Grant) (lost context.Context, release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.keys[string(g.apiHash)]
	if k == nil {
		k = &watchedKey{grant: g}
		k.lost, k.lose = context.WithCancelCause(context.Background())
		w.keys[string(g.apiHash)] = k
		// The key may have been revoked since the grant was made, or expire soon.
		select {
		case w.added <- struct{}{}:
		default:
		}
	}
	k.holders++
	return k.lost, func() { w.release(k) }
}

func (w *keyWatch) release(k *watchedKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k.holders--; k.holders == 0 {
		w.forget(k)
		k.lose(nil)
	}
}

// forget removes a key, unless another one with the same hash took its place.
func (w *keyWatch) forget(k *watchedKey) {
	if hash := string(k.grant.apiHash); w.keys[hash] == k {
		delete(w.keys, hash)
	}
}

func (w *keyWatch) run(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	next.Stop()
	for {
		select {
		case <-w.wake:
			select {
			case w.changed <- struct{}{}:
			default:
			}
		case <-w.added:
		case <-next.C:
		case <-ctx.Done():
			return
		}
		if wait, ok := w.check(ctx); ok {
			next.Reset(wait)
		} else {
			next.Stop()
		}
	}
}

// check asks the database for each key in use, and ends the contexts of those that are
// invalid. It returns the time until the next check; ok is false if only a notification
// calls for one.
func (w *keyWatch) check(ctx context.Context) (again time.Duration, ok bool) {
	w.mu.Lock()
	all := make([]*watchedKey, 0, len(w.keys))
	for _, k := range w.keys {
		all = append(all, k)
	}
	w.mu.Unlock()
	again = checkInterval
	if w.unwatched {
		again = checkUnwatched
	}
	left := 0
	for _, k := range all {
		endsMS, err := w.store.keyEnd(ctx, k.grant)
		switch {
		case errors.Is(err, ErrNotFound):
			w.mu.Lock()
			w.forget(k)
			w.mu.Unlock()
			k.lose(err)
			continue
		case err != nil && ctx.Err() == nil:
			w.log.Warn("cannot tell whether a key that is in use still holds; trying again", "err", err)
			again = min(again, checkRetry)
		case endsMS != 0:
			again = min(again, max(0, time.Until(time.UnixMilli(endsMS))))
		}
		left++
	}
	return again, left > 0
}

// keyEnd returns when the key or the session behind a grant ends, in Unix milliseconds;
// 0: never. The error is ErrNotFound if it is no longer valid.
func (s *Store) keyEnd(ctx context.Context, g Grant) (int64, error) {
	if g.Session != "" {
		ends, err := value[int64](ctx, s.keys, `SELECT`+endsMS+`FROM session WHERE hash = ? AND`+validSession,
			g.apiHash, time.Now().UnixMilli())
		return ends, explain("looking up a session in use", err)
	}
	ends, err := value[int64](ctx, s.keys, `
		SELECT coalesce(expires_ms, 0) FROM key WHERE api_hash = ? AND`+validKey, g.apiHash, time.Now().UnixMilli())
	return ends, explain("looking up a key in use", err)
}
