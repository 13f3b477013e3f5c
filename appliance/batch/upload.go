package batch

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"parley/appliance/contract"
	"parley/internal/disk"
	"parley/internal/durable"
	"parley/store"
)

const (
	// maxTextBytes bounds the texts of one job together. They are part of every list of
	// jobs; longer ones belong in files.
	maxTextBytes = 2 << 20
	// checkBytes is after how many bytes an upload looks again for free space.
	checkBytes = 16 << 20
	// queueRetry is the Retry-After while the queue of an account is full, and diskRetry
	// while its disk space is.
	queueRetry = 30 * time.Second
	diskRetry  = time.Minute
)

// An Upload is a job that is not queued yet. It ends with Submit or Discard.
type Upload struct {
	service   *Service
	account   string
	stage     *durable.Stage // nil until the first file
	sources   []store.BatchSource
	files     []contract.BatchFile // never nil
	bytes     int64                // of the files
	spaceLeft int64                // bytes that the account may still store
}

// NewUpload begins a job of an account.
func (s *Service) NewUpload(account string) *Upload {
	return &Upload{service: s, account: account, files: []contract.BatchFile{}}
}

// Add stores a file of the job, which has that name on the client's machine; it is not
// empty. Add reads from as it writes to the disk, and holds no more than a piece in memory.
// Errors of from are returned as they are.
func (u *Upload) Add(ctx context.Context, name, contentType string, from io.Reader) error {
	if len(u.sources) == contract.MaxBatchSources {
		return tooManySources("file", contract.MaxBatchSources+1)
	}
	if err := u.begin(ctx); err != nil {
		return err
	}
	path := folder(u.stage.Path).source(len(u.sources))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, w := md5.New(), durable.NewWriter(f)
	for done := false; !done; {
		if err := u.checkSpace(); err != nil {
			return err
		}
		n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(from, checkBytes))
		u.grow(n)
		if err != nil {
			return err
		}
		if most := u.service.Settings.MaxUpload; most > 0 && u.bytes > most {
			return contract.ErrTooLarge{Limit: most, What: "the files of the job (batch.max_upload) are"}
		}
		done = n < checkBytes
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	u.files = append(u.files, contract.BatchFile{
		Filename:    name,
		ContentType: contentType,
		MD5Sum:      hex.EncodeToString(sum.Sum(nil)),
	})
	u.sources = append(u.sources, store.BatchSource{
		Kind:        store.BatchFile,
		Name:        name,
		ContentType: contentType,
		MD5:         hex.EncodeToString(sum.Sum(nil)),
	})
	return nil
}

// begin creates the folder of the job, and measures what the account stores already.
func (u *Upload) begin(ctx context.Context) error {
	if u.stage != nil {
		return nil
	}
	s := u.service
	if err := os.MkdirAll(s.root(), 0o700); err != nil {
		return err
	}
	spaceLeft, err := s.spaceLeft(ctx, u.account)
	if err != nil {
		return err
	}
	u.spaceLeft = spaceLeft
	stage, err := durable.NewStage(s.root(), uploadPrefix)
	if err != nil {
		return err
	}
	u.stage = stage
	return os.Mkdir(folder(stage.Path).sources(), 0o700)
}

// grow counts n more bytes of the upload.
func (u *Upload) grow(n int64) {
	u.bytes += n
	s := u.service
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uploading[u.account] += n; s.uploading[u.account] == 0 {
		delete(s.uploading, u.account)
	}
}

// checkSpace returns an error if the account or the disk has no space for more.
func (u *Upload) checkSpace() error {
	s := u.service
	s.mu.Lock()
	uploading := s.uploading[u.account]
	s.mu.Unlock()
	if uploading > u.spaceLeft {
		return errAccountFull(s.Settings.DiskPerAccount)
	}
	free, err := disk.Free(s.root())
	if err != nil || free >= disk.Spare {
		return err
	}
	return contract.ErrFull{What: "the disk of the box is full", RetryAfter: diskRetry}
}

func errAccountFull(limit int64) error {
	return contract.ErrFull{
		What: fmt.Sprintf("this account may store at most %.1f MB on this box; delete chat groups or jobs, or have "+
			"the operator raise limits.disk_per_account", float64(limit)/1e6),
		RetryAfter: diskRetry,
	}
}

// spaceLeft returns how many more bytes an account may store, without its uploads.
func (s *Service) spaceLeft(ctx context.Context, account string) (int64, error) {
	if s.Settings.DiskPerAccount == 0 {
		return 1 << 62, nil
	}
	usage, err := s.Records.Usage(ctx, account)
	return max(0, s.Settings.DiskPerAccount-usage.Total()), err
}

// Submit puts the job into the queue and returns its id.
func (u *Upload) Submit(ctx context.Context, p contract.PostedBatchJob) (jobID string, err error) {
	defer u.Discard()
	n, err := u.newJob(p)
	if err != nil {
		return "", err
	}
	s := u.service
	if err := u.place(s.folder(n.ID)); err != nil {
		return "", err
	}
	switch err := s.Records.AddBatchJob(ctx, n, s.Settings.MaxQueued); {
	case errors.Is(err, store.ErrQueueFull):
		return "", errors.Join(contract.ErrTooMany{
			What: fmt.Sprintf("%d jobs of this account wait or run, which is the most allowed (batch.max_queued)",
				s.Settings.MaxQueued),
			RetryAfter: queueRetry,
		}, os.RemoveAll(string(s.folder(n.ID))))
	case err != nil:
		return "", errors.Join(err, os.RemoveAll(string(s.folder(n.ID))))
	}
	s.notify()
	return n.ID, nil
}

// newJob returns the row of the job.
func (u *Upload) newJob(p contract.PostedBatchJob) (n store.NewBatchJob, err error) {
	for _, url := range p.URLs {
		u.sources = append(u.sources, store.BatchSource{Kind: store.BatchURL, Name: url})
	}
	texts := 0
	for _, text := range p.Text {
		u.sources = append(u.sources, store.BatchSource{Kind: store.BatchText})
		texts += len(text)
	}
	switch {
	case len(u.sources) == 0:
		return n, contract.ErrInvalid{Field: "body", Why: "there is nothing to analyse; send urls or text in the " +
			"JSON, or files as the parts file of a multipart/form-data with the JSON in its part json"}
	case len(u.sources) > contract.MaxBatchSources:
		return n, tooManySources("urls", len(u.sources))
	case texts > maxTextBytes:
		return n, contract.ErrTooLarge{Limit: maxTextBytes, What: "the texts of the job are"}
	}
	request, err := contract.Marshal(contract.BatchRequest{PostedBatchJob: p, Files: u.files})
	return store.NewBatchJob{
		ID:        contract.NewID(),
		AccountID: u.account,
		Request:   string(request),
		CreatedMS: time.Now().UnixMilli(),
		FileBytes: u.bytes,
		Sources:   u.sources,
	}, err
}

func tooManySources(field string, got int) error {
	return contract.ErrInvalid{
		Field: field,
		Why: fmt.Sprintf("%d files, URLs and texts; at most %d are allowed in one job; send an archive instead", got,
			contract.MaxBatchSources),
	}
}

// place moves the files of the upload to the folder of the job.
func (u *Upload) place(to folder) error {
	if u.stage == nil {
		return nil
	}
	now := time.Now() // a folder without a job that is older than an hour is removed
	err := errors.Join(durable.SyncFolder(folder(u.stage.Path).sources()), durable.SyncFolder(u.stage.Path),
		os.Chtimes(u.stage.Path, now, now))
	if err != nil {
		return err
	}
	if err := os.Rename(u.stage.Path, string(to)); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(string(to)))
}

// Discard deletes what was uploaded. After Submit it does nothing.
func (u *Upload) Discard() {
	if u.stage == nil {
		return
	}
	if err := u.stage.Remove(); err != nil {
		u.service.Log.Warn("cannot delete an upload", "err", err)
	}
	u.stage = nil
	u.grow(-u.bytes)
}
