package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// memory adds what a process holds of the machine's memory: now, at most so
// far, and how much of it is the process's own and no file's (the weights of a
// language model are a file's pages).
func (r *Report) memory(pid int, limitGiB float64) {
	status := "/proc/" + strconv.Itoa(pid) + "/status"
	const perGiB = 1 << 20 // kB
	peak := kilobytes(status, "VmHWM") / perGiB
	r.figure("memory", kilobytes(status, "VmRSS")/perGiB, "GiB", "resident at the end")
	r.figure("memory_own", kilobytes(status, "RssAnon")/perGiB, "GiB", "of it, no file's pages")
	if limitGiB > 0 {
		r.against("memory_peak", peak, "GiB", limitGiB, "the profile's limit")
	} else {
		r.figure("memory_peak", peak, "GiB", "")
	}
}

// self is this process.
func self() int { return os.Getpid() }

// cpuTime is how long a process has used cores, all its threads together.
func cpuTime(pid int) (time.Duration, error) {
	// The clock of a process by its number, as clock_getcpuclockid(3) makes
	// it; /proc/PID/stat counts in steps of 10 ms, too coarse for an idle box.
	const schedulerClock = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedulerClock), &t); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// cpuShare is the share of one core that a process uses over d.
func cpuShare(ctx context.Context, pid int, d time.Duration) (float64, error) {
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := sleep(ctx, d); err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	return float64(after-before) / float64(time.Since(begun)), err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
