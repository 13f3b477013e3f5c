package soundcard

import (
	"sync"

	"golang.org/x/sys/unix"
)

// realtimeThread gives the thread of a device real-time priority, without passing it on to the
// threads and processes that it starts. Otherwise a thread that the Go runtime creates during a
// callback would keep the priority for ever, with whatever runs on it, and so would each
// process that it starts: engines that take the cores from everything else.
type realtimeThread struct{ once sync.Once }

// realtimePriority is the lowest real-time priority: the sound server, which has to play the
// box's sound, takes precedence.
const realtimePriority = 1

// raise must be called first in each callback of the device. Without the permission, the thread
// keeps its normal priority.
func (t *realtimeThread) raise() {
	t.once.Do(func() {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{
			Size:     unix.SizeofSchedAttr,
			Policy:   unix.SCHED_FIFO,
			Priority: realtimePriority,
			Flags:    unix.SCHED_FLAG_RESET_ON_FORK,
		}, 0)
	})
}
