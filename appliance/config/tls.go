package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// TLSMode is where the certificate comes from.
type TLSMode string

// The modes. The default is TLSOff on a loopback address, on which no other machine can
// listen in, and TLSOwn on all others.
const (
	TLSOff   TLSMode = "off"
	TLSOwn   TLSMode = "own"   // made by the box, and signed by an authority that the box made
	TLSFiles TLSMode = "files" // given by the operator
	TLSACME  TLSMode = "acme"  // fetched from an ACME server, and renewed
)

// TLS configures the encryption of connections.
type TLS struct {
	Mode      TLSMode
	Cert, Key string   // PEM files; for TLSFiles
	Names     []string // names and addresses: for TLSACME all of them, for TLSOwn those beyond the machine's
	Directory string   // URL of the ACME server
	Email     string   // for the ACME server's warnings; may be empty
	Roots     string   // PEM file of the authorities that vouch for the ACME server; empty for the system's
}

// Off reports whether connections are not encrypted.
func (t TLS) Off() bool { return t.Mode == TLSOff }

// letsEncrypt is the directory of https://letsencrypt.org.
const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// setTLS parses a mode, CERT,KEY, or an ACME server as URL|EMAIL|ROOTS. acme stands for the
// server that is set already, or else Let's Encrypt.
func setTLS(c *Config, g assignment) error {
	t := &c.TLS
	first, rest, _ := strings.Cut(g.value, "|")
	cert, key, two := strings.Cut(g.value, ",")
	switch mode := strings.ToLower(first); {
	case mode == string(TLSACME) || strings.HasPrefix(mode, "https://"):
		if mode == string(TLSACME) {
			first = cmp.Or(t.Directory, letsEncrypt)
		}
		return setACME(c, g, first, rest)
	case rest == "" && mode == "auto":
		t.Mode = ""
	case rest == "" && (mode == string(TLSOff) || mode == string(TLSOwn)):
		t.Mode = TLSMode(mode)
	case two && cert != "" && key != "" && !strings.Contains(key, ","):
		t.Mode, t.Cert, t.Key = TLSFiles, absolute(cert, g.dir, g.home), absolute(key, g.dir, g.home)
	default:
		return fmt.Errorf("%q is not allowed: use auto, off, own, acme, an ACME server as URL|EMAIL|ROOTS, or a "+
			"certificate and its key as CERT.pem,KEY.pem", g.value)
	}
	t.Email, t.Roots = "", "" // a source with lower precedence may have set an ACME server
	return nil
}

// setACME parses the directory of an ACME server, followed by an e-mail address and a file.
func setACME(c *Config, g assignment, directory, rest string) (err error) {
	g.value = directory
	if err := setTLSACME(c, g); err != nil {
		return err
	}
	for part := range strings.SplitSeq(rest, "|") {
		if !strings.Contains(part, "@") {
			if part != "" {
				c.TLS.Roots = absolute(part, g.dir, g.home)
			}
		} else if c.TLS.Email, err = email(part); err != nil {
			return err
		}
	}
	return nil
}

func setTLSCert(c *Config, g assignment) error {
	c.TLS.Mode, c.TLS.Cert = TLSFiles, g.path()
	return nil
}

func setTLSKey(c *Config, g assignment) error {
	c.TLS.Mode, c.TLS.Key = TLSFiles, g.path()
	return nil
}

// hostPattern matches a name as certificates have it (RFC 1123, section 2.1), in lower
// case: labels with dots between them.
var hostPattern = regexp.MustCompile(`^` + hostLabel + `(\.` + hostLabel + `)*$`)

const hostLabel = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`

// hostName parses the name or the address of a host.
func hostName(text string) (string, error) {
	name := strings.ToLower(text)
	if addr, err := netip.ParseAddr(name); err == nil && addr.Zone() == "" {
		return addr.Unmap().String(), nil
	}
	if len(name) > 253 || !hostPattern.MatchString(name) {
		return "", fmt.Errorf(
			"%.80q is neither the name nor the address of a host: use for example box.example or 192.0.2.7", name)
	}
	return name, nil
}

func setTLSACME(c *Config, g assignment) error {
	directory := g.value
	if strings.EqualFold(directory, "letsencrypt") {
		directory = letsEncrypt
	}
	u, err := url.Parse(directory)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not the directory of an ACME server: use letsencrypt, or its https:// URL", g.value)
	}
	c.TLS.Mode, c.TLS.Directory = TLSACME, directory
	return nil
}

var email = matching(`^[^@ ,<>]+@[^ ,<>]+$`, "is not an e-mail address: use an address such as operator@box.example")

// check checks the settings together, for a box that listens at an address, and chooses the
// mode if none is set.
func (t *TLS) check(listen string) error {
	host, _, _ := net.SplitHostPort(listen) // was checked when it was set
	if t.Mode == "" {
		t.Mode = TLSOwn
		if loopback(host) {
			t.Mode = TLSOff
		}
	}
	isAddress := func(name string) bool { _, err := netip.ParseAddr(name); return err == nil }
	switch {
	case t.Mode == TLSFiles && (t.Cert == "") != (t.Key == ""):
		return errors.New("tls: a certificate and its key go together: set both cert and key")
	case t.Mode == TLSACME && len(t.Names) == 0:
		return errors.New("tls: an ACME server needs names: set tls.names to the names that lead to this box, such " +
			"as box.example")
	case t.Mode == TLSACME && slices.ContainsFunc(t.Names, isAddress):
		return fmt.Errorf(
			"tls.names: ACME gives certificates for names, not addresses, here (%s): leave the addresses out",
			strings.Join(t.Names, ", "))
	case t.Mode != TLSACME && (t.Email != "" || t.Roots != ""):
		return errors.New("tls: email and roots are for an ACME server, but none is used: set tls to acme or " +
			"to the server's directory, or leave them out")
	}
	return nil
}

// Exposed returns a warning if others can listen in on the connections of a box that
// listens at an address, and "" otherwise.
func (t TLS) Exposed(listen string) string {
	host, _, _ := net.SplitHostPort(listen)
	if !t.Off() || loopback(host) {
		return ""
	}
	return fmt.Sprintf("TLS IS OFF and the box listens on %s: everyone on that network can read the conversations "+
		"and the keys, and use them. Leave tls out and the box makes a certificate of its own, or listen on 127.0.0.1",
		listen)
}
