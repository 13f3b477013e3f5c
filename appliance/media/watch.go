package media

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// stallCPU is the processor time that ffmpeg may take without any output. It is not a time by
	// the clock: while conversations use the cores, ffmpeg waits.
	stallCPU = 30 * time.Second
	// stallSilence is how long it may neither compute nor write while its output is waited for.
	// Even when all cores are busy it computes some hundredths of a second in that time.
	stallSilence = 5 * time.Minute
	// stallCheck is how often both are checked.
	stallCheck = time.Second
)

// stallWatch ends a program that computes without output, or sleeps.
type stallWatch struct {
	cancel  context.CancelCauseFunc
	busy    time.Duration // of processor time
	silence time.Duration // by the clock

	pid     atomic.Int64 // 0: it does not run
	bytes   atomic.Int64 // of output
	reading atomic.Int32 // readers that wait for output
}

func (w *stallWatch) run(ctx context.Context) {
	tick := time.NewTicker(stallCheck)
	defer tick.Stop()
	var (
		bytes      int64
		progressed time.Duration // processor time when the output last grew
		last       time.Duration // processor time at the last tick
		awake      = time.Now()  // when it last computed, wrote, or was not waited for
	)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		cpu, err := cpuOf(w.pid.Load())
		if err != nil { // it has not started yet, or has ended
			continue
		}
		if cpu != last || w.reading.Load() == 0 || w.bytes.Load() != bytes {
			awake = time.Now()
		}
		if n := w.bytes.Load(); n != bytes {
			bytes, progressed = n, cpu
		}
		last = cpu
		switch {
		case cpu-progressed >= w.busy:
			w.cancel(faultf("the file could not be decoded: a decoder computed for %v without a result", w.busy))
		case time.Since(awake) >= w.silence:
			w.cancel(faultf("the file could not be decoded: a decoder did nothing for %v", w.silence))
		}
	}
}

// cpuOf returns the processor time that a process has used.
func cpuOf(pid int64) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // its name is in parentheses
	fields := strings.Fields(rest)
	const user, system, perSecond = 11, 12, 100 // fields after the name; USER_HZ, the same on all Linux
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, stat)
	}
	var ticks, more int64
	if _, err := fmt.Sscan(fields[user]+" "+fields[system], &ticks, &more); err != nil {
		return 0, err
	}
	return time.Duration(ticks+more) * time.Second / perSecond, nil
}

// progressReader tells the watch what was read, and that it is waited for.
type progressReader struct {
	io.Reader
	watch *stallWatch
}

func (r *progressReader) Read(b []byte) (int, error) {
	r.watch.reading.Add(1)
	n, err := r.Reader.Read(b)
	r.watch.reading.Add(-1)
	r.watch.bytes.Add(int64(n))
	return n, err
}
