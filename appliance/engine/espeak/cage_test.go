package espeak

import (
	"context"
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
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// deeds are what code does that has taken over the process. Each returns "did"
// where it could.
func deeds() map[string]func(string) (string, error) {
	did := func(err error) (string, error) { return "did", err }
	return map[string]func(string) (string, error){
		"hang": func(string) (string, error) {
			for i := 0; ; i++ {
				_ = i
			}
		},
		"sleep": func(string) (string, error) { time.Sleep(time.Hour); return "did", nil },
		"exit":  func(string) (string, error) { os.Exit(3); return "", nil },
		"crash": func(string) (string, error) { return did(syscall.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSEGV)) },
		"prattle": func(string) (string, error) {
			for {
				fmt.Print(strings.Repeat("x", 1<<16))
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
		"read":   func(path string) (string, error) { _, err := os.ReadFile(path); return did(err) },
		"list":   func(path string) (string, error) { _, err := os.ReadDir(path); return did(err) },
		"write":  func(path string) (string, error) { return did(os.WriteFile(path, []byte("x"), 0o600)) },
		"socket": func(string) (string, error) { _, err := net.Dial("udp", "127.0.0.1:9"); return did(err) },
		"unix": func(string) (string, error) {
			_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			return did(err)
		},
		"exec": func(path string) (string, error) { return did(syscall.Exec(path, []string{path}, nil)) }, // runs: ls
		"run":  func(path string) (string, error) { return did(exec.Command(path).Run()) },                // runs: ls
		"fork": func(string) (string, error) {
			pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno != 0 {
				return "", errno
			}
			if pid == 0 {
				os.Exit(0)
			}
			return "did", nil
		},
		"kill":   func(pid string) (string, error) { n, _ := strconv.Atoi(pid); return did(syscall.Kill(n, 0)) },
		"tgkill": func(pid string) (string, error) { n, _ := strconv.Atoi(pid); return did(syscall.Tgkill(n, n, 0)) },
		"ptrace": func(string) (string, error) { return did(unix.PtraceAttach(os.Getppid())) },
		"raise": func(string) (string, error) {
			return did(unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}))
		},
		"environment": func(string) (string, error) { return strings.Join(os.Environ(), " "), nil },
		"rights": func(string) (string, error) {
			n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			return fmt.Sprintf("new privileges %d", n), err
		},
	}
}

// Whoever takes over the process finds nothing there, and cannot leave it. The
// kernel of a machine that develops Parley has all the walls.
func TestTheProcessIsShutIn(t *testing.T) {
	p := openMisbehaving(t)
	if len(p.Lacks()) > 0 {
		t.Skipf("this kernel lacks %q", p.Lacks())
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	self := strconv.Itoa(os.Getpid())
	for _, deed := range []string{
		"read /etc/passwd", "read " + secret, "read /proc/self/environ", "read /proc/" + self + "/environ", "list /", "list /proc", "write " + secret, "write /tmp/parley-espeak-was-here",
		"socket", "unix", "exec /bin/ls", "run /bin/ls", "fork", "kill " + self, "tgkill " + self, "ptrace", "raise",
	} {
		got, err := p.ask(t.Context(), question{"en-us", deed})
		if err == nil || got != "" {
			t.Errorf("%s: %q, %v", deed, got, err)
		} else if !strings.Contains(err.Error(), "permission denied") && !strings.Contains(err.Error(), "operation not permitted") {
			t.Errorf("%s: %v, want it to be refused", deed, err)
		}
	}
	for deed, want := range map[string]string{"environment": "", "rights": "new privileges 1"} {
		if got, err := p.ask(t.Context(), question{"en-us", deed}); err != nil || got != want {
			t.Errorf("%s: %q, %v", deed, got, err)
		}
	}
	// It still speaks, in a language that it had not loaded before.
	if got, err := p.Phonemize(t.Context(), "bonjour", "fr-fr"); err != nil || got != "bɔ̃ʒˈuʁ" {
		t.Errorf("%q, %v", got, err)
	}
}

// A process that takes all the memory it can get gets little, and one that dies
// in whatever way is replaced: the next text is spoken.
func TestWhateverItDiesOfTheNextTextIsSpoken(t *testing.T) {
	p := openMisbehaving(t)
	for _, deed := range []string{"exit", "crash", "allocate", "prattle"} {
		begun := time.Now()
		if _, err := p.ask(t.Context(), question{"en-us", deed}); !errors.Is(err, errDied) {
			t.Errorf("%s: %v, want that it died", deed, err)
		}
		if got, err := p.Phonemize(t.Context(), "hot", "en-us"); err != nil || got != "hˈɑːt" {
			t.Errorf("after %s: %q, %v", deed, got, err)
		}
		t.Logf("%s: %v", deed, time.Since(begun))
	}
}

// A text that hangs it costs that text one bounded wait, and others a tenth of
// a second: they go to a second process.
func TestAHangHoldsUpNobodyElse(t *testing.T) {
	p := openMisbehaving(t)
	for _, deed := range []string{"hang", "sleep"} {
		var all sync.WaitGroup
		all.Go(func() {
			begun := time.Now()
			got, err := p.Phonemize(t.Context(), "hot, "+deed+", hot", "en-us")
			if err != nil || got != "hˈɑːt, hˈɑːt" || time.Since(begun) > textTime {
				t.Errorf("%s in a text: %q, %v after %v", deed, got, err, time.Since(begun))
			}
		})
		time.Sleep(50 * time.Millisecond)
		for range 7 {
			all.Go(func() {
				begun := time.Now()
				got, err := p.Phonemize(t.Context(), "hot", "en-us")
				if err != nil || got != "hˈɑːt" || time.Since(begun) > answerTime/2 {
					t.Errorf("beside it: %q, %v after %v", got, err, time.Since(begun))
				}
			})
		}
		all.Wait()
	}
}

// Texts that hang every process there is hold up the others for no longer than
// one of them takes.
func TestHangsEverywhereEnd(t *testing.T) {
	p := openMisbehaving(t)
	var all sync.WaitGroup
	for range mostProcesses {
		all.Go(func() {
			if _, err := p.Phonemize(t.Context(), "hang", "en-us"); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(4 * secondAfter)
	begun := time.Now()
	if got, err := p.Phonemize(t.Context(), "hot", "en-us"); err != nil || got != "hˈɑːt" || time.Since(begun) > textTime {
		t.Errorf("%q, %v after %v", got, err, time.Since(begun))
	}
	all.Wait()
	// A text of nothing else is given up.
	begun = time.Now()
	if _, err := p.Phonemize(t.Context(), strings.Repeat("hang. ", 20), "en-us"); !errors.Is(err, errTooLong) || time.Since(begun) > textTime+time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

func TestACallerWhoLeavesLeavesAtOnce(t *testing.T) {
	p := openMisbehaving(t)
	gone := errors.New("the user spoke")
	ctx, leave := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { leave(gone) })
	begun := time.Now()
	if _, err := p.Phonemize(ctx, "hang", "en-us"); !errors.Is(err, gone) || time.Since(begun) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	// Close does not wait for the process that hangs.
	begun = time.Now()
	if err := p.Close(); err != nil || time.Since(begun) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// Nothing of it is left over when the box is killed, even of one that hangs.
func TestItDiesWithItsParent(t *testing.T) {
	if os.Getenv("PARLEY_TEST_ORPHAN") != "" { // the parent
		p := openMisbehaving(t)
		fmt.Println("children", firstProcess(t, p).cmd.Process.Pid)
		_, _ = p.Phonemize(t.Context(), "hang", "en-us")
		select {}
	}
	parent := exec.Command("/proc/self/exe", "-test.run", "^TestItDiesWithItsParent$") // runs: itself
	parent.Env = append(os.Environ(), "PARLEY_TEST_ORPHAN=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscanf(out, "children %d\n", &child); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // it hangs by now
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		// A zombie that nobody has waited for yet is dead, too.
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if err != nil || slices.Contains(strings.Fields(string(state)), "Z") {
			return
		}
	}
	t.Errorf("process %d outlives its parent", child)
}

// C libraries open files without close-on-exec, and so may whoever started the
// box. None of that is open in the process.
func TestItHasNoFileOfTheBoxOpen(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(secret, syscall.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	of := fmt.Sprintf("/proc/%d/fd/", firstProcess(t, openMisbehaving(t)).cmd.Process.Pid)
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

// firstProcess is the one that waits for questions.
func firstProcess(t *testing.T, p *Phonemizer) *process {
	t.Helper()
	c, err := p.pool.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.pool.put(c, true)
	return c
}
