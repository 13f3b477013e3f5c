package isolate

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// testName is the name of a process that runs the requested deed.
const testName = "parley-cage-test"

func TestMain(m *testing.M) {
	ProgramMain()
	obeyAsProgram()
	Main(testName, func(args []string) (Work, error) {
		if len(args) == 0 {
			return Work{}, errors.New("there is nothing to do")
		}
		return Work{Readable: args[0], Answer: obey}, nil
	})
	goleak.VerifyTestMain(m)
}

// obey does a deed and replies with its result.
func obey(request []byte, reply func([]byte) error) error {
	deed, rest, _ := strings.Cut(string(request), " ")
	result, err := deeds()[deed](rest)
	if err != nil {
		result = "error: " + err.Error()
	}
	return reply([]byte(result))
}

// start starts a process that may read a folder and does what it is told.
func start(t testing.TB, readable string) *Process {
	t.Helper()
	p, err := Start(testName, readable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func ask(p *Process, deed string) (string, error) {
	until := time.Now().Add(30 * time.Second)
	if err := p.Send([]byte(deed), until); err != nil {
		return "", err
	}
	answer, err := p.Receive(until)
	return string(answer), err
}

// deeds are actions of code that has taken over the process. Each returns "did" if it
// succeeded.
func deeds() map[string]func(string) (string, error) {
	did := func(err error) (string, error) { return "did", err }
	return map[string]func(string) (string, error){
		"echo": func(s string) (string, error) { return s, nil },
		"call": func(name string) (string, error) { return strconv.Itoa(int(call(refused()[name]))), nil },
		"hang": func(string) (string, error) {
			for i := 0; ; i++ {
				_ = i
			}
		},
		"sleep": func(string) (string, error) { time.Sleep(time.Hour); return did(nil) },
		"exit":  func(string) (string, error) { os.Exit(3); return "", nil },
		"crash": func(string) (string, error) {
			return did(syscall.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSEGV))
		},
		"prattle": func(string) (string, error) {
			for {
				fmt.Print(strings.Repeat("\xff", 1<<16))
			}
		},
		"allocate": func(string) (string, error) {
			var all [][]byte
			for {
				b := make([]byte, 1<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				all = append(all, b)
				runtime.KeepAlive(all)
			}
		},
		"threads": func(string) (string, error) {
			done := make(chan int)
			for i := range 8 {
				go func() { runtime.LockOSThread(); done <- i }()
			}
			for range 8 {
				<-done
			}
			return did(nil)
		},
		"read":   func(path string) (string, error) { _, err := os.ReadFile(path); return did(err) },
		"list":   func(path string) (string, error) { _, err := os.ReadDir(path); return did(err) },
		"write":  func(path string) (string, error) { return did(os.WriteFile(path, []byte("x"), 0o600)) },
		"socket": func(string) (string, error) { _, err := net.Dial("udp", "127.0.0.1:9"); return did(err) },
		"exec":   func(path string) (string, error) { return did(syscall.Exec(path, []string{path}, nil)) },
		"run":    func(path string) (string, error) { return did(exec.Command(path).Run()) },
		"raise": func(string) (string, error) {
			return did(unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}))
		},
		"environment": func(string) (string, error) { return strings.Join(os.Environ(), " "), nil },
		"another":     func(string) (string, error) { _, err := Start(testName, ""); return did(err) },
	}
}

// Code that takes over the process finds nothing there, and cannot leave it. The kernel
// of a development machine must have all protections.
func TestProcessCannotReachTheSystem(t *testing.T) {
	folder := t.TempDir()
	readable := filepath.Join(folder, "readable")
	secret := filepath.Join(t.TempDir(), "secret")
	for _, name := range []string{readable, secret} {
		if err := os.WriteFile(name, []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, files := range []string{"", folder} {
		p := start(t, files)
		if len(p.MissingProtections()) > 0 {
			t.Skipf("this kernel lacks %q", p.MissingProtections())
		}
		for _, deed := range []string{
			"read /etc/passwd", "read " + secret,
			"read /proc/self/environ", "read /proc/" + strconv.Itoa(os.Getpid()) + "/environ",
			"list /", "list /proc",
			"write " + secret, "write " + readable, "write " + secret + "-new",
			"socket", "exec /bin/ls", "run /bin/ls", "raise", "another",
		} {
			got, err := ask(p, deed)
			if err != nil || !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s: %q, %v", deed, got, err)
			} else if deed != "another" && !strings.Contains(got, "permission denied") &&
				!strings.Contains(got, "operation not permitted") {
				t.Errorf("%s: %q, want it to be refused", deed, got)
			}
		}
		for deed, want := range map[string]string{"environment": "", "threads": "did", "echo it works": "it works"} {
			if got, err := ask(p, deed); err != nil || got != want {
				t.Errorf("%s: %q, %v", deed, got, err)
			}
		}
		got, err := ask(p, "read "+readable)
		if err != nil || (got == "did") != (files != "") {
			t.Errorf("read of its folder %q: %q, %v", files, got, err)
		}
	}
}

// A process gets little memory, and its end is reported at once, however it ends.
func TestDeathOfTheProcessIsReportedAtOnce(t *testing.T) {
	for _, deed := range []string{"exit", "crash", "allocate", "prattle"} {
		p := start(t, "")
		if got, err := ask(p, deed); !errors.Is(err, ErrDied) {
			t.Errorf("%s: %q, %v, want that it died", deed, got, err)
		}
		p.Stop()
		if state, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err == nil {
			t.Errorf("after %s there still is %v", deed, state.Name())
		}
	}
}

func TestHangIsReportedInTime(t *testing.T) {
	for _, deed := range []string{"hang", "sleep"} {
		p := start(t, "")
		until := time.Now().Add(100 * time.Millisecond)
		if err := p.Send([]byte(deed), until); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Receive(until); !errors.Is(err, ErrHung) {
			t.Errorf("%s: %v", deed, err)
		}
		p.Stop()
		if state, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err == nil {
			t.Errorf("after %s there still is %v", deed, state.Name())
		}
	}
}

// Start returns the error of a process that cannot start, and leaves nothing of it.
func TestStartReturnsTheErrorOfTheProcess(t *testing.T) {
	if _, err := Start(testName); err == nil || err.Error() != "there is nothing to do" {
		t.Errorf("%v", err)
	}
}

// Processes end with the box, even if the box is killed and they hang.
func TestProcessesDieWithTheirParent(t *testing.T) {
	if os.Getenv("PARLEY_TEST_ORPHAN") != "" { // the parent
		started := make(chan int)
		go func() {
			_, _ = runProgram(t, t.Context(), os.DevNull, func(pid int) { started <- pid }, "hang")
		}()
		program := <-started
		for line := ""; !programLine(line); { // until it is the program
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", program))
			if err != nil {
				t.Fatal(err)
			}
			line = string(b)
		}
		p := start(t, "")
		fmt.Println("children", p.Pid(), program)
		_, _ = ask(p, "hang")
		select {}
	}
	parent := exec.Command("/proc/self/exe", "-test.run", "^TestProcessesDieWithTheirParent$")
	parent.Env = append(os.Environ(), "PARLEY_TEST_ORPHAN=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var children [2]int
	_, scanned := fmt.Fscanf(out, "children %d %d\n", &children[0], &children[1])
	if err := errors.Join(scanned, parent.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for _, child := range children {
		if !dies(child) {
			t.Errorf("process %d outlives its parent", child)
		}
	}
}

// dies waits for the end of a process.
func dies(pid int) bool {
	for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		// A zombie that nobody has waited for yet is dead, too.
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || slices.Contains(strings.Fields(string(state)), "Z") {
			return true
		}
	}
	return false
}

// C libraries, and the program that started the box, may open files without
// close-on-exec. None of them is open in the process.
func TestProcessInheritsNoFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(secret, syscall.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	of := fmt.Sprintf("/proc/%d/fd/", start(t, "").Pid())
	open, err := os.ReadDir(of)
	if err != nil || len(open) < 3 {
		t.Fatalf("%d files open, %v", len(open), err)
	}
	for _, f := range open {
		if to, _ := os.Readlink(of + f.Name()); to == secret {
			t.Errorf("descriptor %s is %s", f.Name(), to)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	p := start(b, "")
	for b.Loop() {
		if _, err := ask(p, "echo"); err != nil {
			b.Fatal(err)
		}
	}
}
