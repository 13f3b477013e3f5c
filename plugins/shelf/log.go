package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxLogFile is how long a plugin's log grows before it is put aside; one that
// was put aside is kept. So a plugin has 2 MiB of its last words.
const maxLogFile = 1 << 20

// Line is a line of a plugin's log: what it wrote, and what went wrong with it.
type Line struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // trace, debug, info, warn or error
	Tool  string    `json:"tool,omitempty"`
	Chat  string    `json:"chat,omitempty"`
	Text  string    `json:"text"`
}

func (f folder) log(name string) string { return f.path(logFolder, name+".log") }

// logbook writes what one call says into the plugin's log. Several processes may
// write into one log: a line is one write to its end.
type logbook struct {
	folder folder
	plugin string
	mu     sync.Mutex
	file   *os.File
}

// add writes one line. A disk that takes none keeps no call from being answered.
func (b *logbook) add(l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		if b.file, err = b.folder.openLog(b.plugin); err != nil {
			return err
		}
	}
	_, err = b.file.Write(append(text, '\n'))
	return err
}

func (b *logbook) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != nil {
		_ = b.file.Close()
		b.file = nil
	}
}

// openLog opens a plugin's log for one more call. One that is too long is put
// aside first.
func (f folder) openLog(name string) (*os.File, error) {
	for range 3 { // others put it aside at the same time, and then it is short
		file, err := os.OpenFile(f.log(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(f.path(logFolder), 0o700); err == nil {
				err = errors.Join(f.own(f.path()), f.own(f.path(logFolder)))
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if info.Size() == 0 {
			if err := f.own(f.log(name)); err != nil {
				return nil, errors.Join(err, file.Close())
			}
		}
		if info.Size() < maxLogFile {
			return file, nil
		}
		err = f.putAside(name, file, info)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the log is put aside again and again")
}

// putAside renames a log that is too long, unless another process just did.
func (f folder) putAside(name string, file *os.File, info fs.FileInfo) error {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	there, err := os.Stat(f.log(name))
	if err != nil || !os.SameFile(info, there) {
		return nil
	}
	return os.Rename(f.log(name), f.log(name)+".1")
}

// dropLog removes what a plugin has said.
func (f folder) dropLog(name string) {
	for _, file := range []string{f.log(name), f.log(name) + ".1"} {
		_ = os.Remove(file)
	}
}

// Lines tells the newest lines of a plugin's log, at most so many, oldest first.
func (s *Shelf) Lines(ctx context.Context, name string, most int) ([]Line, error) {
	if _, err := s.Records.Plugin(ctx, name); err != nil {
		return nil, of(name, err)
	}
	var all []Line
	for _, file := range []string{s.folder.log(name) + ".1", s.folder.log(name)} {
		lines, err := readLines(file)
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all[max(0, len(all)-most):], nil
}

func readLines(file string) (all []Line, err error) {
	t := tail{file: file, tell: func(l Line) error {
		all = append(all, l)
		return nil
	}}
	if err := t.open(io.SeekStart); err != nil || t.f == nil {
		return nil, err
	}
	defer t.close()
	return all, t.read()
}

// readLine reads one line; half a one, which a crash left, is none.
func readLine(text []byte) (l Line, ok bool) {
	return l, json.Unmarshal(text, &l) == nil
}

// Follow tells the newest lines of a plugin's log, at most so many, and then what
// comes, line by line, until ctx ends, which is no error, or the plugin is gone,
// an ErrNotInstalled. The kernel says when there is more.
func (s *Shelf) Follow(ctx context.Context, name string, most int, tell func(Line) error) error {
	if _, err := s.Records.Plugin(ctx, name); err != nil {
		return of(name, err)
	}
	first, err := s.folder.openLog(name) // which makes it
	if err != nil {
		return err
	}
	if err := first.Close(); err != nil {
		return err
	}
	watch, err := watchFolder(s.folder.path(logFolder))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = watch.SetReadDeadline(time.Now()) })
	defer stop()
	defer watch.Close()
	t := tail{file: s.folder.log(name), tell: tell}
	defer t.close()
	if err := catchUp(most, &t); err != nil {
		return err
	}
	var seen [4096]byte
	for {
		if _, err := watch.Read(seen[:]); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := t.more(); err != nil {
			return err
		}
		if _, err := s.Records.Plugin(ctx, name); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return of(name, err)
		}
	}
}

// catchUp tells the newest lines, and leaves t where they end.
func catchUp(most int, t *tail) error {
	var newest []Line
	tell := t.tell
	t.tell = func(l Line) error {
		newest = append(newest, l)
		return nil
	}
	if err := t.open(io.SeekStart); err != nil {
		return err
	}
	if err := t.more(); err != nil {
		return err
	}
	t.tell = tell
	if len(newest) < most {
		older, err := readLines(t.file + ".1")
		if err != nil {
			return err
		}
		newest = append(older, newest...)
	}
	for _, l := range newest[max(0, len(newest)-most):] {
		if err := tell(l); err != nil {
			return err
		}
	}
	return nil
}

func watchFolder(dir string) (*os.File, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	watch := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir,
		unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_DELETE); err != nil {
		return nil, errors.Join(os.NewSyscallError("inotify_add_watch", err), watch.Close())
	}
	return watch, nil
}

// tail reads on in a log where it was, also when it was put aside in between.
type tail struct {
	file string
	tell func(Line) error
	f    *os.File
	part []byte // of a line that is not whole yet
}

func (t *tail) open(from int) error {
	f, err := os.Open(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.f, t.part = f, nil
	_, err = f.Seek(0, from)
	return err
}

func (t *tail) close() {
	if t.f != nil {
		_ = t.f.Close()
		t.f = nil
	}
}

// more tells the lines that have come.
func (t *tail) more() error {
	for {
		if t.f == nil {
			if err := t.open(io.SeekStart); err != nil || t.f == nil {
				return err
			}
		}
		if err := t.read(); err != nil {
			return err
		}
		open, err := t.f.Stat()
		if err != nil {
			return err
		}
		if there, err := os.Stat(t.file); err == nil && os.SameFile(open, there) {
			return nil
		}
		// What was written into the old one before the new one began is told, and
		// the new one from its beginning.
		if err := t.read(); err != nil {
			return err
		}
		t.close()
	}
}

func (t *tail) read() error {
	var b [32 << 10]byte
	for {
		n, err := t.f.Read(b[:])
		for _, c := range b[:n] {
			if c != '\n' {
				t.part = append(t.part, c)
				continue
			}
			if l, ok := readLine(t.part); ok {
				if err := t.tell(l); err != nil {
					return err
				}
			}
			t.part = t.part[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
