// Package certs gives the box its TLS certificate: one that the box signs itself, one from
// files, or one from an ACME server. It also serves the port that speaks TLS and answers
// clients that do not.
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

// Source is where the certificate comes from.
type Source string

// The sources.
const (
	Off   Source = "off"   // connections are not encrypted
	Own   Source = "own"   // made by the box, and signed by an authority that the box made
	Files Source = "files" // given by the operator
	ACME  Source = "acme"  // fetched from an ACME server, and renewed
)

// Options are the operator's settings.
type Options struct {
	Source        Source
	Folder        string // for the keys and certificates that the box makes or fetches
	AuthorityFile string // for the certificate of the box's authority, which clients read

	CertFile, KeyFile string   // PEM files; for Files
	Names             []string // names and addresses: for ACME all of them, for Own those beyond the machine's

	Host      string // at which the box listens; empty for all addresses
	Directory string // URL of the ACME server's directory
	Email     string // for the ACME server's warnings; may be empty
	Roots     string // PEM file of the authorities that vouch for the ACME server; empty for the system's

	// Made is called after the box made or fetched a certificate for these names and
	// addresses; it may be nil.
	Made func(names string)
}

func (o Options) made(names string) {
	if o.Made != nil {
		o.Made(names)
	}
}

// Identity is the certificate of a box.
type Identity struct {
	config    *tls.Config // nil: connections are not encrypted
	authority *authority  // of Own; nil for the other sources
	close     func()
	log       *slog.Logger
	served    atomic.Pointer[tls.Certificate] // to the newest client
}

// Open opens or makes the certificate that o asks for, for a box that listens at the
// address at.
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
		var certificate *boxCertificate
		if certificate, err = openBoxCertificate(o, log); err == nil {
			id.config, id.authority = &tls.Config{GetCertificate: certificate.get}, certificate.authority
			log.Info("the box has a certificate of its own", "authority", o.AuthorityFile, "sha256",
				certificate.authority.fingerprint())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	if id.config != nil {
		// Older versions have known weaknesses, and every client since 2014 speaks 1.2.
		id.config.MinVersion = tls.VersionTLS12
		id.recordServed()
	}
	return id, nil
}

// recordServed makes GetCertificate record the certificate that clients get. It leaves out
// the certificates by which an ACME server verifies a name.
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

// Config returns a configuration with the certificate, for listeners besides that of HTTP; nil
// if connections are not encrypted.
func (id *Identity) Config() *tls.Config {
	if id.config == nil {
		return nil
	}
	return &tls.Config{GetCertificate: id.config.GetCertificate, MinVersion: id.config.MinVersion}
}

// Leaf returns the certificate that the newest client got, and nil before the first.
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

// Close stops the renewal of certificates.
func (id *Identity) Close() { id.close() }

// Authority returns the certificate of the box's authority as PEM, and nil if the box has
// no authority.
func (id *Identity) Authority() []byte {
	if id.authority == nil {
		return nil
	}
	return id.authority.certificate()
}

// Fingerprint returns the SHA-256 of the authority's certificate, as browsers and openssl
// show it, and "" if the box has no authority.
func (id *Identity) Fingerprint() string {
	if id.authority == nil {
		return ""
	}
	return id.authority.fingerprint()
}
