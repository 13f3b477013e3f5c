package isolate

import "golang.org/x/sys/unix"

const (
	auditMachine = unix.AUDIT_ARCH_X86_64
	// foreignCalls is the first number of the x32 interface.
	foreignCalls = 0x40000000
	// largeFile is O_LARGEFILE, which x/sys defines as the 0 that programs pass.
	largeFile = 0x8000
)

// allowedHere returns the calls that only this architecture has.
func allowedHere() []uint32 {
	return []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_TIME, unix.SYS_GETRLIMIT}
}

// allowedHereWithFiles returns those of them that take file names.
func allowedHereWithFiles() []uint32 {
	return []uint32{unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK}
}

// programCallsHere returns those that starting a program needs.
func programCallsHere() []uint32 { return []uint32{unix.SYS_ARCH_PRCTL, unix.SYS_POLL} }
