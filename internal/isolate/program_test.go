package isolate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// programName is the first argument of this test binary when RunProgram runs it as a program.
const programName = "obey"

// obeyAsProgram does the deeds in the arguments of a program, and prints a line for each.
func obeyAsProgram() {
	if len(os.Args) < 2 || os.Args[1] != programName {
		return
	}
	for _, deed := range os.Args[2:] {
		if err := obey([]byte(deed), func(b []byte) error {
			_, err := fmt.Println(strings.ReplaceAll(string(b), "\n", " "))
			return err
		}); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// runProgram runs this test binary as a program, and returns what it prints.
func runProgram(t *testing.T, ctx context.Context, input string, started func(pid int),
	deeds ...string) (string, error) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	done := make(chan error)
	go func() {
		err := RunProgram(ctx, Program{
			Path:    path,
			Args:    append([]string{programName}, deeds...),
			Memory:  2 << 30,
			CPU:     20 * time.Second,
			Input:   in,
			Stdout:  stdout,
			Stderr:  &stderr,
			Started: started,
		})
		_ = stdout.Close()
		done <- err
	}()
	text, readErr := io.ReadAll(out)
	err = <-done
	if err != nil {
		err = fmt.Errorf("%w; %s", err, stderr.String())
	}
	return string(text), errors.Join(err, readErr, out.Close())
}

// programLine reports whether a command line is that of the program, and not of the process
// that will become it.
func programLine(line string) bool {
	_, args, _ := strings.Cut(line, "\x00")
	return strings.HasPrefix(args, programName+"\x00")
}

// A program can read its input and nothing else, and has no way to affect anything.
func TestProgramHasOnlyItsInput(t *testing.T) {
	if p := start(t, ""); len(p.MissingProtections()) > 0 {
		t.Skipf("this kernel lacks %q", p.MissingProtections())
	}
	folder := t.TempDir()
	input, secret := filepath.Join(folder, "input"), filepath.Join(folder, "secret")
	for _, name := range []string{input, secret} {
		if err := os.WriteFile(name, []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deeds := []string{
		"read /etc/passwd", "read " + secret, "read /proc/self/environ",
		"read /proc/" + strconv.Itoa(os.Getpid()) + "/environ", "list /", "list " + folder,
		"write " + secret, "write " + InputPath, "write " + secret + "-new", "write /tmp/new",
		"socket", "exec /bin/ls", "run /bin/ls", "raise",
	}
	all := slices.Concat(deeds, []string{"read " + InputPath, "environment"})
	got, err := runProgram(t, t.Context(), input, nil, all...)
	lines := strings.Split(got, "\n")
	if err != nil || len(lines) != len(deeds)+3 {
		t.Fatalf("%q, %v", got, err)
	}
	for i, deed := range deeds {
		if !strings.Contains(lines[i], "permission denied") && !strings.Contains(lines[i], "operation not permitted") {
			t.Errorf("%s: %q, want it to be refused", deed, lines[i])
		}
	}
	if lines[len(deeds)] != "did" || lines[len(deeds)+1] != "" {
		t.Errorf("its input: %q, its environment: %q", lines[len(deeds)], lines[len(deeds)+1])
	}
}

// Of the system calls that are refused to any process in isolation, a program may only make
// those that start a program.
func TestProgramMayMakeFewMoreCalls(t *testing.T) {
	if p := start(t, ""); len(p.MissingProtections()) > 0 {
		t.Skipf("this kernel lacks %q", p.MissingProtections())
	}
	more := []string{"execve", "mmap of machine code", "mprotect to run"}
	var deeds []string
	for name := range refused() {
		if !slices.Contains(more, name) {
			deeds = append(deeds, "call "+name)
		}
	}
	got, err := runProgram(t, t.Context(), os.DevNull, nil, deeds...)
	lines := strings.Split(got, "\n")
	if err != nil || len(lines) != len(deeds)+1 {
		t.Fatalf("%q, %v", got, err)
	}
	for i, deed := range deeds {
		want := unix.EPERM
		if deed == "call clone3" || deed == "call an unknown future call" {
			want = unix.ENOSYS
		}
		if lines[i] != strconv.Itoa(int(want)) {
			t.Errorf("%s: errno %s, want %d", deed, lines[i], want)
		}
	}
}

// A program has no capabilities, even of root, the lowest priority and no other files, and it
// ends with its context.
func TestProgramRunsWithoutRightsUntilItsContextEnds(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(secret, unix.O_RDWR, 0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	process := make(chan int, 1)
	done := make(chan error, 1)
	go func() {
		_, err := runProgram(t, ctx, os.DevNull, func(pid int) { process <- pid }, "sleep")
		done <- err
	}()
	proc := fmt.Sprintf("/proc/%d/", <-process)
	for line := ""; !programLine(line); time.Sleep(time.Millisecond) { // until it is the program
		b, err := os.ReadFile(proc + "cmdline")
		if err != nil {
			t.Fatal(err)
		}
		line = string(b)
	}
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		t.Fatal(err)
	}
	const none = "0000000000000000"
	for _, want := range []string{"CapPrm:\t" + none, "CapEff:\t" + none, "NoNewPrivs:\t1"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("no %q in\n%s", want, status)
		}
	}
	stat, err := os.ReadFile(proc + "stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if nice, policy := fields[16], fields[38]; nice != "19" || policy != strconv.Itoa(unix.SCHED_IDLE) {
		t.Errorf("nice %s, policy %s", nice, policy)
	}
	open, err := os.ReadDir(proc + "fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		if to, _ := os.Readlink(proc + "fd/" + f.Name()); to == secret {
			t.Errorf("descriptor %s is %s", f.Name(), to)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
	if _, err := os.Stat(proc); err == nil {
		t.Error("the program outlives its context")
	}
}

// A program that cannot be started is an error of the box, and its exit status one of the program.
func TestProgramErrorsTellTheBoxFromTheProgram(t *testing.T) {
	var exit *exec.ExitError
	_, err := runProgram(t, t.Context(), os.DevNull, nil, "exit")
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit status 3: %v", err)
	}
	err = RunProgram(t.Context(), Program{
		Path:   "/nonexistent/program",
		Memory: 2 << 30,
		Input:  os.Stdin,
		Stdout: os.Stdout,
	})
	if err == nil || errors.As(err, &exit) || !strings.Contains(err.Error(), "/nonexistent/program cannot be started") {
		t.Errorf("no program: %v", err)
	}
}
