// Package sound keeps the sound of approved answers on the disk. It is made before it is needed, so that it can
// be played at once, whoever else speaks on the box.
package sound

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"parley/appliance/engine"
	"parley/internal/disk"
	"parley/internal/durable"
)

const (
	// DefaultLimit is the disk space of stored sound: 75 minutes at 22,050 Hz, about five hundred answers of two
	// sentences. A larger config speaks the rest of its answers as they come. More of a small disk is better left to
	// recordings.
	DefaultLimit = 200 << 20
	// unusedFor is how long sound is stored that belongs to the newest version of no config and that no chat plays.
	// A chat may go on for hours with an older version, and apps may ask for one by its number.
	unusedFor = 24 * time.Hour
	// touchEvery is how old the recorded time of a file's last use may become, so that a flash card is not written
	// to for each sentence that is played.
	touchEvery = time.Hour
	// pendingSpeeches is how many speeches may wait to be written, 0.4 MB each: more than a slow disk leaves over
	// when a few chats speak at once. Further ones are not stored, but made ahead again later.
	pendingSpeeches = 16
	// maxSamples bounds a speech: a sentence of an answer's 1,000 characters lasts about 70 s.
	maxSamples = 120 * maxRateHz

	fileSuffix = ".pcm"
)

// errDiskFull reports that the disk has no space for stored sound.
var errDiskFull = errors.New("the disk is full")

// Store keeps the sound of sentences in a folder, each in a file. The least recently used sound is deleted when
// there is too much. Sound that cannot be loaded is synthesised again, so what goes wrong is only logged. A Store is
// safe for concurrent use.
type Store struct {
	dir     string
	limit   int64
	log     *slog.Logger
	free    func(dir string) (int64, error) // the free space of a disk
	pending chan savedSpeech

	mu    sync.Mutex
	files map[key]file
	bytes int64
}

// file describes the file of a speech.
type file struct {
	bytes   int64
	used    time.Time
	touched time.Time // the time of the last use as the file has it
}

// savedSpeech is a speech that waits to be written.
type savedSpeech struct {
	key    key
	speech engine.Speech
}

// Open returns the Store in the folder dir, which is created with the first sound. It stores at most limit bytes.
func Open(dir string, limit int64, log *slog.Logger) *Store {
	s := &Store{
		dir:     dir,
		limit:   limit,
		log:     log,
		free:    disk.Free,
		pending: make(chan savedSpeech, pendingSpeeches),
		files:   map[key]file{},
	}
	if err := s.scan(); err != nil {
		log.Warn("cannot list the stored sound of approved answers; it is made again", "err", err)
	}
	return s
}

// scan lists the stored sound. durable.Create removes unfinished files of the same name; scan removes those of
// names that are not written again.
func (s *Store) scan() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		k, ok := keyOfName(e.Name())
		if !ok {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // of a write that a crash ended
			continue
		}
		s.files[k] = file{info.Size(), info.ModTime(), info.ModTime()}
		s.bytes += info.Size()
	}
	s.evictFor(0)
	return err
}

func keyOfName(name string) (k key, ok bool) {
	if len(name) != 2*len(k)+len(fileSuffix) || name[2*len(k):] != fileSuffix {
		return k, false
	}
	n, err := hex.Decode(k[:], []byte(name[:2*len(k)]))
	return k, err == nil && n == len(k)
}

func (s *Store) path(k key) string { return filepath.Join(s.dir, k.String()+fileSuffix) }

// has reports whether there is the sound of a key, and its size, and notes that it is in use.
func (s *Store) has(k key) (bytes int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[k]
	if ok {
		f.used = time.Now()
		s.files[k] = f
	}
	return f.bytes, ok
}

// load returns the sound of a key, and false if there is none. A damaged file is deleted.
func (s *Store) load(k key) (engine.Speech, bool) {
	if _, ok := s.has(k); !ok {
		return engine.Speech{}, false
	}
	content, err := os.ReadFile(s.path(k))
	var speech engine.Speech
	if err == nil {
		speech, err = decode(content)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // otherwise it was deleted at this moment
			s.log.Warn("cannot read the stored sound of an approved answer; it is made again", "file", s.path(k),
				"err", err)
		}
		s.remove(k)
		return speech, false
	}
	s.touch(k)
	return speech, true
}

// touch records the time of the last use in the file, so that it outlives a restart.
func (s *Store) touch(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[k]
	if !ok || f.used.Sub(f.touched) < touchEvery {
		return
	}
	f.touched = f.used
	s.files[k] = f
	_ = os.Chtimes(s.path(k), f.used, f.used) // a failure only shortens its life
}

// save writes the sound of a key. Before, it deletes the least recently used sound beyond the limit. If the disk
// is full the error is errDiskFull.
func (s *Store) save(k key, speech engine.Speech) error {
	if speech.RateHz > maxRateHz || len(speech.PCM) == 0 || len(speech.PCM) > maxSamples {
		return fmt.Errorf("%d samples at %d Hz cannot be stored", len(speech.PCM), speech.RateHz)
	}
	size := fileSize(len(speech.PCM))
	if size > s.limit {
		return fmt.Errorf("sound of %d bytes is more than the %d bytes that are stored", size, s.limit)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	free, err := s.free(s.dir)
	if err != nil {
		return err
	}
	if free < size+disk.Spare {
		return fmt.Errorf("%w: %d MB are free", errDiskFull, free/1e6)
	}
	s.mu.Lock()
	s.evictFor(size - s.files[k].bytes)
	s.mu.Unlock()
	if err := durable.WriteFile(s.path(k), encode(speech), 0o600); err != nil {
		return err
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += size - s.files[k].bytes
	s.files[k] = file{size, now, now}
	return nil
}

// evictFor deletes the least recently used sound until there is space for this many bytes more. The caller holds
// the lock, except in Open.
func (s *Store) evictFor(bytes int64) {
	for s.bytes+bytes > s.limit && len(s.files) > 0 {
		var oldest key
		first := true
		for k, f := range s.files {
			if first || f.used.Before(s.files[oldest].used) {
				oldest, first = k, false
			}
		}
		s.drop(oldest)
	}
}

// remove deletes the sound of a key.
func (s *Store) remove(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(k)
}

func (s *Store) drop(k key) {
	if err := os.Remove(s.path(k)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("cannot delete the stored sound of an approved answer", "err", err)
	}
	s.bytes -= s.files[k].bytes
	delete(s.files, k)
}

// sweep deletes the sound that is not wanted and that nobody has used since a moment. It returns how many were
// deleted.
func (s *Store) sweep(wanted map[key]bool, since time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, f := range s.files {
		if !wanted[k] && f.used.Before(since) {
			s.drop(k)
			n++
		}
	}
	return n
}

// saveLater has Write write a speech, so that the caller need not wait for the disk.
func (s *Store) saveLater(k key, speech engine.Speech) {
	select {
	case s.pending <- savedSpeech{k, speech}:
	default: // the disk is slow
	}
}

// Write writes what chats have spoken, until ctx ends.
func (s *Store) Write(ctx context.Context) {
	for {
		select {
		case p := <-s.pending:
			if err := s.save(p.key, p.speech); err != nil && !errors.Is(err, errDiskFull) {
				s.log.Warn("cannot store the sound of an approved answer", "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
