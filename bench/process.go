package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// memory adds the memory of a process: present, peak, and the part that is not file pages
// (the weights of a language model are).
func (r *Report) memory(pid int, limitGiB float64) {
	status := "/proc/" + strconv.Itoa(pid) + "/status"
	const perGiB = 1 << 20 // kB
	peak := kilobytes(status, "VmHWM") / perGiB
	r.figure("memory", kilobytes(status, "VmRSS")/perGiB, "GiB", "resident at the end")
	r.figure("memory_own", kilobytes(status, "RssAnon")/perGiB, "GiB", "of it, without file pages")
	if limitGiB > 0 {
		r.against("memory_peak", peak, "GiB", limitGiB, "the profile's limit")
	} else {
		r.figure("memory_peak", peak, "GiB", "")
	}
}

// self returns the id of this process.
func self() int { return os.Getpid() }

// cpuTime returns the processor time of a process, over all its threads.
func cpuTime(pid int) (time.Duration, error) {
	// The id of a process's clock, computed as clock_getcpuclockid(3) does; /proc/PID/stat
	// counts in steps of 10 ms, too coarse for an idle box.
	const schedulerClock = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedulerClock), &t); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// cpuShare returns the share of one core that a process uses over d.
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
