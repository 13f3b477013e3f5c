package batch

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"parley/appliance/contract"
	"parley/firmware/backup"
	"parley/store"
)

// A backup has the results of jobs that have ended, and the uploads of those that wait: the
// restored box runs them.
func TestRestoredBoxHasItsJobs(t *testing.T) {
	b := newBox(t)
	b.start(words)
	done := b.submit(`{"text":["one two"]}`)
	b.wait(done)
	b.stop()
	waiting := b.submit(`{}`, "a.txt=three four five")
	live, file := b.dir, filepath.Join(t.TempDir(), "backup")
	_, err := backup.Make(t.Context(), backup.Box{
		Data:    live,
		Version: "1",
		Database: func(ctx context.Context, file string, progress func(done, total int64)) (int64, error) {
			return store.Backup(ctx, live, file, progress)
		},
	}, file, nil)
	b.must(err)
	b.close()
	schema, err := store.NewestSchema()
	b.must(err)
	b.dir = filepath.Join(t.TempDir(), "restored")
	check := func(context.Context, string) error { return nil }
	_, _, err = backup.Restore(t.Context(), file, backup.Target{Data: b.dir, Schema: schema, Check: check}, nil)
	b.must(err)
	b.must(os.RemoveAll(live))
	b.open()
	if r := b.predictions(done); len(r) != 1 || len(r[0].Results.Predictions) != 1 {
		t.Errorf("the results are %+v", r)
	}
	b.start(words)
	if s := b.wait(waiting).State; s.Status != contract.JobCompleted || *s.NumPredictions != 3 {
		t.Errorf("the job that waited ended as %+v", s)
	}
}

// Where the files of a job are lost, its predictions and artifacts say so instead of failing.
func TestLostResultIsAnErrorOfItsSource(t *testing.T) {
	b := newBox(t)
	b.start(words)
	id := b.submit(`{"text":["one","two"]}`)
	b.wait(id)
	b.must(os.Remove(b.folder(id).result(0)))
	b.must(os.Remove(b.folder(id).artifacts()))
	r := b.predictions(id)
	if len(r) != 2 || r[0].Error == "" || len(r[0].Results.Predictions) != 0 || len(r[1].Results.Predictions) != 1 {
		t.Errorf("got %+v", r)
	}
	if got := b.artifacts(id); len(got) != 1 {
		t.Errorf("the archive has %v", got)
	}
}
