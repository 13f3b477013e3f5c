// Package certs is how the box proves who it is: certificates of its own,
// those of files, those of an ACME server, and the port that speaks TLS and
// tells clients that come without it.
package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
)

// Source says where the certificate comes from.
type Source string

// The sources.
const (
	Off   Source = "off"   // there is none: connections are not encrypted
	Own   Source = "own"   // made by the box, signed by an authority of its own
	Files Source = "files" // given by the operator
	ACME  Source = "acme"  // fetched from a certificate authority, and renewed
)

// Options are what the operator decides.
type Options struct {
	Source        Source
	Folder        string // where keys and certificates are kept that the box makes or fetches
	AuthorityFile string // where the certificate of its own authority is left for clients

	CertFile, KeyFile string   // PEM files of Files
	Names             []string // names and addresses: all of ACME, those besides the machine's own of Own

	Host      string // on which the box listens; empty is all of the machine's
	Directory string // URL of the ACME server's directory
	Email     string // for the ACME server's warnings; may be empty
	Roots     string // PEM file of the authorities by which the ACME server is trusted; empty: the system's
}

// Identity is what the box shows to those who connect.
type Identity struct {
	config    *tls.Config // nil: connections are not encrypted
	authority *authority  // that signs the box's own certificate; nil where another one does
	close     func()
	log       *slog.Logger
	served    atomic.Pointer[tls.Certificate] // to the newest who connected
}

// Open opens or makes the certificate that o asks for, of a box that listens at
// that address.
func Open(ctx context.Context, o Options, at net.Addr, log *slog.Logger) (*Identity, error) {
	id := &Identity{close: func() {}, log: log}
	var err error
	switch o.Source {
	case Files:
		var files *certificateFiles
		if files, err = openFiles(o.CertFile, o.KeyFile, log); err == nil {
			id.config = &tls.Config{GetCertificate: files.get}
		}
	case ACME:
		id.config, id.close, err = openACME(ctx, o, at, log)
	case Own:
		var own *boxCertificate
		if own, err = openBoxCertificate(o.Folder, o.AuthorityFile, o.Names, log); err == nil {
			id.config, id.authority = &tls.Config{GetCertificate: own.get}, own.authority
			log.Info("the box has a certificate of its own", "authority", o.AuthorityFile, "sha256",
				own.authority.fingerprint())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	if id.config != nil {
		// What came before has known weaknesses, and every client since 2014
		// speaks it.
		id.config.MinVersion = tls.VersionTLS12
		id.recordServed()
	}
	return id, nil
}

// recordServed keeps what is shown to those who connect, but for the certificates by
// which an ACME server makes sure of a name.
func (id *Identity) recordServed() {
	get := id.config.GetCertificate
	id.config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, err := get(hello)
		if err == nil && c != nil && !slices.Contains(hello.SupportedProtos, "acme-tls/1") {
			id.served.Store(c)
		}
		return c, err
	}
}

// Leaf is the certificate that was shown to the newest who connected; nil where
// none was.
func (id *Identity) Leaf() *x509.Certificate {
	c := id.served.Load()
	if c == nil || len(c.Certificate) == 0 {
		return nil
	}
	if c.Leaf != nil {
		return c.Leaf
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		return nil // clients refuse it too
	}
	return leaf
}

// Close ends what goes on in the background: the renewal of certificates.
func (id *Identity) Close() { id.close() }

// Authority is the certificate of the box's own authority as PEM, which clients
// may have; nil where the box has none.
func (id *Identity) Authority() []byte {
	if id.authority == nil {
		return nil
	}
	return id.authority.certificate()
}

// Fingerprint is the SHA-256 of that certificate, as browsers and openssl show
// it; empty where there is none.
func (id *Identity) Fingerprint() string {
	if id.authority == nil {
		return ""
	}
	return id.authority.fingerprint()
}
