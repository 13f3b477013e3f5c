package store

import (
	"context"
	"errors"
	"time"
)

// noticeBatch is the event of the callbacks of analysis jobs in the outbox.
const noticeBatch = "batch_job"

// BatchEnd is how an analysis job ended.
type BatchEnd struct {
	State       BatchState // BatchCompleted or BatchFailed
	AtMS        int64      // Unix milliseconds
	Predictions int
	Errors      int
	Message     string // why it failed
	FileBytes   int64  // what its folder takes now
	CallbackURL string // receiver of Callback; empty: none
	Callback    string // JSON, signed and sent as it is
}

// queuedBatchJobs are the oldest waiting jobs of the accounts, the account first whose
// newest start is the longest ago.
const queuedBatchJobs = `
	SELECT num FROM (SELECT account, min(num) AS num FROM batch_job INDEXED BY batch_job_queue
	                  WHERE state = 'QUEUED' GROUP BY account) AS oldest
	 ORDER BY coalesce((SELECT max(started_ms) FROM batch_job WHERE account = oldest.account), 0), num LIMIT 1`

// StartBatchJob starts the next job of the queue and returns it, or ErrNotFound if none
// waits. The account comes first whose newest start is the longest ago; of its jobs the
// oldest is the next.
func (s *Store) StartBatchJob(ctx context.Context, atMS int64) (j BatchJob, err error) {
	const doing = "starting an analysis job"
	if _, err := value[int64](ctx, s.read, queuedBatchJobs); err != nil {
		return j, explain(doing, err)
	}
	err = s.change(ctx, doing, func(ctx context.Context, c conn) error {
		id, err := value[string](ctx, c, `
			UPDATE batch_job SET state = 'IN_PROGRESS', started_ms = max(?, created_ms), attempts = attempts + 1
			 WHERE num = (`+queuedBatchJobs+`) RETURNING id`, atMS)
		if err != nil {
			return err
		}
		j, err = first(ctx, c, scanBatchJob,
			`SELECT `+batchColumns+` FROM batch_job j JOIN account a ON a.num = j.account WHERE j.id = ?`, id)
		return err
	})
	return j, err
}

// RunningBatchJobs returns the jobs that run, or ran when the box stopped.
func (s *Store) RunningBatchJobs(ctx context.Context) ([]BatchJob, error) {
	all, err := query(ctx, s.read, scanBatchJob, `
		SELECT `+batchColumns+` FROM batch_job j JOIN account a ON a.num = j.account
		 WHERE j.state = 'IN_PROGRESS' ORDER BY j.num`)
	return all, explain("finding the analysis jobs that run", err)
}

// RequeueBatchJob puts a running job back into the queue. If counted is false, its newest
// start does not count as an attempt. The results of its sources stay.
func (s *Store) RequeueBatchJob(ctx context.Context, jobID string, counted bool) error {
	return s.change(ctx, "putting an analysis job back into the queue", func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `
			UPDATE batch_job SET state = 'QUEUED', attempts = attempts - iif(?, 0, 1)
			 WHERE id = ? AND state = 'IN_PROGRESS'`, counted, jobID)
	})
}

// BatchSourceDone records that the result of a source of a running job is written, with
// its numbers of predictions and errors, and what the folder of the job takes now.
func (s *Store) BatchSourceDone(ctx context.Context, jobID string, n, predictions, failures int,
	fileBytes int64) error {
	return s.change(ctx, "recording a result of an analysis job", func(ctx context.Context, c conn) error {
		if err := changeOne(ctx, c, `
			UPDATE batch_source SET predictions = ?, errors = ?
			 WHERE job = (SELECT num FROM batch_job WHERE id = ?) AND n = ?`, predictions, failures, jobID,
			n); err != nil {
			return err
		}
		return execute(ctx, c, `UPDATE batch_job SET file_bytes = ? WHERE id = ?`, fileBytes, jobID)
	})
}

// EndBatchJob ends a running job, and puts its callback into the outbox. The error is
// ErrNotFound if the job does not run.
func (s *Store) EndBatchJob(ctx context.Context, jobID string, e BatchEnd) error {
	return s.changeAndNotify(ctx, "ending an analysis job", func(ctx context.Context, c conn) error {
		account, err := value[string](ctx, c, `
			UPDATE batch_job SET state = ?, ended_ms = max(?, started_ms), predictions = ?, errors = ?, message = ?,
			       file_bytes = ?
			 WHERE id = ? AND state = 'IN_PROGRESS'
			RETURNING (SELECT id FROM account WHERE num = batch_job.account)`, e.State, e.AtMS, e.Predictions, e.Errors,
			orNull(e.Message), e.FileBytes, jobID)
		if err != nil || e.CallbackURL == "" {
			return err
		}
		receiver, err := receiverOf(ctx, c, account, e.CallbackURL)
		if err != nil {
			return err
		}
		now := time.Now().UnixMilli()
		return execute(ctx, c, `
			INSERT INTO webhook (id, receiver, chat, event, body, created_ms, until_ms, due_ms)
			VALUES (lower(hex(randomblob(8))), ?1, ?2, ?3, ?4, ?5, ?6 + ?7, ?6)`,
			receiver, jobID, noticeBatch, e.Callback, e.AtMS, now, WebhookPatience.Milliseconds())
	})
}

// DeleteBatchJob deletes a job of an account in any state, without its files. The error is
// ErrNotFound if the account has no such job.
func (s *Store) DeleteBatchJob(ctx context.Context, accountID, jobID string) error {
	return s.change(ctx, "deleting an analysis job", func(ctx context.Context, c conn) error {
		if err := changeOne(ctx, c, `
			DELETE FROM batch_job WHERE id = ? AND account = (SELECT num FROM account WHERE id = ?)`, jobID,
			accountID); err != nil {
			return err
		}
		return dropWebhooksOf(ctx, c, jobID)
	})
}

// ExpireBatchJobs deletes the jobs that ended before a time (Unix milliseconds) with their
// files, one job in each transaction, and returns their number. After a crash in the
// middle, [Store.Tidy] deletes the remaining files.
func (s *Store) ExpireBatchJobs(ctx context.Context, beforeMS int64) (deleted int, err error) {
	const doing = "deleting old analysis jobs"
	err = s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
		const oldest = `SELECT id FROM batch_job WHERE ended_ms < ? ORDER BY ended_ms LIMIT 1`
		id, err := value[string](ctx, s.read, oldest, beforeMS)
		if errors.Is(err, ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, explain(doing, err)
		}
		err = s.change(ctx, doing, func(ctx context.Context, c conn) error {
			if err := execute(ctx, c, `DELETE FROM batch_job WHERE id = ?`, id); err != nil {
				return err
			}
			return dropWebhooksOf(ctx, c, id)
		})
		if err != nil {
			return false, err
		}
		deleted++
		return true, explain(doing, s.removeBatchFolder(id))
	})
	return deleted, err
}
