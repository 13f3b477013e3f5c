package espeak

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// What the process may use, once the library is open. The filter refuses the
// system calls that would raise these limits again.
const (
	// moreMemory is what it may map beyond what it has then (1.5 GiB, nearly all
	// of it reserved by the runtime of Go and never touched). Over 22,000
	// clauses of all scripts and a text of 20,000 words it mapped 5 MiB more;
	// the rest is room for Go's heap, which grows by 64 MiB at a time.
	moreMemory = 192 << 20
	// cpuSeconds is for all of its life: three million clauses. After it the
	// system ends it, and another is started. It is what stops a process that
	// runs wild when nobody is left to kill it.
	cpuSeconds = 600
	// openFiles holds its pipes, what the runtime of Go has open, and the few
	// files of a language.
	openFiles = 32
)

// enterCage gives up what turning words into phonemes does not need, for all
// threads: all files but those in dataDir, which can only be read, all
// processes, all sockets, and memory and time without end. It is called when
// the library is open. Lacks are the walls that this kernel does not have, in
// words for the log.
//
// The number of processes is not limited by RLIMIT_NPROC, which counts all
// that the same user has; the filter refuses new ones instead.
func enterCage(dataDir string) (lacks []string, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no new privileges: %w", err)
	}
	if err := limitItself(); err != nil {
		return nil, err
	}
	// Of what Landlock can do, as much as the kernel knows; version 1 came with
	// Linux 5.13. Nothing but reading below dataDir is allowed.
	rules := []landlock.Rule{}
	if dataDir != "" {
		rules = append(rules, landlock.RODirs(dataDir))
	}
	if _, err := landlockVersion(); err != nil {
		lacks = append(lacks, fmt.Sprintf("Landlock (%v): it can read the files that the box can read", err))
	} else if err := landlock.V7.BestEffort().Restrict(rules...); err != nil {
		lacks = append(lacks, fmt.Sprintf("Landlock (%v): it can read the files that the box can read", err))
	}
	if err := filterCalls(); err != nil {
		lacks = append(lacks, fmt.Sprintf("seccomp filters (%v): it can open sockets and start programs", err))
	}
	return lacks, nil
}

// limitItself sets the limits that the system keeps.
func limitItself() error {
	mapped, err := mappedBytes()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name  string
		which int
		most  uint64
	}{
		{"memory", unix.RLIMIT_AS, mapped + moreMemory},
		{"processor time", unix.RLIMIT_CPU, cpuSeconds},
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

// mappedBytes is how much memory this process has mapped, used or not.
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

// landlockVersion is the version of Landlock that the kernel has switched on.
func landlockVersion() (int, error) {
	const createRulesetVersion = 1 // LANDLOCK_CREATE_RULESET_VERSION
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, createRulesetVersion)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}
