package fleettest

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"parley/appliance/certs"
	"parley/fleet/server"
)

// Kind says which server runs.
type Kind string

// The kinds of servers that are processes of their own, which can be killed.
const (
	Stock Kind = "stock" // nats-server, as Debian has it
	Hubs  Kind = "hub's" // that of the hub
)

const (
	envFolder = "PARLEY_FLEETTEST_FOLDER"
	envListen = "PARLEY_FLEETTEST_LISTEN"
)

// Main runs the tests of a package that calls StartProcess: its TestMain calls Main.
func Main(m *testing.M) {
	if folder := os.Getenv(envFolder); folder != "" {
		if err := process(folder, os.Getenv(envListen)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// process is the server of a hub, until its standard input ends.
func process(folder, listen string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	trust, err := server.OpenTrust(filepath.Join(folder, "fleet"))
	if err != nil {
		return err
	}
	identity, err := openIdentity(folder, log)
	if err != nil {
		return err
	}
	defer identity.Close()
	s, err := server.Start(server.Options{
		Name:   "test",
		Folder: filepath.Join(folder, "fleet"),
		Listen: listen,
		TLS:    identity.Config(),
		Trust:  trust,
		Log:    log,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Printf("Listening for client connections on %s\nServer is ready\n", s.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func openIdentity(folder string, log *slog.Logger) (*certs.Identity, error) {
	return certs.Open(context.Background(), certs.Options{
		Source:        certs.Own,
		Folder:        folder,
		AuthorityFile: filepath.Join(folder, "public.pem"),
		Names:         []string{"127.0.0.1", "localhost", serverIP},
	}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, log)
}

// serverProcess is a server that can be killed.
type serverProcess struct {
	kind   Kind
	folder string
	listen string // host:port
	apart  bool   // in a network of its own
	cmd    *exec.Cmd
	stdin  io.Closer
}

// StartProcess starts a server as a process of its own, with all streams. The test's end kills it.
func StartProcess(t testing.TB, kind Kind) *Fleet {
	t.Helper()
	f := &Fleet{folder: t.TempDir(), log: Log(t)}
	f.process = &serverProcess{kind: kind, folder: f.folder, listen: "127.0.0.1:0"}
	f.startProcess(t, func() {})
	return f
}

// startProcess calls started when the process runs, before anybody connects to it.
func (f *Fleet) startProcess(t testing.TB, started func()) {
	t.Helper()
	identity := f.trust(t)
	if f.process.kind == Stock {
		certificate, err := identity.Config().GetCertificate(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		f.stock = server.Stock{
			Name:        "test",
			Listen:      strings.TrimSuffix(f.process.listen, "0") + "-1", // any port
			Certificate: certificate,
			Trust:       f.Trust,
		}
		f.writeStock(t)
	}
	f.process.start(t)
	started()
	if f.process.kind == Stock {
		f.stock.Listen = f.process.listen // and again this port
		f.writeStock(t)
	}
	f.Servers = []string{"tls://" + f.process.listen}
	t.Cleanup(func() { f.process.kill() })
	f.prepare(t)
}

func (f *Fleet) writeStock(t testing.TB) {
	t.Helper()
	if err := server.WriteStock(filepath.Join(f.folder, "stock"), f.stock); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server by SIGKILL.
func (f *Fleet) Kill(t testing.TB) {
	t.Helper()
	f.process.kill()
}

// Restart starts a server that was killed, at the same address.
func (f *Fleet) Restart(t testing.TB) {
	t.Helper()
	f.process.start(t)
}

var listening = regexp.MustCompile(`Listening for client connections on (\S+)`)

func (p *serverProcess) start(t testing.TB) {
	t.Helper()
	if p.kind == Stock {
		p.cmd = exec.Command("nats-server", "-c", filepath.Join(p.folder, "stock", "nats-server.conf"))
	} else {
		p.cmd = exec.Command(os.Args[0])
		p.cmd.Env = append(os.Environ(), envFolder+"="+p.folder, envListen+"="+p.listen)
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if p.apart {
		p.cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		t.Fatalf("%v (tools/setup test installs nats-server)", err)
	}
	ready := make(chan string, 1)
	go func() {
		defer r.Close()
		defer close(ready)
		var said strings.Builder
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if said.Len() < 1<<20 {
				said.WriteString(lines.Text() + "\n")
			}
			if strings.Contains(lines.Text(), "Server is ready") {
				ready <- said.String()
			}
		}
		select {
		case ready <- said.String():
		default:
		}
	}()
	said := <-ready
	at := listening.FindStringSubmatch(said)
	if at == nil || !strings.Contains(said, "Server is ready") {
		p.kill()
		t.Fatalf("the server (%s) does not start:\n%s", p.kind, said)
	}
	p.listen = at[1]
}

func (p *serverProcess) kill() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.cmd = nil
}
