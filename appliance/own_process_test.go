package appliance

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// ownProcessVariable is set for a test that runs in a process of its own.
const ownProcessVariable = "PARLEY_TEST_OWN_PROCESS"

// inOwnProcess reports whether the test runs in a process of its own, whose environment, threads and
// goroutines are those of this test. If not, inOwnProcess runs the test again in such a process, in
// parallel with other tests, takes over its result and returns false: the test has nothing left to do.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownProcessVariable) != "" {
		return true
	}
	t.Parallel()
	if err := runAgain(t, ownProcessVariable, &syscall.SysProcAttr{}); err != nil {
		t.Fatal(err)
	}
	return false
}

// runAgain runs the test in a new process in which a variable is set, and takes over its result. It
// returns an error if the process does not start.
func runAgain(t *testing.T, variable string, attr *syscall.SysProcAttr) error {
	t.Helper()
	itself, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-test.v", "-test.count=1", "-test.timeout=0", "-test.run=^" + regexp.QuoteMeta(t.Name()) + "$"}
	for _, name := range []string{"test.artifacts", "test.outputdir"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			args = append(args, "-"+name+"="+f.Value.String())
		}
	}
	cmd := exec.CommandContext(t.Context(), itself, args...)
	cmd.Env = append(os.Environ(), variable+"=1")
	attr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = attr
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started the process ends
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	t.Logf("in a process of its own:\n%s", out)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		t.Error(err)
	case err != nil:
		return err
	case strings.Contains(string(out), "--- SKIP: "):
		t.Skip("skipped in its own process, for the reason above")
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Error("the test did not run in its own process")
	}
	return nil
}
