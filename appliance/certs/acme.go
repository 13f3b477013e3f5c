package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// openACME fetches certificates from an ACME server (RFC 8555), and renews them until ctx
// ends. The server verifies the names by TLS-ALPN (RFC 8737): it connects to port 443 of
// each name, which must lead to the box's port. So the box needs no second port. By
// choosing ACME the operator agrees to the server's terms.
func openACME(ctx context.Context, o Options, at net.Addr, log *slog.Logger) (*tls.Config, func(), error) {
	roots, err := readRoots(o.Roots)
	if err != nil {
		return nil, nil, err
	}
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return nil, nil, fmt.Errorf("acme needs a TCP port, not %s", at)
	}
	quiet := zap.NewNop() // OnEvent logs what matters
	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil },
		Logger:           quiet,
	})
	magic = certmagic.New(cache, certmagic.Config{
		Storage:           &certmagic.FileStorage{Path: filepath.Join(o.Folder, "acme")},
		DefaultServerName: o.Names[0], // for clients that connect by address
		OnEvent: func(_ context.Context, name string, data map[string]any) error {
			if name == "cert_obtained" {
				o.made(fmt.Sprint(data["identifier"]))
			}
			return logACME(log, name, data)
		},
		Logger: quiet,
	})
	magic.Issuers = []certmagic.Issuer{certmagic.NewACMEIssuer(magic, certmagic.ACMEIssuer{
		CA:                   o.Directory,
		Email:                o.Email,
		Agreed:               true,
		TrustedRoots:         roots,
		DisableHTTPChallenge: true,
		ListenHost:           o.Host,
		AltTLSALPNPort:       tcp.Port,
		Logger:               quiet,
	})}
	ctx, cancel := context.WithCancel(ctx)
	// The box does not wait for a server that may be unreachable.
	if err := magic.ManageAsync(ctx, slices.Clone(o.Names)); err != nil {
		cancel()
		cache.Stop()
		return nil, nil, fmt.Errorf("acme: %w", err)
	}
	return magic.TLSConfig(), func() { cancel(); cache.Stop() }, nil
}

// logACME logs whether a certificate was obtained.
func logACME(log *slog.Logger, name string, data map[string]any) error {
	switch name {
	case "cert_obtained":
		log.Info("the box has a certificate", "name", data["identifier"], "renewed", data["renewal"])
	case "cert_failed":
		log.Error(
			"no certificate from the ACME server; trying again: check that the name leads to port 443 of this box",
			"name", data["identifier"], "renewal", data["renewal"], "err", data["error"])
	}
	return nil
}

// readRoots reads the authorities that vouch for an ACME server that is not publicly
// trusted. It returns nil, for those of the system, if file is empty.
func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("roots: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("roots: %s holds no certificate in PEM", file)
	}
	return roots, nil
}
