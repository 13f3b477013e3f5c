package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"parley/appliance/config"
)

// trustingClient returns a client that trusts the system's authorities and the one in the
// file ca or, if that is empty, the authority of the box of the data folder.
func trustingClient(ca string, cfg config.Config) (*http.Client, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a machine without authorities
	}
	file := ca
	if file == "" {
		file = cfg.AuthorityFile()
	}
	text, err := os.ReadFile(file)
	switch {
	case ca == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
		// there is no local box
	case err != nil:
		return nil, fmt.Errorf("--ca: %w", err)
	case !roots.AppendCertsFromPEM(text):
		return nil, fmt.Errorf("--ca: %s holds no certificate in PEM", file)
	}
	// Without HTTP/2, which has no WebSockets here.
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots},
	}}, nil
}

// untrustedError returns the error for a box whose certificate is not trusted, with
// advice; nil for other errors.
func untrustedError(address string, err error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok {
		return nil
	}
	return fmt.Errorf("this machine does not trust the certificate of the box at %s: fetch ca.crt from it, "+
		"compare its SHA-256 with the one that the box printed at its start, and pass --ca ca.crt", address)
}
