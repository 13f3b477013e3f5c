package espeak

import "golang.org/x/sys/unix"

const (
	auditMachine = unix.AUDIT_ARCH_X86_64
	// foreignCalls begin the numbers of the x32 interface.
	foreignCalls = 0x40000000
)

// refusedHere are calls that only this machine has.
func refusedHere() []uint32 {
	return []uint32{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_MODIFY_LDT, unix.SYS_IOPERM, unix.SYS_IOPL}
}
