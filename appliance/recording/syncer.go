package recording

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// syncEvery is how often the disk is asked to keep what was recorded. Each time
// a flash card writes some pages of 4 KiB for what was a few bytes, so it is as
// seldom as can be: a pulled plug may take a second, not a sentence.
const syncEvery = time.Second

// A Syncer has the disk keep what is recorded, of all chats together: once a
// second those files to which something was written. While nothing is, it does
// nothing.
type Syncer struct {
	every time.Duration
	sync  func(*os.File) error

	mu      sync.Mutex
	changed map[*syncedFile]bool
	due     bool // a round will come, or goes on
}

// NewSyncer returns a Syncer.
func NewSyncer() *Syncer {
	return &Syncer{every: syncEvery, sync: fdatasync, changed: map[*syncedFile]bool{}}
}

// open has the syncer look after a file.
func (s *Syncer) open(f *os.File) *syncedFile { return &syncedFile{file: f, syncer: s} }

// markChanged says that f has changed.
func (s *Syncer) markChanged(f *syncedFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[f] = true
	if !s.due {
		s.due = true
		time.AfterFunc(s.every, s.round)
	}
}

// forget says that nobody need sync f any more.
func (s *Syncer) forget(f *syncedFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changed, f)
}

// round syncs what has changed since the last one. First all of it is handed to
// the disk and then each file is waited for, so that they share one commit of
// the file system's journal.
func (s *Syncer) round() {
	s.mu.Lock()
	files := s.changed
	s.changed = map[*syncedFile]bool{}
	s.mu.Unlock()
	for f := range files {
		// It only begins to write. Where it cannot, the sync does it all.
		_ = control(f.file, func(fd int) error { return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) })
	}
	for f := range files {
		if err := s.sync(f.file); err != nil && !errors.Is(err, os.ErrClosed) { // closed since, and synced then
			f.failed.CompareAndSwap(nil, &err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due = len(s.changed) > 0; s.due {
		time.AfterFunc(s.every, s.round)
	}
}

// syncedFile is a file that a Syncer looks after.
type syncedFile struct {
	file   *os.File
	syncer *Syncer
	failed atomic.Pointer[error] // of a round; what it lost stays lost
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

// Close has the disk keep the file, and closes it.
func (f *syncedFile) Close() error {
	f.syncer.forget(f)
	var err error
	if failed := f.failed.Load(); failed != nil {
		err = *failed
	}
	return errors.Join(err, f.syncer.sync(f.file), f.file.Close())
}

// fdatasync has the disk keep the data of f, and as much of its metadata as it
// takes to read them.
func fdatasync(f *os.File) error { return control(f, unix.Fdatasync) }

// control calls a system function on f, which nobody closes meanwhile.
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
