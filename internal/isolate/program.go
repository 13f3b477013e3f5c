package isolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// programArgument is the first argument of every process that RunProgram starts.
	programArgument = "isolated-program"
	// notStarted is the exit status of a process that could not become the program. Its
	// standard error then begins with programFault.
	notStarted   = 126
	programFault = "isolate: "
	// outputTimeout is how long to read standard error after the end of the program.
	outputTimeout = time.Second
)

// Paths of open files in a program.
const (
	// InputPath is the input, the only file of a user that the program may read.
	InputPath = "/proc/self/fd/3"
	// ReportFD is the file descriptor of the report.
	ReportFD = 4
)

// A Program is another program that parses untrusted input, such as ffmpeg.
type Program struct {
	Path   string        // absolute
	Args   []string      // without the name of the program
	Memory uint64        // bytes of address space: 2 GiB or more, as the Go runtime reserves 1.5 GiB
	CPU    time.Duration // processor time, after which the kernel ends it
	Urgent bool          // with the priority of this process; else it runs when nothing else wants to
	Input  *os.File      // the program opens it as InputPath
	Stdout *os.File      // a pipe
	Report *os.File      // a pipe, or nil: a second output, ReportFD
	Stderr io.Writer
	// Started is called with the process id, if it is not nil.
	Started func(pid int)
}

// RunProgram runs a program and waits for its end. The program has no environment, the working
// directory /, and no rights but these: to read its input and the libraries of the system, and
// to write to its pipes. It ends with ctx and with this process. The error is an *exec.ExitError
// if the program failed.
//
// A kernel without Landlock or seccomp filters runs the program without them, as Start does,
// which reports that.
func RunProgram(ctx context.Context, p Program) error {
	if len(os.Args) > 1 && os.Args[1] == programArgument {
		return errors.New("isolate: a program in isolation must not start another one " +
			"(does the program's main call ProgramMain?)")
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{
		p.Path,
		programArgument,
		strconv.FormatUint(p.Memory, 10),
		strconv.Itoa(max(1, int(p.CPU.Seconds()))),
		strconv.FormatBool(p.Urgent),
	}, p.Args...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	stderr := faultWriter{next: p.Stderr}
	cmd.Stdout, cmd.Stderr = p.Stdout, &stderr
	cmd.ExtraFiles = []*os.File{p.Input, cmp.Or(p.Report, p.Stdout)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = outputTimeout
	// The kernel takes the end of the thread that started a process for the end of its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	if p.Started != nil {
		p.Started(cmd.Process.Pid)
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cmd.ProcessState.ExitCode() == notStarted && strings.HasPrefix(stderr.first, programFault) {
		return fmt.Errorf("%s cannot be started: %s", p.Path, strings.TrimSpace(stderr.first))
	}
	return err
}

// faultWriter notes the first bytes that are written.
type faultWriter struct {
	first string
	next  io.Writer
}

func (w *faultWriter) Write(b []byte) (int, error) {
	const most = 500 // a fault of becomeProgram
	w.first += string(b[:min(len(b), most-min(most, len(w.first)))])
	if w.next == nil {
		return len(b), nil
	}
	return w.next.Write(b)
}
