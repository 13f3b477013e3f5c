// Package isolate runs code that parses untrusted input in a process without privileges:
// C libraries, which a crafted file or text may crash, hang or take over. The process
// runs this program again. It opens the libraries it needs, drops all privileges, and
// then answers requests over two pipes. A fault affects only that process. RunProgram does the
// same with another program: this program drops all privileges and becomes it.
package isolate

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Limits of the process once its libraries are open. The filter refuses the system calls
// that could raise them again.
const (
	// extraMemory is what the process may map beyond what it has then (1.5 GiB, nearly
	// all of it reserved by the Go runtime and never touched). eSpeak NG mapped 5 MiB
	// more over 22,000 clauses of all scripts, a decoder less; the rest is for Go's heap,
	// which grows by 64 MiB at a time.
	extraMemory = 192 << 20
	// cpuSeconds is for the life of the process: three million clauses, or 50 hours of
	// AAC. It stops a process that runs wild when its parent cannot kill it, and a file
	// that takes the longest time allowed again and again.
	cpuSeconds = 600
	// openFiles is for its pipes, the files of the Go runtime, and the few files that
	// eSpeak NG opens for a language.
	openFiles = 32
)

// dropPrivileges gives up what answering requests does not need, for all threads:
// capabilities, files except those below readable (if not empty), which can only be read,
// processes, sockets, and unlimited memory and time. It is called when the libraries are
// open. lacks names the protections that this kernel does not have, for the log.
//
// The number of processes is not limited by RLIMIT_NPROC, which counts all processes of
// the same user; the filter refuses new ones instead.
func dropPrivileges(readable string) (lacks []string, err error) {
	mapped, err := mappedBytes()
	if err != nil {
		return nil, err
	}
	if err := limit(mapped+extraMemory, cpuSeconds); err != nil {
		return nil, err
	}
	rules := []landlock.Rule{}
	if readable != "" {
		rules = append(rules, landlock.RODirs(readable))
	}
	return confine(rules, allowances(readable != "", uint32(os.Getpid())))
}

// confine drops all capabilities, and leaves the process the files of rules and the allowed
// system calls.
func confine(rules []landlock.Rule, allowed []allowance) (lacks []string, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return nil, err
	}
	// As much of Landlock as the kernel has (version 1 came with Linux 5.13).
	_, err = landlockVersion()
	if err == nil {
		err = landlock.V7.BestEffort().Restrict(rules...)
	}
	if err != nil {
		lacks = append(lacks, fmt.Sprintf("Landlock (%v): it can read the files that the box can read", err))
	}
	if err := filterCalls(allowed); err != nil {
		lacks = append(lacks, fmt.Sprintf("seccomp filters (%v): it can open sockets and start programs", err))
	}
	return lacks, nil
}

// limit sets the resource limits of the process: bytes of address space, and seconds of
// processor time.
func limit(memory, cpu uint64) error {
	for _, l := range []struct {
		name  string
		which int
		most  uint64
	}{
		{"memory", unix.RLIMIT_AS, memory},
		{"processor time", unix.RLIMIT_CPU, cpu},
		{"open files", unix.RLIMIT_NOFILE, openFiles},
		{"size of files", unix.RLIMIT_FSIZE, 0},
		{"core dumps", unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit of %s: %w", l.name, err)
		}
	}
	return nil
}

// dropCapabilities drops the capabilities of a process of root. Each thread has its own,
// so psx makes the call on all of them.
func dropCapabilities() error {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := &[2]unix.CapUserData{} // 64 bits in two halves
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(header)
	pins.Pin(none)
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(header)), uintptr(unsafe.Pointer(none)), 0)
	if errno != 0 {
		return fmt.Errorf("no capabilities: %w", errno)
	}
	return nil
}

// mappedBytes returns how much memory this process has mapped, used or not.
func mappedBytes() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return pages * uint64(os.Getpagesize()), nil
}

// landlockVersion returns the version of Landlock that the kernel has enabled.
func landlockVersion() (int, error) {
	const createRulesetVersion = 1 // LANDLOCK_CREATE_RULESET_VERSION
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, createRulesetVersion)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}
