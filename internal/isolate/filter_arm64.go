package isolate

import "golang.org/x/sys/unix"

const (
	auditMachine = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 1 << 31 // there are none
	largeFile    = 0x20000 // O_LARGEFILE
)

// allowedHere returns the calls that only this architecture has.
func allowedHere() []uint32 { return nil }

// allowedHereWithFiles returns those of them that take file names.
func allowedHereWithFiles() []uint32 { return nil }

// programCallsHere returns those that starting a program needs.
func programCallsHere() []uint32 { return []uint32{unix.SYS_PPOLL} }
