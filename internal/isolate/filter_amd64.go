package isolate

import "golang.org/x/sys/unix"

const (
	auditMachine = unix.AUDIT_ARCH_X86_64
	// foreignCalls begin the numbers of the x32 interface.
	foreignCalls = 0x40000000
	// largeFile is O_LARGEFILE, which x/sys has as the 0 that programs pass.
	largeFile = 0x8000
)

// allowedHere are calls that only this machine has.
func allowedHere() []uint32 {
	return []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_TIME, unix.SYS_GETRLIMIT}
}

// allowedHereWithFiles are those that name files.
func allowedHereWithFiles() []uint32 {
	return []uint32{unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK}
}
