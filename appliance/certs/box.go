package certs

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/durable"
)

const (
	// boxCertLife is how long the box's certificate lasts: less than the 398 days beyond
	// which browsers refuse one.
	boxCertLife = 180 * 24 * time.Hour
	// boxCertRenewal is how long before its end it is replaced.
	boxCertRenewal = 60 * 24 * time.Hour
)

// boxCertificate is a certificate that the box signs with its authority. It covers the
// machine's names and addresses. It is replaced when it is about to expire, when a client
// connects to an address that it does not cover, and when the box starts with other names.
type boxCertificate struct {
	authority *authority
	file      string
	extra     []string // names and addresses from the settings
	log       *slog.Logger
	now       func() time.Time

	mu        sync.Mutex
	cert      *tls.Certificate
	reachedAt []net.IP // addresses that clients connected to, beyond those of the interfaces
}

// maxReachedAt bounds reachedAt; a machine has a few link-local addresses.
const maxReachedAt = 32

// openBoxCertificate opens or makes the box's certificate in folder, and before it the
// authority, whose certificate goes to the file public.
func openBoxCertificate(folder, public string, extra []string, log *slog.Logger) (*boxCertificate, error) {
	a, err := openAuthority(folder, public, append(hostNames(), extra...))
	if err != nil {
		return nil, err
	}
	o := &boxCertificate{
		authority: a,
		file:      filepath.Join(folder, "box.pem"),
		extra:     extra,
		log:       log,
		now:       time.Now,
	}
	if o.cert = o.load(); o.cert != nil && !o.complete() {
		o.cert = nil
	}
	_, err = o.current(nil)
	return o, err
}

// load returns the certificate from before the restart, which a browser may have been told
// to accept. It returns nil if the certificate is missing or unusable.
func (o *boxCertificate) load() *tls.Certificate {
	text, err := os.ReadFile(o.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		leaf, key, e := parsePair(text)
		if e == nil {
			e = leaf.CheckSignatureFrom(o.authority.cert)
		}
		if e == nil {
			return &tls.Certificate{Certificate: [][]byte{leaf.Raw, o.authority.cert.Raw}, PrivateKey: key, Leaf: leaf}
		}
		err = e
	}
	o.log.Warn("the box's certificate is made anew", "file", o.file, "why", err)
	return nil
}

// get returns the certificate for a client that connects.
func (o *boxCertificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	var at net.IP
	if hello.Conn != nil {
		if tcp, ok := hello.Conn.LocalAddr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			at = tcp.IP
		}
	}
	return o.current(at)
}

// current returns a certificate that is valid now and that covers the address at, unless at
// is nil.
func (o *boxCertificate) current(at net.IP) (*tls.Certificate, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if o.cert != nil {
		leaf := o.cert.Leaf
		fresh := now.After(leaf.NotBefore) && now.Before(leaf.NotAfter.Add(-boxCertRenewal)) ||
			leaf.NotAfter.Equal(o.authority.cert.NotAfter) && now.Before(leaf.NotAfter)
		known := at == nil || contains(leaf.IPAddresses, at) || len(o.reachedAt) >= maxReachedAt
		if fresh && known {
			return o.cert, nil
		}
	}
	if at != nil && !contains(o.reachedAt, at) {
		o.reachedAt = append(o.reachedAt, at)
	}
	names, addresses := o.identifiers()
	leaf, key, err := o.authority.issue(names, addresses, now.Add(-clockSkew), now.Add(boxCertLife))
	if err != nil {
		return nil, err
	}
	o.cert = &tls.Certificate{Certificate: [][]byte{leaf.Raw, o.authority.cert.Raw}, PrivateKey: key, Leaf: leaf}
	o.log.Info("the box has made itself a certificate", "names", names, "addresses", addresses, "until",
		leaf.NotAfter.Format(time.DateOnly))
	if err := durable.WriteFile(o.file, append(certPEM(leaf), keyPEM(key)...), 0o600); err != nil {
		o.log.Warn("the box's certificate cannot be stored; the next start makes another one", "err", err)
	}
	return o.cert, nil
}

// complete reports whether the certificate covers all names and addresses of the box.
func (o *boxCertificate) complete() bool {
	names, addresses := o.identifiers()
	for _, name := range names {
		if !slices.Contains(o.cert.Leaf.DNSNames, name) {
			return false
		}
	}
	return !slices.ContainsFunc(addresses, func(ip net.IP) bool { return !contains(o.cert.Leaf.IPAddresses, ip) })
}

// identifiers returns the names and addresses of the box, as far as its authority may sign
// for them.
func (o *boxCertificate) identifiers() (names []string, addresses []net.IP) {
	addresses = slices.Concat([]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, MachineAddresses(), o.reachedAt)
	for _, name := range append(hostNames(), o.extra...) {
		switch ip := net.ParseIP(name); {
		case ip != nil && !contains(addresses, ip):
			addresses = append(addresses, ip)
		case ip != nil, slices.Contains(names, name):
		case o.authority.permits(name):
			names = append(names, name)
		default:
			o.log.Warn("the box's authority was made before this name was set and may not sign for it: delete "+
				"authority.pem, and the next start makes a new authority, which clients must then trust",
				"name", name, "folder", filepath.Dir(o.file))
		}
	}
	return names, addresses
}

func contains(addresses []net.IP, ip net.IP) bool {
	return slices.ContainsFunc(addresses, ip.Equal)
}

// nameLetters are the characters of names in certificates (RFC 1123, section 2.1). A
// machine's name may have others.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-."

// hostNames returns the names of this machine: its host name, and the name that it has by
// multicast DNS if that runs.
func hostNames() []string {
	names := []string{"localhost"}
	name, err := os.Hostname()
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if err != nil || name == "" || strings.Trim(name, nameLetters) != "" || name == "localhost" {
		return names
	}
	names = append(names, name)
	if !strings.Contains(name, ".") {
		names = append(names, name+".local")
	}
	return names
}

// MachineAddresses returns the addresses of the machine's interfaces that other machines
// can reach.
func MachineAddresses() []net.IP {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var reachable []net.IP
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			reachable = append(reachable, n.IP)
		}
	}
	return reachable
}
