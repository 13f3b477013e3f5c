package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Bytes reads one size, such as MemTotal or VmRSS, from a file of the kernel's that
// has them in kB, one a line: /proc/meminfo, /proc/self/status. It is 0 where the
// file or the size is not there.
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

// Number reads a file of the kernel's that has nothing but a number, such as a limit of
// the container: /sys/fs/cgroup/memory.max.
func Number(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
