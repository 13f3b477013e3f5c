package appliance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"parley/appliance/config"
)

// oldName is the host of the former cloud service, which some programs cannot be told to
// change.
const oldName = "api.hume.ai"

// privateNetworkVariable is set for a test process in a private network.
const privateNetworkVariable = "PARLEY_TEST_OWN_NETWORK"

// inPrivateNetwork reports whether the test runs in a private network, which has a loopback
// device and in which oldName is 127.0.0.1. If not, inPrivateNetwork runs the test again in
// a new process with such a network, takes over its result and returns false: the test has
// nothing left to do.
func inPrivateNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(privateNetworkVariable) != "" {
		if err := mapOldName(t.TempDir()); err != nil {
			t.Skipf("no /etc/hosts of its own: %v", err)
		}
		return true
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 { // other users may have a network only in a user namespace
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := runAgain(t, privateNetworkVariable, attr); err != nil {
		t.Skipf("this machine gives a test no network of its own: %v", err)
	}
	return false
}

// mapOldName starts the loopback device of the private network, and mounts over /etc/hosts,
// for this process and its children, a file that maps oldName to it.
func mapOldName(folder string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return err
	}
	hosts := filepath.Join(folder, "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost "+oldName+"\n"), 0o644); err != nil {
		return err
	}
	// Otherwise the whole machine would see the new /etc/hosts.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount(hosts, "/etc/hosts", "", unix.MS_BIND, "")
}

// startBoxUnderTheOldName runs a box with its own certificate at https://api.hume.ai, in
// the private network. It returns the environment in which unmodified programs trust the
// box and find its key.
func startBoxUnderTheOldName(t *testing.T, change ...func(*config.Config)) (b *runningBox, env []string) {
	t.Helper()
	b = startBox(t, append([]func(*config.Config){func(c *config.Config) {
		c.Listen, c.TLS = "127.0.0.1:443", config.TLS{Mode: config.TLSOwn, Names: []string{oldName}}
	}}, change...)...)
	b.url = "https://" + oldName
	key, ca := createKey(t, b), b.cfg.AuthorityFile()
	return b, []string{
		"HUME_API_KEY=" + key.APIKey, "HUME_SECRET_KEY=" + key.SecretKey,
		"NODE_EXTRA_CA_CERTS=" + ca, // Node.js
		"SSL_CERT_FILE=" + ca,       // Python: ssl, httpx, aiohttp, websockets
		"REQUESTS_CA_BUNDLE=" + ca,  // Python: requests
		"CURL_CA_BUNDLE=" + ca,
	}
}
