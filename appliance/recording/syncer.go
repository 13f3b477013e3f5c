package recording

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// syncEvery is how often recordings are synced to the disk. Each sync makes a flash card
// write some pages of 4 KiB for a few bytes, so it is as rare as it can be: a pulled plug
// may cost a second, but not a sentence.
const syncEvery = time.Second

// Syncer syncs the recordings of all chats to the disk together: once a second, the files
// that were written to. While nothing is written, it does nothing.
type Syncer struct {
	every time.Duration
	sync  func(*os.File) error

	mu      sync.Mutex
	changed map[*syncedFile]bool
	due     bool // a round is scheduled or running
}

// NewSyncer returns a Syncer.
func NewSyncer() *Syncer {
	return &Syncer{every: syncEvery, sync: fdatasync, changed: map[*syncedFile]bool{}}
}

// open returns a file that the syncer syncs.
func (s *Syncer) open(f *os.File) *syncedFile { return &syncedFile{file: f, syncer: s} }

// markChanged schedules a sync of f.
func (s *Syncer) markChanged(f *syncedFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[f] = true
	if !s.due {
		s.due = true
		time.AfterFunc(s.every, s.round)
	}
}

// forget cancels the sync of f.
func (s *Syncer) forget(f *syncedFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changed, f)
}

// round syncs the files that changed since the last round. It first starts the writing of
// all files and then waits for each, so that they share one commit of the file system's
// journal.
func (s *Syncer) round() {
	s.mu.Lock()
	files := s.changed
	s.changed = map[*syncedFile]bool{}
	s.mu.Unlock()
	for f := range files {
		// This only starts the writing. If it fails, the sync does all of it.
		_ = control(f.file, func(fd int) error { return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) })
	}
	for f := range files {
		if err := s.sync(f.file); err != nil && !errors.Is(err, os.ErrClosed) { // Close has synced it
			f.failed.CompareAndSwap(nil, &err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due = len(s.changed) > 0; s.due {
		time.AfterFunc(s.every, s.round)
	}
}

// syncedFile is a file that a Syncer syncs.
type syncedFile struct {
	file   *os.File
	syncer *Syncer
	failed atomic.Pointer[error] // error of a round; what that lost stays lost
}

// Write writes p. Its error may be that of an earlier sync.
func (f *syncedFile) Write(p []byte) (int, error) {
	if err := f.failed.Load(); err != nil {
		return 0, *err
	}
	n, err := f.file.Write(p)
	if n > 0 {
		f.syncer.markChanged(f)
	}
	return n, err
}

// Close syncs the file, and closes it.
func (f *syncedFile) Close() error {
	f.syncer.forget(f)
	var err error
	if failed := f.failed.Load(); failed != nil {
		err = *failed
	}
	return errors.Join(err, f.syncer.sync(f.file), f.file.Close())
}

// fdatasync syncs the data of f, and the metadata that reading them needs.
func fdatasync(f *os.File) error { return control(f, unix.Fdatasync) }

// control calls a system function on f, which stays open meanwhile.
func control(f *os.File, call func(fd int) error) (err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	closed := raw.Control(func(fd uintptr) {
		for err = unix.EINTR; err == unix.EINTR; {
			err = call(int(fd))
		}
	})
	return errors.Join(err, closed)
}
