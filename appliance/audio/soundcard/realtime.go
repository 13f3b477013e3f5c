package soundcard

import (
	"sync"

	"golang.org/x/sys/unix"
)

// realtimeThread is the thread that a device calls from: it goes before all that computes,
// and nothing that it starts does. A thread of the runtime that is made while the
// device is served would otherwise be as urgent for ever, with whatever runs on it,
// and so would each process that it starts: engines that keep the cores from all.
type realtimeThread struct{ once sync.Once }

// realtimePriority is the lowest that goes before ordinary threads: the sound server,
// which has to play what is made here, comes first.
const realtimePriority = 1

// raise is to be called first by each call of the device. Where the user may not
// have such threads, the device's goes among the others.
func (u *realtimeThread) raise() {
	u.once.Do(func() {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{
			Size:     unix.SizeofSchedAttr,
			Policy:   unix.SCHED_FIFO,
			Priority: realtimePriority,
			Flags:    unix.SCHED_FLAG_RESET_ON_FORK,
		}, 0)
	})
}
