package store

import (
	"log/slog"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// notifier wakes one goroutine of the box when there is something new in the database:
// webhooks to send, changed plugins, revoked keys. Within the process it is a channel.
// Another process that has the folder open writes to a file that the box watches with
// inotify, so that the box need not poll.
type notifier struct {
	file    string
	wake    chan struct{} // holds one value; nil in a store opened with Join
	watch   *os.File      // nil if the file cannot be watched
	stopped sync.WaitGroup
}

// newNotifier returns the notifier of the box that serves the folder. what names, for the
// log, what other processes notify it of.
func newNotifier(file, what string, log *slog.Logger) *notifier {
	b := &notifier{file: file, wake: make(chan struct{}, 1)}
	if err := b.watchFile(); err != nil {
		log.Warn("other processes cannot notify the box of "+what+"; it finds them later", "err", err)
		return b
	}
	b.stopped.Go(b.listen)
	return b
}

// makeFile creates the file if it does not exist.
func (b *notifier) makeFile() error {
	f, err := os.OpenFile(b.file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (b *notifier) watchFile() error {
	if err := b.makeFile(); err != nil {
		return err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return os.NewSyscallError("inotify_init1", err)
	}
	b.watch = os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, b.file, unix.IN_CLOSE_WRITE); err != nil {
		_ = b.watch.Close()
		b.watch = nil
		return os.NewSyscallError("inotify_add_watch", err)
	}
	return nil
}

// listen notifies for every write to the file, until the watch is closed.
func (b *notifier) listen() {
	var seen [4096]byte // room for many events
	for {
		if _, err := b.watch.Read(seen[:]); err != nil {
			return
		}
		b.notify()
	}
}

// notify wakes the receiver and never blocks. If no box runs, nothing receives it, and
// the next start looks by itself.
func (b *notifier) notify() {
	if b.wake != nil {
		select {
		case b.wake <- struct{}{}:
		default:
		}
		return
	}
	if f, err := os.OpenFile(b.file, os.O_WRONLY, 0); err == nil {
		_ = f.Close() // the event that the box watches for
	}
}

func (b *notifier) close() {
	if b.watch != nil {
		_ = b.watch.Close()
	}
	b.stopped.Wait()
}
