package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"parley/appliance/contract"
	"parley/internal/progress"
)

const (
	batchPath = "/v0/batch/jobs"
	// firstPoll and lastPoll are the first and the longest wait between two looks at a job:
	// a text takes less than a second, and a long video hours.
	firstPoll = 200 * time.Millisecond
	lastPoll  = 5 * time.Second
	// pollTimeout bounds one look at a job.
	pollTimeout = 30 * time.Second
	// restartTimeout is how long to wait for a box that restarts: twice the minute that
	// loading its models takes on a busy machine.
	restartTimeout = 2 * time.Minute
	// continueTimeout is how long to wait for a box to accept the headers of an upload, so
	// that it can refuse a wrong key before gigabytes are sent.
	continueTimeout = 5 * time.Second
	// longUpload is from how many bytes on progress is shown where standard error is no
	// terminal.
	longUpload = 10 << 20
	// maxJobText bounds the details of a job: they hold its texts and URLs, 2 MB each, and
	// escapes make six bytes of one.
	maxJobText = 32 << 20
)

// batchBox is the batch service of a box.
type batchBox struct {
	client  *http.Client
	address string // without a path
	key     string
}

func newBatchBox(client *http.Client, at boxTarget, key string) *batchBox {
	client.Transport.(*http.Transport).ExpectContinueTimeout = continueTimeout
	return &batchBox{client, at.web(), key}
}

// start uploads the body and returns the id of the job.
func (b *batchBox) start(ctx context.Context, c *console, body *batchBody) (id string, err error) {
	send := func(show progress.Func) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.address+batchPath,
			&counted{batchBody: body, show: show})
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", body.kind)
		r.Header.Set("Expect", "100-continue")
		r.ContentLength = body.size
		text, err := b.answer(r, maxJobText)
		if err != nil {
			return err
		}
		show(progress.Event{Name: "upload", Step: progress.Done, Done: body.size, Total: body.size})
		var made contract.JobID
		if err := json.Unmarshal(text, &made); err != nil || made.JobID == "" {
			return fmt.Errorf("the box answers without a job_id: %.200s", text)
		}
		id = made.JobID
		return nil
	}
	if body.size >= 0 && body.size < longUpload && !onTerminal(c.err) {
		return id, send(func(progress.Event) {})
	}
	err = withBars(ctx, c.err, send)
	return id, err
}

// get requests a path below the jobs. The caller closes the body of the response.
func (b *batchBox) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.address+batchPath+path, nil)
	if err != nil {
		return nil, err
	}
	return b.do(r)
}

// do sends a request, and returns an error for any status but 200.
func (b *batchBox) do(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Service-Api-Key", b.key)
	response, err := b.client.Do(r)
	switch {
	case r.Context().Err() != nil:
		return nil, context.Cause(r.Context())
	case err != nil:
		return nil, unreachable{refusal("", b.address, "the request", nil, err)}
	case response.StatusCode != http.StatusOK:
		defer response.Body.Close()
		err := refusal("", b.address, "the request", response, nil)
		if response.StatusCode >= http.StatusInternalServerError {
			return nil, unreachable{err}
		}
		return nil, err
	}
	return response, nil
}

// unreachable is the error of a box that may answer later.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// answer returns the body of the response to a request, of at most so many bytes.
func (b *batchBox) answer(r *http.Request, most int64) ([]byte, error) {
	response, err := b.do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(response.Body, most+1))
	switch {
	case err != nil:
		return nil, unreachable{fmt.Errorf("the response of the box ended early: %w", err)}
	case n > most:
		return nil, fmt.Errorf("the response of the box has more than %d bytes", most)
	}
	return text.Bytes(), nil
}

// job returns the job with an id.
func (b *batchBox) job(ctx context.Context, id string) (j contract.BatchJob, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.address+batchPath+"/"+url.PathEscape(id), nil)
	if err != nil {
		return j, err
	}
	text, err := b.answer(r, maxJobText)
	if errors.Is(err, context.DeadlineExceeded) {
		err = unreachable{fmt.Errorf("the box at %s did not answer within %v", b.address, pollTimeout)}
	}
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	return j, err
}

// wait waits until a job has ended, and shows a terminal how far it is. A box that
// restarts meanwhile is waited for.
func (b *batchBox) wait(ctx context.Context, c *console, id string) (contract.BatchJob, error) {
	shown := newJobProgress(c)
	defer shown.done()
	answered := time.Now()
	for pause := firstPoll; ; pause = min(pause*3/2, lastPoll) {
		j, err := b.job(ctx, id)
		switch {
		case ctx.Err() != nil:
			return j, context.Cause(ctx)
		case err == nil && (j.State.Status == contract.JobCompleted || j.State.Status == contract.JobFailed):
			return j, nil
		case err == nil:
			answered = time.Now()
			shown.advance(j)
		case !is[unreachable](err) || time.Since(answered) > restartTimeout:
			return j, fmt.Errorf("job %s: %w", id, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return j, context.Cause(ctx)
		}
	}
}
