package store

import (
	"context"
	"log/slog"
)

// background is the goroutine that does what no caller of a serving box should
// wait for: it moves SQLite's log into the database file, finishes deletions that
// were interrupted, and measures recordings.
type background struct {
	wake    chan struct{} // something was left over
	cancel  context.CancelFunc
	stopped chan struct{}
}

func startBackground(s *Store, log *slog.Logger) *background {
	ctx, cancel := context.WithCancel(context.Background())
	b := &background{wake: make(chan struct{}, 1), cancel: cancel, stopped: make(chan struct{})}
	b.nudge() // for what the last process left over
	go func() {
		defer close(b.stopped)
		b.run(ctx, s, log)
	}()
	return b
}

// nudge tells the goroutine that something was left over. It never waits. A store
// that has only joined has no such goroutine; the box's finds it at its next look.
func (b *background) nudge() {
	if b == nil {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default: // it will look anyway
	}
}

func (b *background) close() {
	b.cancel()
	<-b.stopped
}

func (b *background) run(ctx context.Context, s *Store, log *slog.Logger) {
	for {
		var doing string
		var err error
		select {
		case <-s.w.due:
			doing, err = "moving the database's log", s.checkpoint(ctx)
		case <-b.wake:
			doing, err = "cleaning up", s.cleanUp(ctx)
		case <-ctx.Done():
			return
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("the store will try again later", "doing", doing, "err", err)
		}
	}
}

// cleanUp finishes deletions that were interrupted, and measures recordings that
// have come to their end.
func (s *Store) cleanUp(ctx context.Context) error {
	if err := s.measureSound(ctx); err != nil {
		return err
	}
	return s.emptyTrash(ctx)
}

const (
	// maxWriterPages is how much of the log the writer itself may have to move: 256 KiB,
	// about what a few commits write.
	maxWriterPages = 64
	// maxPasses bounds how often the log is gone through beside the writer until
	// so little is left.
	maxPasses = 8
)

// checkpoint moves SQLite's log into the database file. No write waits for the
// bulk of it, which a connection of its own moves beside the one that writes; and
// then what was written meanwhile, until that is little. The writer moves the rest
// between two transactions, because the log begins anew only when nothing of it is
// left to move.
func (s *Store) checkpoint(ctx context.Context) error {
	moved := 0
	for range maxPasses {
		l, err := passive(ctx, s.checkpoints)
		if err != nil {
			return err
		}
		if l.pages-moved <= maxWriterPages {
			break
		}
		moved = l.moved
	}
	return s.w.alone(ctx, func(c conn) error {
		_, err := passive(context.Background(), c)
		return err
	})
}

// logSize is how long SQLite's log was when a checkpoint ended, and how much of
// it is in the database file, in pages.
type logSize struct{ pages, moved int }

// passive moves what can be moved of the log without waiting for anybody
// (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
func passive(ctx context.Context, q querier) (logSize, error) {
	return first(ctx, q, func(row scanner) (l logSize, err error) {
		var busy bool
		return l, row.Scan(&busy, &l.pages, &l.moved)
	}, `PRAGMA wal_checkpoint(PASSIVE)`)
}
