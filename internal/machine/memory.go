package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Bytes reads one size, such as MemTotal or VmRSS, from a kernel file that lists sizes in
// kB: /proc/meminfo, /proc/self/status. It returns 0 if the file or the size does not
// exist.
func Bytes(file, name string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 0
}

// Number reads a kernel file that contains only a number, such as a limit of the
// container: /sys/fs/cgroup/memory.max.
func Number(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// Memory is how much memory there is, in bytes. A figure that the kernel does not
// report is 0.
type Memory struct {
	Resident  int64 // of this process
	Available int64 // to programs, without swapping
	Total     int64
}

// ReadMemory returns the memory of the machine as the kernel reports it.
func ReadMemory() Memory {
	return Memory{
		Resident:  Bytes("/proc/self/status", "VmRSS"),
		Available: Bytes("/proc/meminfo", "MemAvailable"),
		Total:     Bytes("/proc/meminfo", "MemTotal"),
	}
}

// ProcessSeconds returns how many seconds of CPU time this process has used, and 0
// if the kernel does not report that.
func ProcessSeconds() float64 {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// Load returns how many cores were busy or asked for on average in the last minute, and 0 if
// the kernel does not report that.
func Load() float64 {
	var load float64
	_, _ = fmt.Sscan(firstLine("/proc/loadavg"), &load) // without the file it stays 0
	return load
}
