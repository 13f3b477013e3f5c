package fleettest

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const envNetwork = "PARLEY_FLEETTEST_NETWORK"

// InNetwork runs the test again in a process with a network of its own, and returns false; in that process it returns
// true. It skips the test where a test may not have one.
func InNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(envNetwork) != "" {
		return true
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 { // other users may have a network only in a user namespace
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.timeout=0",
		"-test.run=^"+regexp.QuoteMeta(t.Name())+"$")
	cmd.Env = append(os.Environ(), envNetwork+"=1")
	cmd.SysProcAttr = attr
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started the process ends
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	t.Logf("in a network of its own:\n%s", out)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		t.Error(err)
	case err != nil:
		t.Skipf("this machine gives a test no network of its own: %v", err)
	case strings.Contains(string(out), "--- SKIP: "):
		t.Skip("skipped in its own network, for the reason above")
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Error("the test did not run in its own network")
	}
	return false
}

// The addresses of the two ends of a Network.
const (
	serverIP = "10.77.0.1"
	boxIP    = "10.77.0.2"
)

// Network is a cable between this process and a server that is in another network.
type Network struct {
	server string // process id
}

// StartAcross starts a server at the other end of a network. The test is one in which InNetwork returned true.
func StartAcross(t testing.TB, kind Kind) (*Fleet, *Network) {
	t.Helper()
	f := &Fleet{folder: t.TempDir(), log: Log(t)}
	f.process = &serverProcess{kind: kind, folder: f.folder, listen: serverIP + ":0", apart: true}
	f.startProcess(t, func() {
		n := &Network{server: strconv.Itoa(f.process.cmd.Process.Pid)}
		f.network = n
		n.here(t, "link", "set", "lo", "up")
		n.here(t, "link", "add", "box", "type", "veth", "peer", "name", "server", "netns", n.server)
		n.here(t, "addr", "add", boxIP+"/24", "dev", "box")
		n.here(t, "link", "set", "box", "up")
		n.there(t, "addr", "add", serverIP+"/24", "dev", "server")
		n.there(t, "link", "set", "server", "up")
	})
	return f, f.network
}

// here configures the network of this process, there that of the server.
func (n *Network) here(t testing.TB, args ...string) { run(t, "ip", args...) }
func (n *Network) there(t testing.TB, args ...string) {
	run(t, "nsenter", append([]string{"-t", n.server, "-n", "ip"}, args...)...)
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// Pull unplugs the cable.
func (n *Network) Pull(t testing.TB) { n.there(t, "link", "set", "server", "down") }

// Plug plugs it in again.
func (n *Network) Plug(t testing.TB) { n.there(t, "link", "set", "server", "up") }

// Deafen loses all packets from the server to this process.
func (n *Network) Deafen(t testing.TB) { n.there(t, "route", "add", "blackhole", boxIP+"/32") }

// Hear ends Deafen.
func (n *Network) Hear(t testing.TB) { n.there(t, "route", "del", "blackhole", boxIP+"/32") }

// Mute loses all packets from this process to the server.
func (n *Network) Mute(t testing.TB) { n.here(t, "route", "add", "blackhole", serverIP+"/32") }

// Speak ends Mute.
func (n *Network) Speak(t testing.TB) { n.here(t, "route", "del", "blackhole", serverIP+"/32") }
