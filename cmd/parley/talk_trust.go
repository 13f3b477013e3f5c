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

// trustingClient returns a client that trusts, besides whom the system trusts, the
// authority in the file ca or, where none is named, that of the box whose data
// lies on this machine.
func trustingClient(ca string, cfg config.Config) (*http.Client, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a machine without any
	}
	file := ca
	if file == "" {
		file = cfg.AuthorityFile()
	}
	text, err := os.ReadFile(file)
	switch {
	case ca == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
		// no box of ours here
	case err != nil:
		return nil, fmt.Errorf("--ca: %w", err)
	case !roots.AppendCertsFromPEM(text):
		return nil, fmt.Errorf("--ca: %s holds no certificate in PEM", file)
	}
	// Without HTTP/2, over which WebSockets do not go.
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots},
	}}, nil
}

// untrustedError says what to do about a box whose certificate nobody vouches for;
// nil when that is not what is wrong.
func untrustedError(address string, err error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok {
		return nil
	}
	return fmt.Errorf("nobody whom this machine trusts vouches for the box at %s: fetch ca.crt from it, compare its "+
		"SHA-256 with what the box printed at its start, and pass --ca ca.crt", address)
}
