package soundcard

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// All threads of a box had inherited the priority of its microphone's thread, and took both
// cores while they computed: nothing else on the machine ran.
func TestRealtimePriorityIsNotInherited(t *testing.T) {
	runtime.LockOSThread() // for good: the thread ends with the test
	new(realtimeThread).raise()
	attributes, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if attributes.Policy != unix.SCHED_FIFO {
		t.Skip("this user may not have threads that go before others")
	}
	// A process that the thread starts reports its own policy: the 41st field (proc(5)).
	stat, err := exec.Command("cat", "/proc/self/stat").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if policy := fields[41-3]; policy != "0" {
		t.Errorf("a process that the thread of a device starts has the policy %s", policy)
	}
}
