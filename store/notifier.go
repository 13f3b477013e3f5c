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
func (n *notifier) makeFile() error {
	f, err := os.OpenFile(n.file, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (n *notifier) watchFile() error {
	if err := n.makeFile(); err != nil {
		return err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return os.NewSyscallError("inotify_init1", err)
	}
	n.watch = os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, n.file, unix.IN_CLOSE_WRITE); err != nil {
		_ = n.watch.Close()
		n.watch = nil
		return os.NewSyscallError("inotify_add_watch", err)
	}
	return nil
}

// listen notifies for every write to the file, until the watch is closed.
func (n *notifier) listen() {
	var seen [4096]byte // room for many events
	for {
		if _, err := n.watch.Read(seen[:]); err != nil {
			return
		}
		n.notify()
	}
}

// notify wakes the receiver and never blocks. If no box runs, nothing receives it, and
// the next start looks by itself.
func (n *notifier) notify() {
	if n.wake != nil {
		select {
		case n.wake <- struct{}{}:
		default:
		}
		return
	}
	if f, err := os.OpenFile(n.file, os.O_WRONLY, 0); err == nil {
		_ = f.Close() // the event that the box watches for
	}
}

func (n *notifier) close() {
	if n.watch != nil {
		_ = n.watch.Close()
	}
	n.stopped.Wait()
}
