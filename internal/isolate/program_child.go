package isolate

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// libraryPaths returns where a system has the libraries of its programs, and their index.
func libraryPaths() []string {
	return []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"}
}

// ProgramMain turns this process into the program if RunProgram started it, and then does not
// return. A program that calls RunProgram, and so every test binary of it, calls ProgramMain
// before anything else.
func ProgramMain() {
	if len(os.Args) < 5 || os.Args[1] != programArgument {
		return
	}
	// The priority is that of a thread, and the program continues the one that starts it.
	runtime.LockOSThread()
	fmt.Fprintln(os.Stderr, programFault+becomeProgram(os.Args[0], os.Args[2:]).Error())
	os.Exit(notStarted)
}

// becomeProgram gives up all rights that the program does not need, and executes it. args are
// the limits of memory and time, whether it is urgent, and the arguments of the program.
func becomeProgram(path string, args []string) error {
	memory, err := strconv.ParseUint(args[0], 10, 64)
	cpu, cpuErr := strconv.ParseUint(args[1], 10, 64)
	rules, rulesErr := programRules(path)
	if err := errors.Join(err, cpuErr, rulesErr, closeOtherFiles()); err != nil {
		return err
	}
	if args[2] != strconv.FormatBool(true) {
		lowestPriority()
	}
	if err := limit(memory, cpu); err != nil {
		return err
	}
	// What the kernel lacks is reported by Start, which other code of the box calls.
	if _, err := confine(rules, programAllowances(uint32(os.Getpid()))); err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{path}, args[3:]...), nil)
}

// programRules returns the files that the program may use: itself and its loader to execute,
// and libraries and its input to read.
func programRules(path string) ([]landlock.Rule, error) {
	const read, list, execute = landlocksys.AccessFSReadFile, landlocksys.AccessFSReadDir, landlocksys.AccessFSExecute
	run := []string{path}
	loader, err := loaderOf(path)
	if err != nil {
		return nil, err
	}
	if loader != "" {
		run = append(run, loader)
	}
	rules := []landlock.Rule{
		landlock.PathAccess(read|execute, run...),
		landlock.PathAccess(read, InputPath),
	}
	for _, p := range libraryPaths() {
		info, err := os.Stat(p)
		switch {
		case err != nil: // not on this system
		case info.IsDir():
			rules = append(rules, landlock.PathAccess(read|list, p))
		default:
			rules = append(rules, landlock.PathAccess(read, p))
		}
	}
	return rules, nil
}

// loaderOf returns the dynamic loader that a program names, or "".
func loaderOf(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			name, err := io.ReadAll(io.LimitReader(p.Open(), unix.PathMax))
			return strings.TrimRight(string(name), "\x00"), err
		}
	}
	return "", nil
}

// lowestPriority lets this thread run only when nothing else wants to, if the system permits.
func lowestPriority() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
	priority := int32(0) // struct sched_param
	_, _, _ = unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_IDLE, uintptr(unsafe.Pointer(&priority)))
}

// closeOtherFiles marks all files to be closed in the program but those that RunProgram gives it.
func closeOtherFiles() error {
	const first = ReportFD + 1
	if unix.CloseRange(first, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	// Before Linux 5.11.
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
