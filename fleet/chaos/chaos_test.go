// Package chaos kills the hub and the boxes of a fleet at random while they work, and then compares what they have.
package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// roleVariable has a process of this test's program run as a hub or a box.
const roleVariable = "PARLEY_CHAOS_ROLE"

func TestMain(m *testing.M) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case "hub":
		exit(runHub(ctx, os.Args[1:]))
	case "box":
		exit(runBox(ctx, os.Args[1:]))
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a hub or a box that is killed and started again.
type process struct {
	t    *testing.T
	role string
	args []string

	cmd  *exec.Cmd
	in   io.WriteCloser
	errs *tail
}

// start starts the process.
func (p *process) start() {
	p.t.Helper()
	itself, err := os.Executable()
	must(p.t, err)
	p.cmd = exec.Command(itself, p.args...)
	p.cmd.Env = append(os.Environ(), roleVariable+"="+p.role)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = p.errs
	p.in, err = p.cmd.StdinPipe()
	must(p.t, err)
	must(p.t, p.cmd.Start())
}

// kill ends the process as a lost power supply does, as far as a program sees it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// tell sends a line to the process.
func (p *process) tell(line string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		p.t.Fatalf("%s %v ended by itself: %v\n%s", p.role, p.args, p.cmd.Wait(), p.errs)
	}
}

// tail keeps the end of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if n := len(t.text); n > tailBytes {
		t.text = bytes.Clone(t.text[n-tailBytes:])
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plan is how much work there is.
type plan struct {
	boxes int
	chats int           // of each box; a chat has 8 to 20 events
	pause time.Duration // between two disturbances, on average
}

// A box of the museum kind has a conversation every ten seconds in its busiest hour: 360. The short form has
// two minutes of that for three boxes, and the long form an hour for ten: 3,600 chats.
func plans() plan {
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		return plan{boxes: 10, chats: 360, pause: 400 * time.Millisecond}
	}
	return plan{boxes: 3, chats: 14, pause: 100 * time.Millisecond}
}

func TestEveryChatReachesTheHubOnceWhateverIsKilled(t *testing.T) {
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started a process ends
	defer runtime.UnlockOSThread()
	p := plans()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d boxes with %d chats each", seed, p.boxes, p.chats)
	random := rand.New(rand.NewPCG(seed, 1))
	f := newFleet(t, p)

	begun := time.Now()
	var kills, cuts, rollouts int
	for f.working() {
		switch random.IntN(8) {
		case 0:
			f.hub.kill()
			f.pause(random, 300*time.Millisecond)
			f.hub.start()
			kills++
		case 1, 2, 3:
			box := f.boxes[random.IntN(len(f.boxes))]
			box.kill()
			f.pause(random, 300*time.Millisecond)
			box.start()
			kills++
		case 4, 5:
			f.relay.cut(random.IntN(2) == 0)
			f.pause(random, 200*time.Millisecond)
			f.relay.mend()
			cuts++
		default:
			if f.rollOut() {
				rollouts++
			}
		}
		f.pause(random, 2*p.pause)
	}
	f.relay.mend()
	f.untilStill()
	t.Logf("%d kills, %d cuts and %d roll-outs in %v", kills, cuts, rollouts, time.Since(begun).Round(time.Second))
	f.stop()
	f.compare()
}

// pause waits for up to so long. What happens meanwhile in other processes is what the test is about.
func (f *fleetOfProcesses) pause(random *rand.Rand, most time.Duration) {
	select {
	case <-time.After(time.Duration(random.Int64N(int64(most)))):
	case <-f.t.Context().Done():
	}
}

// finished is the file that a box writes when it has written all its chats.
func finished(data string) string { return filepath.Join(data, "finished") }

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// isThere reports whether a file exists.
func isThere(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, os.ErrNotExist)
}
