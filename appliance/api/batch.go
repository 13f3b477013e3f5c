package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// Batch runs the jobs that analyse files, URLs and texts.
type Batch interface {
	// NewUpload begins a job of an account.
	NewUpload(account string) BatchUpload
	// Jobs returns the jobs that a filter selects.
	Jobs(ctx context.Context, f store.BatchFilter) ([]contract.BatchJob, error)
	// Job returns a job of the account. The error of this and of the methods below
	// is store.ErrNotFound if the account has no such job.
	Job(ctx context.Context, account, id string) (contract.BatchJob, error)
	// Predictions opens the results of a COMPLETED job: a JSON list.
	Predictions(ctx context.Context, account, id string) (BatchResults, error)
	// Artifacts opens the zip archive of a COMPLETED job.
	Artifacts(ctx context.Context, account, id string) (*os.File, error)
	// Delete ends a job if it waits or runs, and deletes it and its files.
	Delete(ctx context.Context, account, id string) error
}

// BatchResults are the results of a job: a JSON list of so many bytes.
type BatchResults interface {
	io.ReadCloser
	Size() int64
}

const (
	// defaultBatchJobs and maxBatchJobs are how many jobs a list has: a job with a
	// thousand URLs takes 100 KB.
	defaultBatchJobs, maxBatchJobs = 50, 500
)

// ifBatch answers 503 where no jobs are run.
func (a *API) ifBatch(handle handler) handler {
	return available(func() bool { return a.Batch != nil }, "this box analyses no files", handle)
}

// listBatchJobs answers with a list of jobs.
func (a *API) listBatchJobs(w http.ResponseWriter, r *http.Request, by caller) error {
	f, err := readBatchFilter(r.URL.Query(), a.now())
	if err != nil {
		return err
	}
	f.AccountID = by.AccountID
	jobs, err := a.Batch.Jobs(r.Context(), f)
	if jobs == nil {
		jobs = []contract.BatchJob{}
	}
	return a.result(w, http.StatusOK, jobs, err)
}

// readBatchFilter parses which jobs a list has, and their order.
func readBatchFilter(q url.Values, now time.Time) (f store.BatchFilter, err error) {
	if f.Limit, err = readNumber(q, "limit", defaultBatchJobs, 1, maxBatchJobs); err != nil {
		return f, err
	}
	for text := range strings.SplitSeq(strings.Join(q["status"], ","), ",") {
		if text == "" { // clients write a parameter that they have not set like this
			continue
		}
		if !slices.Contains(contract.JobStates(), contract.JobState(text)) {
			return f, notAllowed("status", text, contract.JobStates()...)
		}
		f.States = append(f.States, store.BatchState(text))
	}
	at, err := readNumber(q, "timestamp_ms", int(now.UnixMilli()), 0, maxPageNumber)
	if err != nil {
		return f, err
	}
	if _, given := q["when"]; given || q.Get("timestamp_ms") != "" {
		switch when := q.Get("when"); when {
		case "", "created_before":
			f.BeforeMS = int64(max(at, 1)) // 0 would be no bound, and no job is from before either
		case "created_after":
			f.AfterMS = int64(at)
		default:
			return f, notAllowed("when", when, "created_before", "created_after")
		}
	}
	switch by := q.Get("sort_by"); by {
	case "", "created":
	case "started":
		f.Order = store.ByStart
	case "ended":
		f.Order = store.ByEnd
	default:
		return f, notAllowed("sort_by", by, "created", "started", "ended")
	}
	switch way := q.Get("direction"); way {
	case "", "desc":
		f.Descending = true
	case "asc":
	default:
		return f, notAllowed("direction", way, "asc", "desc")
	}
	return f, nil
}

// notAllowed is the error for a value of the query that is none of the allowed ones.
func notAllowed[T ~string](name, text string, allowed ...T) error {
	return contract.ErrInvalid{Field: name,
		Why: fmt.Sprintf("%.80q is not allowed; allowed: %s", text, strings.Trim(fmt.Sprint(allowed), "[]"))}
}

// batchJob answers with a job.
func (a *API) batchJob(w http.ResponseWriter, r *http.Request, by caller) error {
	job, err := a.Batch.Job(r.Context(), by.AccountID, r.PathValue("id"))
	return a.result(w, http.StatusOK, job, notFound(err, "job", r.PathValue("id")))
}

// batchPredictions streams the results of a job.
func (a *API) batchPredictions(w http.ResponseWriter, r *http.Request, by caller) error {
	results, err := a.Batch.Predictions(r.Context(), by.AccountID, r.PathValue("id"))
	if err != nil {
		return notFound(err, "job", r.PathValue("id"))
	}
	defer results.Close() //nolint:errcheck // it is only read
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.FormatInt(results.Size(), 10))
	_, err = io.Copy(w, results)
	return err
}

// batchArtifacts serves the zip archive of a job.
func (a *API) batchArtifacts(w http.ResponseWriter, r *http.Request, by caller) error {
	id := r.PathValue("id")
	archive, err := a.Batch.Artifacts(r.Context(), by.AccountID, id)
	if err != nil {
		return notFound(err, "job", id)
	}
	defer archive.Close() //nolint:errcheck // it is only read
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="artifacts-%s.zip"`, id))
	h.Set("Cache-Control", "no-store")
	h.Set("ETag", strconv.Quote(fmt.Sprintf("%s-%x", id, info.ModTime().UnixNano())))
	http.ServeContent(&rangeErrorWriter{ResponseWriter: w, api: a}, r, "", info.ModTime(), archive)
	return nil
}

// deleteBatchJob ends and deletes a job.
func (a *API) deleteBatchJob(w http.ResponseWriter, r *http.Request, by caller) error {
	err := a.Batch.Delete(r.Context(), by.AccountID, r.PathValue("id"))
	return a.result(w, http.StatusOK, confirmation{"The job is deleted."}, notFound(err, "job", r.PathValue("id")))
}

// aboutBatch describes the jobs that analyse media.
func aboutBatch() descriptions {
	const completed = "The job must be COMPLETED; until then the answer is 400 and names the state."
	return inSection("Analysis of files", descriptions{
		"POST /v0/batch/jobs": {
			ID:      "startInferenceJob",
			Summary: "Analyse files, URLs and texts",
			Description: "Sound, pictures, videos, texts and archives of them. Send JSON, or a form with the " +
				"files as parts named file and the JSON in a part named json, which may be absent. A job without " +
				"models runs all of them. transcription: null turns transcription off.",
			Body:    "PostedBatchJob",
			Files:   "file",
			Example: `{"text":["I am so glad that you came."],"models":{"language":{"granularity":"sentence"}}}`,
			Answers: ok(contract.JobID{}),
		},
		"GET /v0/batch/jobs": {
			ID:      "listJobs",
			Summary: "List jobs of analysis",
			Query:   batchQuery(),
			Answers: ok([]contract.BatchJob{}),
		},
		"GET /v0/batch/jobs/{id}": {
			ID:      "getJobDetails",
			Summary: "Get a job and its state",
			Answers: ok(contract.BatchJob{}),
		},
		"GET /v0/batch/jobs/{id}/predictions": {
			ID:          "getJobPredictions",
			Summary:     "Get the predictions of a job",
			Description: completed,
			Answers:     ok([]contract.SourceResult{}),
			Errors:      []int{400},
		},
		"GET /v0/batch/jobs/{id}/artifacts": {
			ID:          "getJobArtifacts",
			Summary:     "Get the predictions as CSV files, and saved faces, in a zip archive",
			Description: completed + " Parts of the archive may be asked for with Range.",
			Answers: append(ofType("application/zip"),
				unchanged(),
				describe.Answer{Status: 206, Description: "The requested range", Media: "application/zip"},
				describe.Answer{Status: 412, Description: "The archive does not match If-Match"},
				describe.Answer{Status: 416, Description: "The range is outside the archive", Value: problem{}}),
			Errors: []int{400},
		},
		"DELETE /v0/batch/jobs/{id}": {
			ID:          "deleteJob",
			Summary:     "Delete a job, its files and its predictions",
			Description: "A job that waits or runs is ended first.",
			Answers:     ok(confirmation{}),
		},
	})
}

// batchQuery describes the parameters of readBatchFilter.
func batchQuery() []describe.Parameter {
	return []describe.Parameter{
		parameter("limit", "How many jobs.", describe.Integer(1, maxBatchJobs).WithDefault(defaultBatchJobs)),
		parameter("status", "Only jobs with this state; repeat it for several.",
			describe.Enum(contract.JobStates()...)),
		parameter("when", "Whether the jobs were created before or after timestamp_ms.",
			describe.Enum("created_before", "created_after").WithDefault("created_before")),
		parameter("timestamp_ms", "A time, in Unix milliseconds; default: now.", describe.Integer(0, maxPageNumber)),
		parameter("sort_by", "The time by which they are sorted.",
			describe.Enum("created", "started", "ended").WithDefault("created")),
		parameter("direction", "desc: the newest first.", describe.Enum("asc", "desc").WithDefault("desc")),
	}
}
