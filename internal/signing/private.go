package signing

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"parley/internal/durable"
)

// ReadPrivate reads a private key from a PEM file with PKCS #8 (RFC 8410), as openssl
// genpkey -algorithm ed25519 creates it.
func ReadPrivate(file string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var key any
	if block, _ := pem.Decode(text); block != nil {
		key, _ = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is not an ed25519 private key in PEM (PKCS #8): openssl genpkey -algorithm ed25519 "+
			"creates one", filepath.Base(file))
	}
	return private, nil
}

// NewPrivate creates a private key in a new file, which only its owner can read. If the
// file exists, the error is fs.ErrExist.
func NewPrivate(file string) (ed25519.PrivateKey, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	coded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	f, err := durable.Create(file, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Discard()
	if err := pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: coded}); err != nil {
		return nil, err
	}
	return private, f.CommitNew()
}
