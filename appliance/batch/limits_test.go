package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"parley/appliance/analysis"
	"parley/appliance/contract"
)

// zeros is an endless upload.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// refused adds files and submits a job, and returns the error of the first step that has
// one.
func (b *testBox) refused(p contract.PostedBatchJob, files ...io.Reader) error {
	u := b.NewUpload(b.account)
	defer u.Discard()
	for n, f := range files {
		if err := u.Add(b.t.Context(), fmt.Sprint(n), "", f); err != nil {
			return err
		}
	}
	_, err := u.Submit(b.t.Context(), p)
	return err
}

func TestLimitsOfAJobAreNamed(t *testing.T) {
	b := newBox(t, func(s *Settings) { s.MaxQueued = 1 })
	many := make([]io.Reader, contract.MaxBatchSources+1)
	for i := range many {
		many[i] = strings.NewReader("")
	}
	for name, c := range map[string]struct {
		posted contract.PostedBatchJob
		files  []io.Reader
		want   error
		says   string
	}{
		"nothing": {want: contract.ErrInvalid{}, says: "nothing to analyse"},
		"an endless file": {
			files: []io.Reader{zeros{}},
			want:  contract.ErrTooLarge{},
			says:  "batch.max_upload",
		},
		"files that are too large together": {
			files: []io.Reader{io.LimitReader(zeros{}, 600_000), io.LimitReader(zeros{}, 600_000)},
			want:  contract.ErrTooLarge{},
			says:  "1048576",
		},
		"too many files": {files: many, want: contract.ErrInvalid{}, says: "at most 1000"},
		"too many sources": {
			posted: contract.PostedBatchJob{
				Text: slices.Repeat([]string{"a"}, contract.MaxBatchSources),
				URLs: []string{"https://a/b"},
			},
			want: contract.ErrInvalid{},
			says: "1001",
		},
		"too much text": {
			posted: contract.PostedBatchJob{Text: []string{strings.Repeat("a", maxTextBytes+1)}},
			want:   contract.ErrTooLarge{},
			says:   "the texts of the job",
		},
	} {
		err := b.refused(c.posted, c.files...)
		if fmt.Sprintf("%T", err) != fmt.Sprintf("%T", c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	b.submit(`{"text":["a"]}`)
	var tooMany contract.ErrTooMany
	if err := b.refused(contract.PostedBatchJob{}, strings.NewReader("x")); !errors.As(err, &tooMany) ||
		tooMany.Wait() == 0 || !strings.Contains(err.Error(), "batch.max_queued") {
		t.Errorf("a full queue: %v", err)
	}
	if left, err := os.ReadDir(b.root()); err != nil || len(left) != 0 {
		t.Errorf("of the refused jobs is left: %v, %v", left, err)
	}
	if len(b.uploading) != 0 {
		t.Errorf("uploads are still counted: %v", b.uploading)
	}
}

// However many uploads an account has under way, together they stay within its share of
// the disk.
func TestUploadsOfAnAccountShareItsDiskSpace(t *testing.T) {
	b := newBox(t, func(s *Settings) { s.DiskPerAccount, s.MaxUpload = 50<<20, 0 })
	first := b.NewUpload(b.account)
	defer first.Discard()
	b.must(first.Add(t.Context(), "a", "", io.LimitReader(zeros{}, 30<<20)))
	var full contract.ErrFull
	if err := b.refused(contract.PostedBatchJob{}, io.LimitReader(zeros{}, 60<<20)); !errors.As(err, &full) {
		t.Errorf("beside another upload: %v", err)
	}
	first.Discard()
	b.must(b.refused(contract.PostedBatchJob{}, io.LimitReader(zeros{}, 40<<20)))
	if err := b.refused(contract.PostedBatchJob{}, io.LimitReader(zeros{}, 40<<20)); !errors.As(err, &full) {
		t.Errorf("beside a job: %v", err)
	}
}

func TestLargeUploadTakesNoMemory(t *testing.T) {
	b := newBox(t, func(s *Settings) { s.MaxUpload = 0 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.must(b.refused(contract.PostedBatchJob{}, io.LimitReader(zeros{}, 200<<20)))
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("200 MiB allocated %d bytes", grown)
	}
}

// An account without space gets errors for what cannot be stored, and its job completes.
func TestResultsStayWithinTheDiskSpaceOfTheAccount(t *testing.T) {
	b := newBox(t, func(s *Settings) { s.DiskPerAccount = 300_000 })
	b.start(func(_ context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
		if strings.HasPrefix(s.Text, "face") {
			if err := r.SaveFace("face_0", 1, make([]byte, 1<<20)); err != nil {
				return analysis.Report{}, fmt.Errorf("storing a face: %w", err)
			}
		}
		return words(t.Context(), s, r)
	})
	long := strings.Repeat("word ", 1000) // some 100 KB of predictions
	id := b.submit(fmt.Sprintf(`{"models":{"face":{"save_faces":true},"language":{}},"text":[%q,%q,"face",%q,"short"]}`,
		long, long, long))
	s := b.wait(id).State
	if s.Status != contract.JobCompleted || *s.NumErrors < 2 || *s.NumPredictions < 1001 {
		t.Errorf("ended as %+v", s)
	}
	for _, r := range b.predictions(id) {
		for _, e := range r.Results.Errors {
			if !strings.Contains(e.Message, "limits.disk_per_account") {
				t.Errorf("error %+v", e)
			}
		}
	}
	if u, err := b.records.Usage(t.Context(), b.account); err != nil || u.Total() > 330_000 {
		t.Errorf("usage is %+v, %v", u, err)
	}
}
