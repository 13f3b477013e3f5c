// Package signing signs files with ed25519 keys (RFC 8032) and checks signatures.
package signing

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxBytes bounds the text of a signature, which has 138 bytes.
const MaxBytes = 1 << 10

// keyPrefix is the kind of a key, in settings and in signatures.
const keyPrefix = "ed25519:"

// A Key is the public key of a signer: "ed25519:" and the 32 bytes of the key in base64
// (RFC 4648, section 4).
type Key string

// ParseKey parses a key.
func ParseKey(text string) (Key, error) {
	if _, err := Key(text).public(); err != nil {
		return "", err
	}
	return Key(text), nil
}

func (k Key) public() (ed25519.PublicKey, error) {
	coded, ok := strings.CutPrefix(string(k), keyPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(coded)
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%.80q is not a key: use %s and the 32 bytes of the public key in base64, as "+
			"parley plugin sign prints it", string(k), keyPrefix)
	}
	return raw, nil
}

// In reports whether k is one of keys. An empty key never is.
func (k Key) In(keys []Key) bool { return k != "" && slices.Contains(keys, k) }

// KeyOf returns the key that verifies signatures by private.
func KeyOf(private ed25519.PrivateKey) Key {
	public, _ := private.Public().(ed25519.PublicKey)
	return Key(keyPrefix + base64.StdEncoding.EncodeToString(public))
}

// A Signature names its signer. Only [Signature.Signs] tells whether it is genuine.
type Signature struct {
	Key   Key
	bytes []byte
}

// Sign signs a message.
func Sign(message []byte, private ed25519.PrivateKey) Signature {
	return Signature{KeyOf(private), ed25519.Sign(private, message)}
}

// Signs reports whether the signer signed this message.
func (s Signature) Signs(message []byte) bool {
	public, err := s.Key.public()
	return err == nil && ed25519.Verify(public, message, s.bytes)
}

// Text returns the signature as a line: the key, a space, and the signature in base64.
func (s Signature) Text() []byte {
	return fmt.Appendf(nil, "%s %s\n", s.Key, base64.StdEncoding.EncodeToString(s.bytes))
}

// Parse parses a signature's line.
func Parse(text []byte) (Signature, error) {
	words := strings.Fields(string(text))
	if len(words) != 2 {
		return Signature{}, errors.New("the signature is malformed: it holds a key, a space and a signature")
	}
	key, err := ParseKey(words[0])
	if err != nil {
		return Signature{}, fmt.Errorf("the signature is malformed: %w", err)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(words[1])
	if err != nil || len(raw) != ed25519.SignatureSize {
		return Signature{}, fmt.Errorf("the signature is malformed: it has %d bytes in base64", ed25519.SignatureSize)
	}
	return Signature{key, raw}, nil
}
