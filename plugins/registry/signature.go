package registry

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// maxSignature bounds the file of a signature, which has 138 bytes.
const maxSignature = 1 << 10

// keyPrefix is the kind of a key, in settings and in signatures.
const keyPrefix = "ed25519:"

// Key is the public key of a signer: "ed25519:" and the 32 bytes of the key in base64 (RFC
// 4648, section 4).
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
		return nil, fmt.Errorf("not a key (%.80q): write %s and the 32 bytes of the public key in base64, as parley "+
			"plugin sign prints it", string(k), keyPrefix)
	}
	return raw, nil
}

// KeyOf returns the key that verifies signatures by private.
func KeyOf(private ed25519.PrivateKey) Key {
	public, _ := private.Public().(ed25519.PublicKey)
	return Key(keyPrefix + base64.StdEncoding.EncodeToString(public))
}

// Signature is the signature of a plugin. A parsed signature is valid: an invalid one is an
// error.
type Signature struct {
	Key  Key
	sign []byte
}

// signer returns the signer's key; empty for nil.
func (s *Signature) signer() Key {
	if s == nil {
		return ""
	}
	return s.Key
}

// Sign returns the content of the file NAME.wasm.sig for a package: the key, a space, and
// the ed25519 signature (RFC 8032) of its file list in base64.
func Sign(p Package, private ed25519.PrivateKey) []byte {
	s := Signature{KeyOf(private), ed25519.Sign(private, p.sums())}
	return s.text()
}

func (s Signature) text() []byte {
	return fmt.Appendf(nil, "%s %s\n", s.Key, base64.StdEncoding.EncodeToString(s.sign))
}

// parseSignature parses the file of a signature. It returns nil for nil.
func parseSignature(text []byte) (*Signature, error) {
	if text == nil {
		return nil, nil
	}
	words := strings.Fields(string(text))
	if len(words) != 2 {
		return nil, unusable("the signature file is malformed: it holds a key, a space and a signature")
	}
	key, err := ParseKey(words[0])
	if err != nil {
		return nil, unusable("the signature: %v", err)
	}
	sign, err := base64.StdEncoding.Strict().DecodeString(words[1])
	if err != nil || len(sign) != ed25519.SignatureSize {
		return nil, unusable("the signature is malformed: it has %d bytes in base64", ed25519.SignatureSize)
	}
	return &Signature{key, sign}, nil
}

// check returns an error if the signature is not valid for these files.
func (s Signature) check(sums []byte) error {
	public, err := s.Key.public()
	if err != nil {
		return err
	}
	if !ed25519.Verify(public, sums, s.sign) {
		return unusable("the signature by %s does not match these files: the files were changed, or the "+
			"signature belongs to another plugin. Get the plugin again from a source that you trust", s.Key)
	}
	return nil
}

// Trust decides whose plugins a box runs.
type Trust struct {
	Keys     []Key // trusted signers
	Required bool  // run only plugins that one of them has signed
}

// Trusts reports whether k is one of the trusted keys.
func (t Trust) Trusts(k Key) bool {
	for _, trusted := range t.Keys {
		if k != "" && k == trusted {
			return true
		}
	}
	return false
}

// refuses returns why a plugin of that signer is not run; empty if it is.
func (t Trust) refuses(signer Key) string {
	switch {
	case !t.Required || t.Trusts(signer):
		return ""
	case signer == "":
		return "the plugin is not signed, and this box runs signed plugins only (plugin_signatures.required)"
	case len(t.Keys) == 0:
		return fmt.Sprintf(
			"the plugin is signed by %s, and this box trusts no key: if you trust it, add it to "+
				"plugin_signatures.keys", signer)
	}
	return fmt.Sprintf("the plugin is signed by %s, which this box does not trust: if you trust it, add it to "+
		"plugin_signatures.keys", signer)
}
