package store

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"
)

const (
	// maxQueue bounds the queued writes; further callers block, so that a slow disk slows
	// its callers down and does not fill the memory.
	maxQueue = 1024

	// maxGroup bounds the writes that share one commit. At that size a write's share of
	// the commit is negligible, and more would only delay the first.
	maxGroup = 256

	// checkpointWrites is after how many writes SQLite's log is moved into the database
	// file: an event of a chat changes three to six pages of 4 KiB, so the log is about
	// as long as at SQLite's own limit (1000 pages).
	checkpointWrites = 256
)

// writer owns the connection that writes. Its goroutine puts all writes that arrived
// during a commit into the next transaction (group commit): they wait for the disk once,
// together.
type writer struct {
	queue   chan *write
	between chan func()   // run on the connection between two transactions
	due     chan struct{} // receives a value when a checkpoint is due
	stop    chan struct{} // closed: accept no more, finish the queue
	stopped chan struct{} // closed: the goroutine has ended

	conn       *sql.Conn
	checkMoved func() error // reports whether the database file is still at its path

	crowded bool // the last transaction had several writes
	pending int  // writes since the last checkpoint was due

	commits, writes atomic.Uint64 // since the start
	failing         atomic.Bool   // the last write failed because of the disk
}

// Written returns the numbers of writes and of transactions since the start. Their ratio
// shows how well writes share commits.
func (s *Store) Written() (writes, commits uint64) {
	return s.w.writes.Load(), s.w.commits.Load()
}

// write is one caller's part of a transaction. do may run twice, so it must only use the
// database and set its own results.
type write struct {
	do      func(context.Context, conn) error
	claimed atomic.Bool // by the writer, which then answers, or by a caller that gives up
	answer  chan error
	err     error
}

func newWriter(ctx context.Context, db *sql.DB, path string) (*writer, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	there, err := moveCheck(path)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	w := &writer{
		queue:      make(chan *write, maxQueue),
		between:    make(chan func()),
		due:        make(chan struct{}, 1),
		stop:       make(chan struct{}),
		stopped:    make(chan struct{}),
		conn:       c,
		checkMoved: there,
	}
	go w.run()
	return w, nil
}

// commit runs do in a transaction and returns when it is on the disk. If ctx ends first
// the write is withdrawn, unless it has begun: the returned error always matches what is
// stored.
func (w *writer) commit(ctx context.Context, do func(context.Context, conn) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	job := &write{do: do, answer: make(chan error, 1)}
	select {
	case w.queue <- job:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.stop:
		return ErrClosed
	}
	select {
	case err := <-job.answer:
		return err
	case <-ctx.Done():
		if job.claim() {
			return context.Cause(ctx)
		}
	case <-w.stopped:
		if job.claim() { // it was queued after the goroutine's last look
			return ErrClosed
		}
	}
	return <-job.answer
}

func (w *write) claim() bool { return w.claimed.CompareAndSwap(false, true) }

// alone runs do on the connection between two transactions.
func (w *writer) alone(ctx context.Context, do func(conn) error) error {
	answer := make(chan error, 1)
	select {
	case w.between <- func() { answer <- do(w.conn) }:
		return <-answer
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.stopped:
		return ErrClosed
	}
}

// close finishes the queue and closes the connection.
func (w *writer) close() error {
	close(w.stop)
	<-w.stopped
	return w.conn.Close()
}

func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case job := <-w.queue:
			w.group(job)
		case do := <-w.between:
			do()
		case <-w.stop:
			for len(w.queue) > 0 {
				w.group(<-w.queue)
			}
			return
		}
	}
}

// group commits first and the writes queued behind it in one transaction, and answers
// each.
func (w *writer) group(first *write) {
	jobs := w.gather(first)
	if len(jobs) == 0 {
		return
	}
	err := w.transact(jobs)
	switch {
	case err == nil:
	case len(jobs) == 1 || errors.Is(explain("", err), ErrBusy):
		for _, job := range jobs {
			job.err = err
		}
	default:
		// Which of them failed is unknown, so each runs in a separate transaction.
		for _, job := range jobs {
			if err := w.transact([]*write{job}); err != nil {
				job.err = err
			}
		}
	}
	for _, job := range jobs {
		if isDiskFault(job.err) {
			w.failing.Store(true)
		}
		job.answer <- job.err
	}
	w.crowded = len(jobs) > 1
}

// gather claims the writes of the next transaction: those in the queue that their callers
// have not withdrawn.
func (w *writer) gather(first *write) []*write {
	if w.crowded {
		// The callers just answered may be about to write again. Without this, every
		// second transaction would hold only the quickest one's write.
		runtime.Gosched()
	}
	var jobs []*write
	if first.claim() {
		jobs = append(jobs, first)
	}
	for len(w.queue) > 0 && len(jobs) < maxGroup {
		if job := <-w.queue; job.claim() {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// transact runs jobs in one transaction. Each job has its own error; the returned error
// means that none of them is stored. Callers' contexts are not used: one that ends would
// interrupt SQLite, which then rolls back all jobs.
func (w *writer) transact(jobs []*write) (err error) {
	if err := w.checkMoved(); err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil && !w.rolledBack() {
			_, undo := w.conn.ExecContext(ctx, "ROLLBACK")
			err = errors.Join(err, undo)
		}
	}()
	stored := 0
	for _, job := range jobs {
		if job.err, err = w.apply(ctx, job); err != nil {
			return err
		}
		if job.err == nil {
			stored++
		}
	}
	if _, err := w.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	if stored > 0 {
		w.failing.Store(false)
		w.commits.Add(1)
		w.writes.Add(uint64(stored))
		w.count(stored)
	}
	return nil
}

// count signals when a checkpoint is due.
func (w *writer) count(stored int) {
	if w.pending += stored; w.pending < checkpointWrites {
		return
	}
	w.pending = 0
	select {
	case w.due <- struct{}{}:
	default: // one is due already
	}
}

// apply runs a job behind a savepoint, so that its failure undoes nothing else. failed is
// the job's own error; err means that the transaction is lost.
func (w *writer) apply(ctx context.Context, job *write) (failed, err error) {
	if _, err := w.conn.ExecContext(ctx, "SAVEPOINT job"); err != nil {
		return nil, err
	}
	end := "RELEASE job"
	if failed = job.do(ctx, w.conn); failed != nil {
		if w.rolledBack() { // SQLite does so by itself when the disk is full
			return failed, failed
		}
		end = "ROLLBACK TO job; RELEASE job"
	}
	_, err = w.conn.ExecContext(ctx, end)
	return failed, err
}

// rolledBack reports whether SQLite has ended the transaction by itself.
func (w *writer) rolledBack() bool {
	var over bool
	err := w.conn.Raw(func(c any) error {
		over = c.(*sqlite3.SQLiteConn).AutoCommit()
		return nil
	})
	return err == nil && over
}
