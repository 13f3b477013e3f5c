package store

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"parley/internal/layout"
)

// BatchState is the state of an analysis job, in the words of the wire.
type BatchState string

// The states of analysis jobs.
const (
	BatchQueued     BatchState = "QUEUED"
	BatchInProgress BatchState = "IN_PROGRESS"
	BatchCompleted  BatchState = "COMPLETED"
	BatchFailed     BatchState = "FAILED"
)

// BatchKind is the kind of a source of an analysis job, in the words of the wire.
type BatchKind string

// The kinds of sources.
const (
	BatchFile BatchKind = "file"
	BatchURL  BatchKind = "url"
	BatchText BatchKind = "text"
)

// BatchSource is a source of an analysis job.
type BatchSource struct {
	Kind        BatchKind
	Name        string // of the file, or the URL; empty for a text
	ContentType string // of a file, as the client named it; may be empty
	MD5         string // of a file, hexadecimal
	Done        bool   // its result is written
	Predictions int    // numbers in its result
	Errors      int
}

// NewBatchJob is an analysis job that is to wait in the queue.
type NewBatchJob struct {
	ID        string // a UUID
	AccountID string
	Request   string // JSON
	CreatedMS int64  // all times are Unix milliseconds
	FileBytes int64  // what its folder takes on the disk
	Sources   []BatchSource
}

// BatchJob is an analysis job without its sources.
type BatchJob struct {
	ID          string
	AccountID   string
	Request     string // JSON
	State       BatchState
	CreatedMS   int64
	StartedMS   int64 // of the newest start; 0 before the first
	EndedMS     int64 // 0 until it has ended
	Attempts    int   // starts, without those that a stop of the box has ended
	Predictions int
	Errors      int
	Message     string // why it failed
}

// What the rows of a job take besides their texts, in bytes, with index entries.
const (
	batchJobBytes    = 600
	batchSourceBytes = 100
)

// BatchFolder returns the folder with the files of an analysis job. It may not exist.
func (s *Store) BatchFolder(jobID string) string { return filepath.Join(s.dir, layout.Batch, jobID) }

// AddBatchJob puts a job into the queue. The error is ErrQueueFull if maxOpen jobs of the
// account wait or run, and ErrNotFound if there is no such account.
func (s *Store) AddBatchJob(ctx context.Context, n NewBatchJob, maxOpen int) error {
	return s.change(ctx, "adding an analysis job", func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, n.AccountID)
		if err != nil {
			return err
		}
		open, err := value[int](ctx, c, `
			SELECT (SELECT count(*) FROM batch_job WHERE account = ?1 AND state = 'QUEUED')
			       + (SELECT count(*) FROM batch_job WHERE account = ?1 AND state = 'IN_PROGRESS')`, account)
		if err != nil {
			return err
		}
		if open >= maxOpen {
			return ErrQueueFull
		}
		rowBytes := batchJobBytes + len(n.Request)
		for _, from := range n.Sources {
			rowBytes += batchSourceBytes + len(from.Name) + len(from.ContentType)
		}
		job, err := value[int64](ctx, c, `
			INSERT INTO batch_job (id, account, request, created_ms, row_bytes, file_bytes) VALUES (?, ?, ?, ?, ?, ?)
			RETURNING num`, n.ID, account, n.Request, n.CreatedMS, rowBytes, n.FileBytes)
		if err != nil {
			return err
		}
		for i, from := range n.Sources {
			if err := execute(ctx, c,
				`INSERT INTO batch_source (job, n, kind, name, content_type, md5) VALUES (?, ?, ?, ?, ?, ?)`,
				job, i, from.Kind, from.Name, from.ContentType, from.MD5); err != nil {
				return err
			}
		}
		return nil
	})
}

const batchColumns = `j.id, a.id, j.request, j.state, j.created_ms, coalesce(j.started_ms, 0), coalesce(j.ended_ms, 0),
	j.attempts, j.predictions, j.errors, coalesce(j.message, '')`

func scanBatchJob(row scanner) (j BatchJob, err error) {
	return j, row.Scan(&j.ID, &j.AccountID, &j.Request, &j.State, &j.CreatedMS, &j.StartedMS, &j.EndedMS, &j.Attempts,
		&j.Predictions, &j.Errors, &j.Message)
}

// BatchJob returns a job of an account, or ErrNotFound.
func (s *Store) BatchJob(ctx context.Context, accountID, jobID string) (BatchJob, error) {
	j, err := first(ctx, s.read, scanBatchJob, `
		SELECT `+batchColumns+` FROM batch_job j JOIN account a ON a.num = j.account WHERE j.id = ? AND a.id = ?`,
		jobID, accountID)
	return j, explain("finding an analysis job", err)
}

// BatchSources returns the sources of a job in the order of their numbers, from 0. It does
// not check the account.
func (s *Store) BatchSources(ctx context.Context, jobID string) ([]BatchSource, error) {
	all, err := query(ctx, s.read, func(row scanner) (f BatchSource, err error) {
		return f, row.Scan(&f.Kind, &f.Name, &f.ContentType, &f.MD5, &f.Done, &f.Predictions, &f.Errors)
	}, `
		SELECT kind, name, content_type, md5, s.predictions IS NOT NULL, coalesce(s.predictions, 0),
		       coalesce(s.errors, 0)
		  FROM batch_job j JOIN batch_source s ON s.job = j.num WHERE j.id = ? ORDER BY s.n`, jobID)
	return all, explain("reading the sources of an analysis job", err)
}

// BatchOrder is the time by which a list of jobs is ordered.
type BatchOrder int

// The orders. A job without that time precedes the others if the list ascends.
const (
	ByCreation BatchOrder = iota
	ByStart
	ByEnd
)

// BatchFilter selects jobs of an account. Empty fields restrict nothing.
type BatchFilter struct {
	AccountID  string
	States     []BatchState
	BeforeMS   int64 // created before this time
	AfterMS    int64 // created after this time
	Order      BatchOrder
	Descending bool
	Limit      int
}

// maxBatchListBytes bounds the requests of the jobs in one list: a request may have 2 MiB
// of texts and as much of URLs. An ordinary one has some hundred bytes.
const maxBatchListBytes = 16 << 20

// BatchJobs returns the selected jobs: fewer than f.Limit if their requests are long.
func (s *Store) BatchJobs(ctx context.Context, f BatchFilter) (all []BatchJob, err error) {
	const doing = "listing the analysis jobs"
	text, args := f.query()
	nums, err := query(ctx, s.read, func(row scanner) (num int64, err error) { return num, row.Scan(&num) }, text,
		args...)
	if err != nil {
		return nil, explain(doing, err)
	}
	bytes := 0
	for _, num := range nums {
		j, err := first(ctx, s.read, scanBatchJob,
			`SELECT `+batchColumns+` FROM batch_job j JOIN account a ON a.num = j.account WHERE j.num = ?`, num)
		if errors.Is(err, ErrNotFound) {
			continue // deleted a moment ago
		}
		if err != nil {
			return nil, explain(doing, err)
		}
		if bytes += len(j.Request); bytes > maxBatchListBytes && len(all) > 0 {
			break
		}
		all = append(all, j)
	}
	return all, nil
}

// query returns the statement for the numbers of the selected jobs. It walks the index of
// its order, which holds all that the filter names.
func (f BatchFilter) query() (text string, args []any) {
	column, index := `created_ms`, `batch_job_created`
	switch f.Order {
	case ByStart:
		column, index = `started_ms`, `batch_job_started`
	case ByEnd:
		column, index = `ended_ms`, `batch_job_ended`
	}
	where, args := `account = (SELECT num FROM account WHERE id = ?)`, []any{f.AccountID}
	if f.BeforeMS != 0 {
		where, args = where+` AND created_ms < ?`, append(args, f.BeforeMS)
	}
	if f.AfterMS != 0 {
		where, args = where+` AND created_ms > ?`, append(args, f.AfterMS)
	}
	if len(f.States) > 0 {
		where += ` AND state IN (?` + strings.Repeat(`, ?`, len(f.States)-1) + `)`
		args = append(args, anys(f.States)...)
	}
	way := ` ASC`
	if f.Descending {
		way = ` DESC`
	}
	return `SELECT num FROM batch_job INDEXED BY ` + index + ` WHERE ` + where +
		` ORDER BY ` + column + way + `, num` + way + ` LIMIT ?`, append(args, f.Limit)
}

// OthersWait reports whether jobs of other accounts than this one wait.
func (s *Store) OthersWait(ctx context.Context, accountID string) (bool, error) {
	wait, err := value[bool](ctx, s.read, `
		SELECT EXISTS (SELECT 1 FROM batch_job INDEXED BY batch_job_queue
		                WHERE state = 'QUEUED' AND account <> (SELECT num FROM account WHERE id = ?))`, accountID)
	return wait, explain("looking for analysis jobs", err)
}

// BatchLoad returns how many jobs wait, and how many run.
func (s *Store) BatchLoad(ctx context.Context) (queued, running int, err error) {
	err = scanFirst(ctx, s.read, []any{&queued, &running}, `
		SELECT (SELECT count(*) FROM batch_job WHERE state = 'QUEUED'),
		       (SELECT count(*) FROM batch_job WHERE state = 'IN_PROGRESS')`)
	return queued, running, explain("counting the analysis jobs", err)
}

// strayBatchFolders returns the ids among these of which there is no job.
func (s *Store) strayBatchFolders(ctx context.Context, ids []string) ([]string, error) {
	named, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return query(ctx, s.read, scanText, `
		SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM batch_job WHERE id = value)`, string(named))
}
