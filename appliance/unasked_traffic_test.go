package appliance

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A box with the settings of a new one starts, holds a spoken conversation and idles. Whatever it would send to other
// machines, also a question for a name, goes to a network device that this test reads.
func TestABoxSendsNothingThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	if !inPrivateNetwork(t) {
		return
	}
	outside := watchOutside(t)
	probe, err := net.Dial("udp", "192.0.2.1:9") // proves that the device gets what is sent
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if _, err := probe.Write([]byte("probe")); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); len(outside()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the device got nothing of what this test sent")
		}
	}
	b := startBox(t)
	spokenQuestionIsAnsweredWithSpeechThatSaysTheMessage(t, b)
	time.Sleep(3 * time.Second) // jobs that begin some time after the start
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if sent := outside(); len(sent) != 1 {
		t.Errorf("the box sent %d packets: %q", len(sent)-1, sent[1:])
	}
}

// watchOutside adds a device to the private network, through which all other machines are reached. It returns a
// function that lists the packets that were sent there: their protocol and destination.
func watchOutside(t *testing.T) func() []string {
	t.Helper()
	folder := t.TempDir()
	// The names that this machine knows by itself, and the server that it asks for others.
	for name, text := range map[string]string{
		"hosts":       "127.0.0.1 localhost\n",
		"resolv.conf": "nameserver 192.0.2.53\n",
	} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(file, "/etc/"+name, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount("/etc/"+name, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("this machine has no network devices for programs: %v", err)
	}
	request, err := unix.NewIfreq("outside")
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		t.Skipf("this machine has no network devices for programs: %v", err)
	}
	device := os.NewFile(uintptr(fd), "outside")
	t.Cleanup(func() { device.Close() })
	// The kernel itself looks for routers with IPv6.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/outside/disable_ipv6", []byte("1"), 0o644); err != nil {
		t.Logf("IPv6 stays on: %v", err)
	}
	for _, args := range [][]string{
		{"addr", "add", "192.0.2.2/24", "dev", "outside"},
		{"link", "set", "outside", "up"},
		{"route", "add", "default", "dev", "outside"},
	} {
		if out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %q: %v\n%s", args, err, out)
		}
	}
	var mu sync.Mutex
	var sent []string
	go func() {
		packet := make([]byte, 1<<16)
		for {
			n, err := device.Read(packet)
			if err != nil {
				return
			}
			mu.Lock()
			sent = append(sent, described(packet[:n]))
			mu.Unlock()
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, sent...)
	}
}

// described returns the protocol and the destination of an IP packet.
func described(packet []byte) string {
	if len(packet) >= 20 && packet[0]>>4 == 4 {
		return fmt.Sprintf("protocol %d to %v", packet[9], net.IP(packet[16:20]))
	}
	if len(packet) >= 40 && packet[0]>>4 == 6 {
		return fmt.Sprintf("protocol %d to %v", packet[6], net.IP(packet[24:40]))
	}
	return fmt.Sprintf("%d bytes", len(packet))
}
