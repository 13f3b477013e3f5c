//go:build amd64 || arm64

package isolate

import "golang.org/x/sys/unix"

// allowances returns all system calls that the process may make: those of the Go runtime
// and the C library while they compute, read one pipe and write the other. A list of
// refused calls would have to know all calls of every kernel; a call that a newer C
// library needs and that is missing here is found by the tests. If files is set, the
// process may also open the files that Landlock allows, for reading.
func allowances(files bool, pid uint32) []allowance {
	all := commonAllowances(files, pid)
	// Machine code is mapped by now.
	return append(all,
		allowance{unix.SYS_MMAP, []condition{lower(2, unix.PROT_EXEC, 0)}},
		allowance{unix.SYS_MPROTECT, []condition{lower(2, unix.PROT_EXEC, 0)}})
}

// programAllowances returns the system calls of a process that becomes another program, which
// computes: those of allowances, and what starting a program needs. execve gains nothing:
// Landlock lets it run only the same program, and all limits stay.
func programAllowances(pid uint32) []allowance {
	all := commonAllowances(true, pid)
	for _, c := range append(programCallsHere(),
		unix.SYS_EXECVE, unix.SYS_MMAP, unix.SYS_MPROTECT,
		// other ways to use files that are open
		unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_FADVISE64, unix.SYS_STATX, unix.SYS_DUP,
		unix.SYS_MLOCK, // libgcrypt locks a page
	) {
		all = append(all, allowance{call: c})
	}
	return all
}

// lower is a condition for the lower half of an argument.
func lower(argument int, mask uint32, is ...uint32) condition {
	return condition{argument, false, mask, is}
}

// commonAllowances returns the system calls that both kinds of process may make.
func commonAllowances(files bool, pid uint32) []allowance {
	calls := []uint32{
		// its pipes, and what the runtime of Go waits with
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_FSTAT,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
		// memory; for machine code see below
		unix.SYS_BRK, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MADVISE,
		// threads: waiting, and their ends
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_RESTART_SYSCALL,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		// signals
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
		// facts about itself and the machine
		unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
		unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE,
		unix.SYS_SCHED_GETAFFINITY, unix.SYS_SYSINFO, unix.SYS_UNAME,
	}
	calls = append(calls, allowedHere()...)
	if files {
		calls = append(calls, unix.SYS_NEWFSTATAT, unix.SYS_FACCESSAT, unix.SYS_READLINKAT, unix.SYS_GETDENTS64)
		calls = append(calls, allowedHereWithFiles()...)
	}
	all := make([]allowance, 0, len(calls)+16)
	for _, c := range calls {
		all = append(all, allowance{call: c})
	}
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD |
		unix.CLONE_SYSVSEM | unix.CLONE_SETTLS |
		unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID
	only := func(call uint32, when ...condition) { all = append(all, allowance{call, when}) }
	// Threads, but no processes.
	only(unix.SYS_CLONE, lower(0, ^uint32(thread)|unix.CLONE_THREAD, unix.CLONE_THREAD))
	// The runtime of Go signals its own threads.
	only(unix.SYS_TGKILL, lower(0, allBits, pid))
	// Nothing by which the kernel would send signals for it (F_SETOWN, F_SETSIG,
	// F_SETLEASE, F_NOTIFY, O_ASYNC by F_SETFL).
	only(unix.SYS_FCNTL, lower(1, allBits, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL))
	// The runtime of Go names its memory.
	only(unix.SYS_PRCTL, lower(0, allBits, unix.PR_SET_VMA))
	// Its own limits, for reading.
	only(unix.SYS_PRLIMIT64, lower(0, allBits, 0), lower(2, allBits, 0), condition{2, true, allBits, []uint32{0}})
	if files {
		const toRead = unix.O_CLOEXEC | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | largeFile
		only(unix.SYS_OPENAT, lower(2, ^uint32(toRead), unix.O_RDONLY))
	}
	return all
}
