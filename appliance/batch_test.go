package appliance

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

func TestJobsAreDeletedAfterTheirDays(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"}); err != nil {
		t.Fatal(err)
	}
	home, err := records.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	job := store.NewBatchJob{
		ID:        contract.NewID(),
		AccountID: home.ID,
		Request:   "{}",
		CreatedMS: 1,
	}
	ended := time.Now().AddDate(0, 0, -7)
	if err := records.AddBatchJob(t.Context(), job, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := records.StartBatchJob(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	end := store.BatchEnd{State: store.BatchCompleted, AtMS: ended.UnixMilli()}
	if err := records.EndBatchJob(t.Context(), job.ID, end); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ days, deleted int }{{0, 0}, {8, 0}, {6, 1}} {
		deleted, err := sweepBatch(t.Context(), config.Batch{ResultsDays: c.days}, records, time.Now())
		if err != nil || deleted != c.deleted {
			t.Errorf("after %d days: deleted %d, %v", c.days, deleted, err)
		}
	}
	if _, err := records.BatchJob(t.Context(), home.ID, job.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the job: %v", err)
	}
}
