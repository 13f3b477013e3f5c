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
	made      func(names string)
	log       *slog.Logger
	now       func() time.Time

	mu        sync.Mutex
	cert      *tls.Certificate
	reachedAt []net.IP // addresses that clients connected to, beyond those of the interfaces
}

// maxReachedAt bounds reachedAt; a machine has a few link-local addresses.
const maxReachedAt = 32

// openBoxCertificate opens or makes the box's certificate in the folder, and before it the
// authority.
func openBoxCertificate(options Options, log *slog.Logger) (*boxCertificate, error) {
	a, err := openAuthority(options.Folder, options.AuthorityFile, append(hostNames(), options.Names...))
	if err != nil {
		return nil, err
	}
	o := &boxCertificate{
		authority: a,
		file:      filepath.Join(options.Folder, "box.pem"),
		extra:     options.Names,
		made:      options.made,
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
func (c *boxCertificate) load() *tls.Certificate {
	text, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		leaf, key, e := parsePair(text)
		if e == nil {
			e = leaf.CheckSignatureFrom(c.authority.cert)
		}
		if e == nil {
			return &tls.Certificate{Certificate: [][]byte{leaf.Raw, c.authority.cert.Raw}, PrivateKey: key, Leaf: leaf}
		}
		err = e
	}
	c.log.Warn("the box's certificate is made anew", "file", c.file, "why", err)
	return nil
}

// get returns the certificate for a client that connects.
func (c *boxCertificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	var at net.IP
	if hello.Conn != nil {
		if tcp, ok := hello.Conn.LocalAddr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			at = tcp.IP
		}
	}
	return c.current(at)
}

// current returns a certificate that is valid now and that covers the address at, unless at
// is nil.
func (c *boxCertificate) current(at net.IP) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.cert != nil {
		leaf := c.cert.Leaf
		fresh := now.After(leaf.NotBefore) && now.Before(leaf.NotAfter.Add(-boxCertRenewal)) ||
			leaf.NotAfter.Equal(c.authority.cert.NotAfter) && now.Before(leaf.NotAfter)
		known := at == nil || contains(leaf.IPAddresses, at) || len(c.reachedAt) >= maxReachedAt
		if fresh && known {
			return c.cert, nil
		}
	}
	if at != nil && !contains(c.reachedAt, at) {
		c.reachedAt = append(c.reachedAt, at)
	}
	names, addresses := c.identifiers()
	leaf, key, err := c.authority.issue(names, addresses, now.Add(-clockSkew), now.Add(boxCertLife))
	if err != nil {
		return nil, err
	}
	c.cert = &tls.Certificate{Certificate: [][]byte{leaf.Raw, c.authority.cert.Raw}, PrivateKey: key, Leaf: leaf}
	c.log.Info("the box has made itself a certificate", "names", names, "addresses", addresses, "until",
		leaf.NotAfter.Format(time.DateOnly))
	if err := durable.WriteFile(c.file, append(certPEM(leaf), keyPEM(key)...), 0o600); err != nil {
		c.log.Warn("the box's certificate cannot be stored; the next start makes another one", "err", err)
	}
	for _, ip := range addresses {
		names = append(names, ip.String())
	}
	c.made(strings.Join(names, " "))
	return c.cert, nil
}

// complete reports whether the certificate covers all names and addresses of the box.
func (c *boxCertificate) complete() bool {
	names, addresses := c.identifiers()
	for _, name := range names {
		if !slices.Contains(c.cert.Leaf.DNSNames, name) {
			return false
		}
	}
	return !slices.ContainsFunc(addresses, func(ip net.IP) bool { return !contains(c.cert.Leaf.IPAddresses, ip) })
}

// identifiers returns the names and addresses of the box, as far as its authority may sign
// for them.
func (c *boxCertificate) identifiers() (names []string, addresses []net.IP) {
	addresses = slices.Concat([]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, MachineAddresses(), c.reachedAt)
	for _, name := range append(hostNames(), c.extra...) {
		switch ip := net.ParseIP(name); {
		case ip != nil && !contains(addresses, ip):
			addresses = append(addresses, ip)
		case ip != nil, slices.Contains(names, name):
		case c.authority.permits(name):
			names = append(names, name)
		default:
			c.log.Warn("the box's authority was made before this name was set and may not sign for it: delete "+
				"authority.pem, and the next start makes a new authority, which clients must then trust",
				"name", name, "folder", filepath.Dir(c.file))
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
