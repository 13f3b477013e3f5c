package registry

import (
	"crypto/ed25519"
	"fmt"

	"parley/internal/signing"
)

// Sign returns the content of the file NAME.wasm.sig for a package: the signature of its
// file list.
func Sign(p Package, private ed25519.PrivateKey) []byte {
	return signing.Sign(p.sums(), private).Text()
}

// parseSignature parses the file of a signature. It returns nil for nil.
func parseSignature(text []byte) (*signing.Signature, error) {
	if text == nil {
		return nil, nil
	}
	s, err := signing.Parse(text)
	if err != nil {
		return nil, unusable("%v", err)
	}
	return &s, nil
}

// checkSignature returns an error if the signature is not valid for these files.
func checkSignature(s signing.Signature, sums []byte) error {
	if s.Signs(sums) {
		return nil
	}
	return unusable("the signature by %s does not match these files: the files were changed, or the "+
		"signature belongs to another plugin. Get the plugin again from a source that you trust", s.Key)
}

// Trust decides whose plugins a box runs.
type Trust struct {
	Keys     []signing.Key // trusted signers
	Required bool          // run only plugins that one of them has signed
}

// Trusts reports whether k is one of the trusted keys.
func (t Trust) Trusts(k signing.Key) bool { return k.In(t.Keys) }

// refuses returns why a plugin of that signer is not run; empty if it is.
func (t Trust) refuses(signer signing.Key) string {
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
