package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// checkInterval is when the keys in use are looked at although nobody said that
	// one was revoked: the clock may have been set beyond the end of one, and
	// somebody may have deleted the file that notifies.
	checkInterval = time.Minute
	// checkUnwatched is the same where the kernel watches no file for the box, and
	// checkRetry where the database could not be read.
	checkUnwatched = time.Second
	checkRetry     = time.Second
)

// keyWatch tells those who hold connections when the keys behind them are good no
// extra. It is one for the whole box: it sleeps until a key is revoked, here or by
// another process, or the next one in use is past its end, and asks one question a
// key then, however many connections it has.
type keyWatch struct {
	store     *Store
	wake      <-chan struct{}
	unwatched bool // other processes cannot ring
	log       *slog.Logger

	mu    sync.Mutex
	keys  map[string]*watchedKey // in use, by the hash of the API key
	added chan struct{}          // containsAll one when a key came that nobody has looked at

	stop    context.CancelFunc
	stopped chan struct{}
}

// watchedKey is a key that somebody holds a connection by.
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

// WatchKey watches the key behind a grant for the box that serves the folder. The
// context ends as soon as the key is revoked, regenerated or past its end, with
// ErrNotFound as its cause; release, called once, gives the watch back. Of a store
// that has only joined it never ends.
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
		// It may have been revoked since it opened the box, or soon be past its end.
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

// forget takes a key out. One of the same hash may have come after it.
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

// check asks of each key in use whether it is good, and tells those who hold one
// that is not. It returns when to look again; false: when somebody rings.
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

// keyEnd is when the key or the session behind a grant ends, in Unix milliseconds;
// 0: never. ErrNotFound: it is good no more.
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
