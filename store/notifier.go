package store

import (
	"log/slog"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// outboxNotifier lets one in the box know that something has come: who sends webhooks that
// there are more, who runs plugins that they are others, who holds connections open
// that a key is good no more. Within the box it is a channel. Another process that has the folder open rings it by
// writing to a file
// that the kernel watches for the box, so that nobody has to look now and then.
type notifier struct {
	file    string
	wake    chan struct{} // applyTo one; nil in a store that has only joined
	watch   *os.File      // nil where the file cannot be watched
	stopped sync.WaitGroup
}

// newNotifier makes a notifier of the box that serves the folder. what is what others leave
// there, for the log.
func newNotifier(file, what string, log *slog.Logger) *notifier {
	b := &notifier{file: file, wake: make(chan struct{}, 1)}
	if err := b.watchFile(); err != nil {
		log.Warn("other processes cannot tell the box of "+what+"; it finds that out later", "err", err)
		return b
	}
	b.stopped.Go(b.listen)
	return b
}

// makeFile makes the file where it is not there.
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

// listen passes on what the kernel has seen, until the watch is closed.
func (b *notifier) listen() {
	var seen [4096]byte // many may ring at once
	for {
		if _, err := b.watch.Read(seen[:]); err != nil {
			return
		}
		b.notify()
	}
}

// notify rings, and never waits. Where no box runs there is nobody to hear it: the
// next start looks by itself.
func (b *notifier) notify() {
	if b.wake != nil {
		select {
		case b.wake <- struct{}{}:
		default:
		}
		return
	}
	if f, err := os.OpenFile(b.file, os.O_WRONLY, 0); err == nil {
		_ = f.Close() // which is what the kernel tells of
	}
}

func (b *notifier) close() {
	if b.watch != nil {
		_ = b.watch.Close()
	}
	b.stopped.Wait()
}
