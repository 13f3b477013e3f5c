package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/internal/durable"
)

const (
	// authorityLife is how long clients can trust the authority.
	authorityLife = 10 * 365 * 24 * time.Hour
	// clockSkew is how far a client's clock may be behind.
	clockSkew = 24 * time.Hour
	// maxCommonName is the longest common name (RFC 5280, appendix A).
	maxCommonName = 64
)

// privateSuffixes returns domains that do not exist on the public internet (RFC 6762 and
// 8375, and the domains of home routers). The authority may sign for them and for the box's
// names only: if its key is stolen, it cannot forge a public web site to those who trust
// it.
func privateSuffixes() []string {
	return []string{"local", "lan", "home.arpa", "internal", "localhost"}
}

// authority signs the certificates of one box.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// openAuthority reads the authority of a box from its folder, or makes it. The authority
// may sign for names, and for private domains. A copy of its certificate goes to the file
// public.
func openAuthority(folder, public string, names []string) (*authority, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "authority.pem")
	a, err := readAuthority(file)
	if errors.Is(err, fs.ErrNotExist) {
		if a, err = newAuthority(names); err == nil {
			err = durable.WriteFile(file, append(a.certificate(), keyPEM(a.key)...), 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	if now := time.Now(); now.After(a.cert.NotAfter) {
		return nil, fmt.Errorf("the authority in %s expired on %s: delete the file, and the next start makes a "+
			"new authority, which clients must then trust", file, a.cert.NotAfter.Format(time.DateOnly))
	}
	if old := filepath.Join(folder, "ca.crt"); old != public {
		_ = os.Remove(old) // from an earlier version; few users could read it there
	}
	// A copy without the key, which every user may read.
	return a, durable.WriteFile(public, a.certificate(), 0o644)
}

func readAuthority(file string) (*authority, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	broken := func(err error) error {
		return fmt.Errorf("%s cannot be used (%w): restore it from a backup, or delete it, and the next start "+
			"makes a new authority, which clients must then trust", file, err)
	}
	cert, key, err := parsePair(text)
	if err == nil && !cert.IsCA {
		err = errors.New("not an authority")
	}
	if err != nil {
		return nil, broken(err)
	}
	return &authority{cert, key}, nil
}

func newAuthority(names []string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	permitted := privateSuffixes()
	for _, name := range names {
		if net.ParseIP(name) == nil && !slices.Contains(permitted, name) {
			permitted = append(permitted, name)
		}
	}
	now := time.Now()
	host, err := os.Hostname()
	if err != nil || len(host) > maxCommonName/2 {
		host = "box"
	}
	cert, err := sign(&x509.Certificate{
		Subject: pkix.Name{Organization: []string{"Parley"},
			CommonName: "Parley on " + host + ", " + now.Format(time.DateOnly)},
		NotBefore:                   now.Add(-clockSkew),
		NotAfter:                    now.Add(authorityLife),
		KeyUsage:                    x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid:       true,
		IsCA:                        true,
		MaxPathLenZero:              true,
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         permitted,
	}, nil, key, key)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, nil
}

// permits reports whether the authority may sign for a name, which must be one of its
// domains or below one (RFC 5280, section 4.2.1.10).
func (a *authority) permits(name string) bool {
	for _, domain := range a.cert.PermittedDNSDomains {
		if name == domain || strings.HasSuffix(name, "."+domain) {
			return true
		}
	}
	return false
}

// issue signs a certificate for names and addresses.
func (a *authority) issue(names []string, addresses []net.IP, from, until time.Time) (*x509.Certificate,
	*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	cert, err := sign(&x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"Parley"}, CommonName: "Parley box"},
		NotBefore:             from,
		NotAfter:              until,
		DNSNames:              names,
		IPAddresses:           addresses,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}, a.cert, key, a.key)
	return cert, key, err
}

// certificate returns the authority's certificate as PEM.
func (a *authority) certificate() []byte { return certPEM(a.cert) }

// fingerprint returns the SHA-256 of the authority's certificate, as browsers and openssl
// show it.
func (a *authority) fingerprint() string { return fingerprintOf(a.cert.Raw) }

func fingerprintOf(der []byte) string {
	sum := sha256.Sum256(der)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum), " ", ":")
}

// Fingerprint returns the SHA-256 of the certificate in a PEM file, as browsers and openssl show it.
func Fingerprint(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return "", fmt.Errorf("%s is not a PEM file", file)
	}
	return fingerprintOf(block.Bytes), nil
}

// sign signs c for key. Without a parent, the certificate is self-signed.
func sign(c, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	c.SerialNumber = serial
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func keyPEM(key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil { // cannot fail for this curve
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// parsePair parses a certificate followed by its key.
func parsePair(text []byte) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certBlock, rest := pem.Decode(text)
	keyBlock, _ := pem.Decode(rest)
	if certBlock == nil || keyBlock == nil {
		return nil, nil, errors.New("not a certificate and its key in PEM")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, errors.New("the key is not the certificate's")
	}
	return cert, key, nil
}
