package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"parley/appliance/contract"
)

const (
	// jobPoll is how often an analysis job is checked. A new one is sent after at most that
	// time without one.
	jobPoll = 200 * time.Millisecond
	// jobStart is how long an uploaded job may take to run: on an idle box it starts at once.
	jobStart = 10 * time.Second
	// batchTurns is how many turns a round has, without the job and then with it. A change of
	// the machine's speed that lasts for longer counts for both.
	batchTurns = 5
	// batchLimit is how much later the 95th percentile of the answers may be, in
	// milliseconds, while a job runs.
	batchLimit = 50
)

// batchLoad is analysis work for a box: a job with all models for a file, again and again.
type batchLoad struct {
	endpoint endpoint
	file     string
	job      string // that was sent last
}

// during keeps a job running while f runs. A job that does not is an error.
func (l *batchLoad) during(ctx context.Context, f func(context.Context) error) (err error) {
	if err := l.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.delete(context.WithoutCancel(ctx))) }()
	ctx, cancel := context.WithCancelCause(ctx)
	repeating, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := l.repeat(repeating); repeating.Err() == nil {
			cancel(err)
		}
	}()
	err = f(ctx)
	stop()
	<-ended
	if failed := context.Cause(ctx); failed != nil {
		err = failed
	}
	cancel(nil)
	if err != nil {
		return err
	}
	j, err := l.look(context.WithoutCancel(ctx))
	if err == nil && j.State.Status != contract.JobInProgress {
		err = fmt.Errorf("the analysis job is %s at the end of a round; it must run all the time: give a longer file",
			j.State.Status)
	}
	return err
}

// repeat sends the job again whenever it has ended, until ctx ends or that fails.
func (l *batchLoad) repeat(ctx context.Context) error {
	for {
		if err := sleep(ctx, jobPoll); err != nil {
			return err
		}
		j, err := l.look(ctx)
		if err != nil {
			return err
		}
		switch n := j.State.NumPredictions; {
		case j.State.Status == contract.JobFailed, n != nil && *n == 0:
			return fmt.Errorf("the analysis of %s is %s and found nothing; it must be work for a box", l.file,
				j.State.Status)
		case j.State.Status == contract.JobCompleted:
			if err := errors.Join(l.delete(ctx), l.start(ctx)); err != nil {
				return err
			}
		}
	}
}

// start uploads the job and waits until it runs.
func (l *batchLoad) start(ctx context.Context) error {
	f, err := os.Open(l.file)
	if err != nil {
		return err
	}
	defer f.Close()
	body, to := io.Pipe()
	defer body.Close()
	form := multipart.NewWriter(to)
	go func() {
		part, err := form.CreateFormFile("file", filepath.Base(l.file))
		if err == nil {
			_, err = io.Copy(part, f)
		}
		to.CloseWithError(errors.Join(err, form.Close()))
	}()
	var made contract.JobID
	if err := l.ask(ctx, http.MethodPost, "", form.FormDataContentType(), body, &made); err != nil {
		return err
	}
	l.job = made.JobID
	for begun := time.Now(); ; {
		j, err := l.look(ctx)
		switch {
		case err != nil:
			return err
		case j.State.Status != contract.JobQueued:
			return nil
		case time.Since(begun) > jobStart:
			return fmt.Errorf("the analysis job is still %s after %v", j.State.Status, jobStart)
		}
		if err := sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

func (l *batchLoad) look(ctx context.Context) (j contract.BatchJob, err error) {
	return j, l.ask(ctx, http.MethodGet, "/"+l.job, "", nil, &j)
}

// delete ends the job.
func (l *batchLoad) delete(ctx context.Context) error {
	return l.ask(ctx, http.MethodDelete, "/"+l.job, "", nil, nil)
}

// ask sends a request about jobs and parses the answer.
func (l *batchLoad) ask(ctx context.Context, method, path, contentType string, body io.Reader, answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+l.endpoint.address+"/v0/batch/jobs"+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("X-Service-Api-Key", l.endpoint.key)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxFromBox))
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s of an analysis job: %s: %s", method, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// load is work for a box beside its conversations.
type load struct {
	name   string // in the figures
	what   string
	during func(context.Context, func(context.Context) error) error
}

// loadOf returns the work that the options ask for; its name is empty if they ask for none.
func loadOf(o Options, at endpoint) load {
	switch {
	case o.Batch != "":
		job := &batchLoad{endpoint: at, file: o.Batch}
		return load{"batch", "an analysis job", job.during}
	case o.Programs:
		return load{"programs", "programs that use OpenAI's API", programsLoad{at}.during}
	}
	return load{}
}

// loadedRounds holds the conversations of k in rounds of batchTurns turns, each round first
// without a load and then with it, and adds the figures of both and how much they differ.
func (r *Report) loadedRounds(ctx context.Context, o Options, at endpoint, k talk, load load) error {
	without, with := make([][]turn, k.callers), make([][]turn, k.callers)
	for rest := k.recordings; len(rest) > 0; rest = rest[min(batchTurns, len(rest)):] {
		round := k
		round.recordings = rest[:min(batchTurns, len(rest))]
		talkTo := func(all [][]turn) func(context.Context) error {
			return func(ctx context.Context) error {
				chats, err := round.converse(ctx, o, at)
				for i, turns := range chats {
					all[i] = append(all[i], turns...)
				}
				return err
			}
		}
		o.announce("without %s", load.what)
		if err := talkTo(without)(ctx); err != nil {
			return err
		}
		o.announce("with %s", load.what)
		if err := load.during(ctx, talkTo(with)); err != nil {
			return err
		}
	}
	r.addTalk(k, without)
	loaded := k
	loaded.prefix, loaded.batch = k.prefix+load.name+"_", true
	r.addTalk(loaded, with)
	r.difference(k.prefix+load.name, load.what, without, with)
	return nil
}

// difference adds how much later the answers are with a load.
func (r *Report) difference(name, what string, without, with [][]turn) {
	var before, after []time.Duration
	for i := range without {
		before = append(before, answers(without[i], 0)...)
		after = append(after, answers(with[i], 0)...)
	}
	r.figure(name+"_later_median", (median(after)-median(before))/1e6, "ms", "the answers with "+what)
	r.against(name+"_later_p95", (quantile(after, 0.95)-quantile(before, 0.95))/1e6, "ms", batchLimit,
		"the same; the limit")
}
