package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// jobsServer answers requests about jobs as a box does. The nth job has the state of that number,
// the last one those after it.
func jobsServer(t *testing.T, states ...string) (l *batchLoad, sent *atomic.Int32) {
	t.Helper()
	sent = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), "the content") {
				t.Errorf("%q, %v was uploaded", body, err)
			}
			fmt.Fprintf(w, `{"job_id":"job_%d"}`, sent.Add(1))
		case http.MethodGet:
			fmt.Fprintf(w, `{"state":%s}`, states[min(int(sent.Load()), len(states))-1])
		}
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "long.wav")
	if err := os.WriteFile(file, []byte("the content"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &batchLoad{endpoint: endpoint{address: strings.TrimPrefix(s.URL, "http://")}, file: file}, sent
}

const (
	jobRuns  = `{"status":"IN_PROGRESS"}`
	jobDone  = `{"status":"COMPLETED","num_predictions":5}`
	jobEmpty = `{"status":"COMPLETED","num_predictions":0}`
)

// A job that ends during a round is sent again.
func TestAJobRunsDuringTheWholeRound(t *testing.T) {
	l, sent := jobsServer(t, jobDone, jobRuns)
	err := l.during(t.Context(), func(ctx context.Context) error {
		for sent.Load() < 2 && ctx.Err() == nil {
			if err := sleep(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || sent.Load() != 2 {
		t.Errorf("%d jobs, %v", sent.Load(), err)
	}
}

// A round fails if its job does not run at the end, or is no work.
func TestARoundWithoutARunningJobFails(t *testing.T) {
	l, _ := jobsServer(t, jobDone)
	err := l.during(t.Context(), func(context.Context) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "COMPLETED at the end of a round") {
		t.Errorf("a job that has ended: %v", err)
	}
	l, _ = jobsServer(t, jobEmpty)
	err = l.during(t.Context(), func(ctx context.Context) error { return sleep(ctx, time.Minute) })
	if err == nil || !strings.Contains(err.Error(), "found nothing") {
		t.Errorf("a job that finds nothing: %v", err)
	}
}

// The difference is between the answers of all callers and rounds.
func TestTheDifferenceThatAJobMakesIsReported(t *testing.T) {
	var without, with []turn
	for i := range 20 {
		without = append(without, answered("a", 900*ms+time.Duration(i)*ms, 0))
		with = append(with, answered("a", 920*ms+time.Duration(2*i)*ms, 0))
	}
	r := Report{}
	r.difference("batch", "an analysis job", [][]turn{without[:10], without[10:]}, [][]turn{with[:10], with[10:]})
	r.has(t, map[string][2]float64{"batch_later_median": {29, 29}, "batch_later_p95": {38, 38}})
}
