package store

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/internal/layout"
)

// addBatchJob adds a job of one text that was created at a time, and returns its id.
func addBatchJob(t testing.TB, s *Store, account string, atMS int64) string {
	t.Helper()
	n := NewBatchJob{
		ID:        uuid.NewString(),
		AccountID: account,
		Request:   `{"text":["Hello"]}`,
		CreatedMS: atMS,
		Sources:   []BatchSource{{Kind: BatchText}},
	}
	must(t, s.AddBatchJob(t.Context(), n, 100))
	return n.ID
}

// startBatchJob starts the next job and returns its id.
func startBatchJob(t testing.TB, s *Store, atMS int64) string {
	t.Helper()
	j, err := s.StartBatchJob(t.Context(), atMS)
	must(t, err)
	return j.ID
}

func TestBatchJobIsAsItWasAdded(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, other := newAccount(t, s, "home"), newAccount(t, s, "other")
	n := NewBatchJob{
		ID:        uuid.NewString(),
		AccountID: home,
		Request:   `{"urls":["https://a/b"]}`,
		CreatedMS: 7,
		FileBytes: 1 << 20,
		Sources: []BatchSource{
			{Kind: BatchFile, Name: "ä.mp4", ContentType: "video/mp4", MD5: "d41d8cd98f00b204e9800998ecf8427e"},
			{Kind: BatchURL, Name: "https://a/b"},
			{Kind: BatchText},
		},
	}
	must(t, s.AddBatchJob(t.Context(), n, 1))
	j, err := s.BatchJob(t.Context(), home, n.ID)
	must(t, err)
	want := BatchJob{
		ID:        n.ID,
		AccountID: home,
		Request:   n.Request,
		State:     BatchQueued,
		CreatedMS: 7,
	}
	if j != want {
		t.Errorf("got %+v, want %+v", j, want)
	}
	if sources, err := s.BatchSources(t.Context(), n.ID); err != nil || !slices.Equal(sources, n.Sources) {
		t.Errorf("got %+v, %v", sources, err)
	}
	_, err = s.BatchJob(t.Context(), other, n.ID)
	wantError(t, err, ErrNotFound)
	u, err := s.Usage(t.Context(), home)
	if err != nil || u.BatchBytes < 1<<20 || u.BatchBytes > 1<<20+2000 || u.Total() != u.BatchBytes {
		t.Errorf("usage is %+v, %v", u, err)
	}
	n.ID = uuid.NewString()
	wantError(t, s.AddBatchJob(t.Context(), n, 1), ErrQueueFull)
	n.AccountID = other
	must(t, s.AddBatchJob(t.Context(), n, 1)) // the queue of another account has room
	n.ID, n.AccountID = uuid.NewString(), "nobody"
	wantError(t, s.AddBatchJob(t.Context(), n, 1), ErrNotFound)
}

// The account that was served the longest ago is next, whatever the others have queued.
func TestBatchQueueIsFairBetweenAccounts(t *testing.T) {
	s := openStore(t, t.TempDir())
	a, b, c := newAccount(t, s, "a"), newAccount(t, s, "b"), newAccount(t, s, "c")
	names := map[string]string{}
	for n := range 3 {
		names[addBatchJob(t, s, a, int64(n))] = fmt.Sprint("a", n)
	}
	for n := range 2 {
		names[addBatchJob(t, s, b, int64(10+n))] = fmt.Sprint("b", n)
	}
	var order []string
	for at := int64(100); len(order) < 6; at++ {
		if at == 102 {
			names[addBatchJob(t, s, c, 50)] = "c0"
		}
		id := startBatchJob(t, s, at)
		order = append(order, names[id])
		must(t, s.EndBatchJob(t.Context(), id, BatchEnd{State: BatchCompleted, AtMS: at}))
	}
	if got := strings.Join(order, " "); got != "a0 b0 c0 a1 b1 a2" {
		t.Errorf("the order is %s", got)
	}
	_, err := s.StartBatchJob(t.Context(), 200)
	wantError(t, err, ErrNotFound)
	// A job that is put back counts as served.
	first, second := addBatchJob(t, s, a, 300), addBatchJob(t, s, b, 300)
	if id := startBatchJob(t, s, 400); id != second { // b was served before a
		t.Errorf("started %s", id)
	}
	waits, err := s.OthersWait(t.Context(), b)
	if must(t, s.RequeueBatchJob(t.Context(), second, false)); err != nil || !waits {
		t.Errorf("a job of a waits: %v, %v", waits, err)
	}
	if id := startBatchJob(t, s, 500); id != first {
		t.Errorf("started %s", id)
	}
	must(t, s.EndBatchJob(t.Context(), first, BatchEnd{State: BatchCompleted, AtMS: 600}))
	if waits, err := s.OthersWait(t.Context(), b); err != nil || waits {
		t.Errorf("only b waits: %v, %v", waits, err)
	}
}

func TestBatchJobsAreListedByStateTimeAndOrder(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	addBatchJob(t, s, newAccount(t, s, "other"), 5)
	names := map[string]string{}
	for n := range 5 {
		names[addBatchJob(t, s, home, int64(10*n+10))] = fmt.Sprint(n)
	}
	_, err := s.StartBatchJob(t.Context(), 1) // of the other account, whose job is at most as old
	must(t, err)
	for n, end := range []BatchEnd{{State: BatchCompleted, AtMS: 900}, {State: BatchFailed, AtMS: 800}, {}} {
		id := startBatchJob(t, s, int64(100-n))
		if id == "" || names[id] == "" {
			t.Fatalf("started %q", id)
		}
		if end.State != "" {
			must(t, s.EndBatchJob(t.Context(), id, end))
		}
	}
	for name, c := range map[string]struct {
		filter BatchFilter
		want   string
	}{
		"oldest first": {BatchFilter{Limit: 9}, "0 1 2 3 4"},
		"newest first": {BatchFilter{Limit: 2, Descending: true}, "4 3"},
		"before a time": {BatchFilter{
			Limit:      9,
			Descending: true,
			BeforeMS:   30,
		}, "1 0"},
		"after a time": {BatchFilter{Limit: 9, AfterMS: 30}, "3 4"},
		"of states":    {BatchFilter{Limit: 9, States: []BatchState{BatchFailed, BatchQueued}}, "1 3 4"},
		"by start":     {BatchFilter{Limit: 9, Order: ByStart}, "3 4 2 1 0"},
		"by end": {BatchFilter{
			Limit:      3,
			Order:      ByEnd,
			Descending: true,
			States:     []BatchState{BatchCompleted, BatchFailed, BatchInProgress},
		}, "0 1 2"},
		"none": {BatchFilter{Limit: 9, BeforeMS: 30, AfterMS: 30}, ""},
	} {
		c.filter.AccountID = home
		jobs, err := s.BatchJobs(t.Context(), c.filter)
		must(t, err)
		var got []string
		for _, j := range jobs {
			got = append(got, names[j.ID])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}

func TestListOfLongBatchJobsIsShorter(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	for range 5 {
		must(t, s.AddBatchJob(t.Context(), NewBatchJob{
			ID:        uuid.NewString(),
			AccountID: home,
			Request:   `"` + strings.Repeat("a", maxBatchListBytes/3) + `"`,
			CreatedMS: 1,
		}, 9))
	}
	if jobs, err := s.BatchJobs(t.Context(), BatchFilter{AccountID: home, Limit: 9}); err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// A list sorts nothing, and finds its rows in one index.
func TestBatchListReadsItsIndexOnly(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	for _, order := range []BatchOrder{ByCreation, ByStart, ByEnd} {
		text, args := BatchFilter{
			AccountID: home,
			States:    []BatchState{BatchFailed, BatchQueued},
			BeforeMS:  9,
			Order:     order,
			Limit:     5,
		}.query()
		plan, err := query(t.Context(), s.read, func(row scanner) (detail string, err error) {
			var id, parent, unused int
			return detail, row.Scan(&id, &parent, &unused, &detail)
		}, `EXPLAIN QUERY PLAN `+text, args...)
		must(t, err)
		all := strings.Join(plan, "\n")
		if !strings.Contains(all, "SEARCH batch_job USING COVERING INDEX batch_job_") ||
			strings.Contains(all, "TEMP B-TREE") {
			t.Errorf("order %d:\n%s", order, all)
		}
	}
}

func TestRequeuedBatchJobRunsAgainWithoutItsFinishedSources(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	n := NewBatchJob{
		ID:        uuid.NewString(),
		AccountID: home,
		Request:   `{}`,
		CreatedMS: 1,
		Sources:   []BatchSource{{Kind: BatchText}, {Kind: BatchText}},
	}
	must(t, s.AddBatchJob(t.Context(), n, 9))
	startBatchJob(t, s, 2)
	must(t, s.BatchSourceDone(t.Context(), n.ID, 1, 3, 1, 5000))
	must(t, s.RequeueBatchJob(t.Context(), n.ID, false))
	wantError(t, s.RequeueBatchJob(t.Context(), n.ID, false), ErrNotFound) // it does not run
	wantError(t, s.EndBatchJob(t.Context(), n.ID, BatchEnd{State: BatchFailed}), ErrNotFound)
	for attempt := range 2 {
		j, err := s.StartBatchJob(t.Context(), 5)
		must(t, err)
		if j.ID != n.ID || j.Attempts != attempt+1 || j.StartedMS != 5 || j.State != BatchInProgress {
			t.Errorf("started %+v", j)
		}
		running, err := s.RunningBatchJobs(t.Context())
		if err != nil || len(running) != 1 || running[0] != j {
			t.Errorf("running are %+v, %v", running, err)
		}
		must(t, s.RequeueBatchJob(t.Context(), n.ID, true))
	}
	sources, err := s.BatchSources(t.Context(), n.ID)
	want := BatchSource{
		Kind:        BatchText,
		Done:        true,
		Predictions: 3,
		Errors:      1,
	}
	if err != nil || sources[0].Done || sources[1] != want {
		t.Errorf("sources are %+v, %v", sources, err)
	}
	if u, err := s.Usage(t.Context(), home); err != nil || u.BatchBytes < 5000 {
		t.Errorf("usage is %+v, %v", u, err)
	}
}

func TestCallbackOfABatchJobGoesThroughTheOutbox(t *testing.T) {
	s := openStore(t, t.TempDir())
	id := addBatchJob(t, s, newAccount(t, s, "home"), 1)
	startBatchJob(t, s, 2)
	must(t, s.EndBatchJob(t.Context(), id, BatchEnd{
		State:       BatchFailed,
		AtMS:        3,
		Message:     "no",
		CallbackURL: "https://example.com/done",
		Callback:    `{"job_id":"x"}`,
	}))
	listed, err := s.Webhooks(t.Context(), WebhookFilter{}, 9)
	must(t, err)
	if len(listed) != 1 || listed[0].ChatID != id || listed[0].Event != "batch_job" || listed[0].CreatedMS != 3 {
		t.Errorf("the outbox is %+v", listed)
	}
	waiting, err := s.WaitingReceivers(t.Context())
	if err != nil || len(waiting) != 1 {
		t.Fatalf("receivers %+v, %v", waiting, err)
	}
	due, _, err := s.DueWebhooks(t.Context(), waiting[0].Num, math.MaxInt64, 9)
	if err != nil || len(due) != 1 || due[0].Body != `{"job_id":"x"}` || due[0].SigningKey == "" {
		t.Errorf("due is %+v, %v", due, err)
	}
}

func TestOldBatchJobsAreDeletedWithTheirFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	var ids []string
	for n := range 4 {
		id := addBatchJob(t, s, home, int64(n))
		must(t, os.MkdirAll(filepath.Join(s.BatchFolder(id), "results"), 0o700))
		ids = append(ids, id)
		if n < 3 {
			startBatchJob(t, s, int64(10+n))
			must(t, s.EndBatchJob(t.Context(), id, BatchEnd{State: BatchCompleted, AtMS: int64(20 + n)}))
		}
	}
	if n, err := s.ExpireBatchJobs(t.Context(), 22); err != nil || n != 2 {
		t.Errorf("deleted %d, %v", n, err)
	}
	for n, id := range ids {
		_, err := s.BatchJob(t.Context(), home, id)
		_, stat := os.Stat(s.BatchFolder(id))
		if old := n < 2; (err != nil) != old || os.IsNotExist(stat) != old {
			t.Errorf("job %d: %v, its files: %v", n, err, stat)
		}
	}
}

func TestFoldersWithoutABatchJobAreRemovedAfterAnHour(t *testing.T) {
	s := openStore(t, t.TempDir())
	living := addBatchJob(t, s, newAccount(t, s, "home"), 1)
	old, fresh := uuid.NewString(), uuid.NewString()
	for _, id := range []string{living, old, fresh} {
		must(t, os.MkdirAll(s.BatchFolder(id), 0o700))
	}
	must(t, s.Tidy(t.Context(), 0)) // none is old
	for _, id := range []string{living, old} {
		must(t, os.Chtimes(s.BatchFolder(id), time.Time{}, time.Now().Add(-2*time.Hour)))
	}
	must(t, s.Tidy(t.Context(), 0))
	left, err := os.ReadDir(filepath.Join(s.dir, layout.Batch))
	must(t, err)
	if len(left) != 2 || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == old }) {
		t.Errorf("left is %v", left)
	}
}
