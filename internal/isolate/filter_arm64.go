package isolate

import "golang.org/x/sys/unix"

const (
	auditMachine = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 1 << 31 // there are none
	largeFile    = 0x20000 // O_LARGEFILE
)

// allowedHere are calls that only this machine has.
func allowedHere() []uint32 { return nil }

// allowedHereWithFiles are those that name files.
func allowedHereWithFiles() []uint32 { return nil }
