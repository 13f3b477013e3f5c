package store

import (
	"context"
	"log/slog"
)

// background is the goroutine for work that no caller of a serving box should wait for:
// it checkpoints SQLite's log, finishes interrupted deletions, and measures recordings.
type background struct {
	wake    chan struct{} // there is work
	cancel  context.CancelFunc
	stopped chan struct{}
}

func startBackground(s *Store, log *slog.Logger) *background {
	ctx, cancel := context.WithCancel(context.Background())
	b := &background{wake: make(chan struct{}, 1), cancel: cancel, stopped: make(chan struct{})}
	b.nudge() // work that the last process left
	go func() {
		defer close(b.stopped)
		b.run(ctx, s, log)
	}()
	return b
}

// nudge wakes the goroutine and never blocks. A store opened with Join has no such
// goroutine; the box finds the work the next time that it looks.
func (b *background) nudge() {
	if b == nil {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default: // a wake-up is pending
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

// cleanUp measures the recordings of ended chats and finishes interrupted deletions.
func (s *Store) cleanUp(ctx context.Context) error {
	if err := s.measureSound(ctx); err != nil {
		return err
	}
	return s.emptyTrash(ctx)
}

const (
	// maxWriterPages is the most pages of the log that the writer itself may have to
	// move: 256 KiB, about what a few commits write.
	maxWriterPages = 64
	// maxPasses bounds the passes over the log on the checkpoint connection.
	maxPasses = 8
)

// checkpoint moves SQLite's log into the database file. A separate connection moves the
// bulk in parallel to the writer, pass by pass, until little is left, so that no write
// waits for it. The writer moves the rest between two transactions: the log restarts only
// when nothing of it is left to move.
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

// logSize is the length of SQLite's log at the end of a checkpoint, and how much of it
// has been moved into the database file, in pages.
type logSize struct{ pages, moved int }

// passive runs a checkpoint that waits for no reader or writer
// (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
func passive(ctx context.Context, q querier) (logSize, error) {
	return first(ctx, q, func(row scanner) (l logSize, err error) {
		var busy bool
		return l, row.Scan(&busy, &l.pages, &l.moved)
	}, `PRAGMA wal_checkpoint(PASSIVE)`)
}
