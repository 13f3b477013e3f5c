package isolate

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// errUnknownMachine means that the system call numbers of this processor are not known
// here.
var errUnknownMachine = errors.New("not known for " + runtime.GOARCH)

// Offsets in struct seccomp_data.
const (
	dataCall, dataMachine, dataArguments = 0, 4, 16
)

// newestCall is the newest system call when this list was made (Linux 6.10). Newer calls
// fail with ENOSYS, so that a C library that knows them does without.
const newestCall = unix.SYS_MSEAL

// An allowance is a system call that the process may make if all conditions hold.
type allowance struct {
	call uint32
	when []condition
}

// A condition holds if a half of an argument, masked, has one of the values.
type condition struct {
	argument int
	upper    bool // the upper 32 bits; else the lower
	mask     uint32
	is       []uint32
}

const allBits = 1<<32 - 1

// filterCalls makes the kernel refuse all system calls but the allowed ones, for all
// threads, with EPERM. clone3, whose arguments a filter cannot see, fails with ENOSYS, so
// that the C library uses clone.
func filterCalls(allowed []allowance) error {
	if auditMachine == 0 {
		return errUnknownMachine
	}
	refuse := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	absent := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataMachine, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditMachine, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}, // calls of a 32-bit program
		bpf.LoadAbsolute{Off: dataCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreignCalls, SkipTrue: 1},
		refuse,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1},
		absent,
	}
	for _, a := range allowed {
		program = append(program, a.instructions(refuse)...)
	}
	program = append(program, bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: newestCall, SkipFalse: 1}, absent, refuse)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{
			Code: r.Op,
			Jt:   r.Jt,
			Jf:   r.Jf,
			K:    r.K,
		}
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(filter)
	switch {
	case errno != 0:
		return errno
	case thread != 0:
		return fmt.Errorf("thread %d has another filter", thread)
	}
	return nil
}

// instructions lets the call pass if its conditions hold. The number of the call is
// loaded before them, and still is if it is another call.
func (a allowance) instructions(refuse bpf.Instruction) []bpf.Instruction {
	var block []bpf.Instruction
	for _, c := range a.when {
		offset := uint32(dataArguments + 8*c.argument) // its lower half, on little-endian machines
		if c.upper {
			offset += 4
		}
		block = append(block, bpf.LoadAbsolute{Off: offset, Size: 4}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask})
		for i, v := range c.is {
			block = append(block, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(c.is) - i)})
		}
		block = append(block, refuse)
	}
	block = append(block, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	otherCall := bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: a.call, SkipTrue: uint8(len(block))}
	return append([]bpf.Instruction{otherCall}, block...)
}
