package shelf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// The names of what a plugin is made of, in its folder in the data folder and in
// what is signed. Whatever an author calls the module, here it is module.wasm.
const (
	manifestName  = "plugin.yaml"
	moduleName    = "module.wasm"
	signatureName = "plugin.sig"
	testsFolder   = "tests"
)

const (
	// maxTests and maxTestBytes bound the cases that come along: they are small
	// texts, and all of them run at each upgrade.
	maxTests     = 200
	maxTestBytes = 8 << 20
)

var testPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.json$`)

// Package is all that a plugin is made of, read and checked: its manifest is
// valid, and no more than that is known of its module.
type Package struct {
	Manifest  manifest.Manifest
	Text      []byte // the manifest's; nil where it stands in the module
	Wasm      []byte
	Tests     map[string][]byte // cases by their file's name
	Signature *Signature        // nil where it has none
}

// newPackage checks what was read. text is nil where there is no plugin.yaml.
func newPackage(text, wasm []byte, tests map[string][]byte, signature []byte) (Package, error) {
	p := Package{Text: text, Wasm: wasm, Tests: tests}
	if len(wasm) > sandbox.MaxModule {
		return p, unusable("the module has more than %d bytes, which is the most", sandbox.MaxModule)
	}
	inside, has, err := manifest.Of(wasm)
	switch {
	case err != nil:
		return p, unusable("%v", err)
	case text == nil && !has:
		return p,
			unusable("the module carries no manifest: put a %s beside it, or the same text in its custom section %s",
				manifestName, manifest.SectionName)
	case text == nil:
		p.Manifest = inside
	default:
		if p.Manifest, err = manifest.Parse(text); err != nil {
			return p, unusable("%v", err)
		}
		if has && !same(inside, p.Manifest) {
			return p, unusable("%s and the module's section %s say different things; build the plugin again",
				manifestName, manifest.SectionName)
		}
	}
	if p.Signature, err = parseSignature(signature); err != nil {
		return p, err
	}
	if p.Signature != nil {
		err = p.Signature.check(p.sums())
	}
	return p, err
}

// same tells whether two manifests mean the same, but for where the module lies.
func same(a, b manifest.Manifest) bool {
	a.Wasm, b.Wasm = "", ""
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, other)
}

// files are those of the package by name, without the signature.
func (p Package) files() map[string][]byte {
	all := map[string][]byte{moduleName: p.Wasm}
	if p.Text != nil {
		all[manifestName] = p.Text
	}
	for name, text := range p.Tests {
		all[path.Join(testsFolder, name)] = text
	}
	return all
}

// sums lists the files with their SHA-256, as sha256sum prints them, in the order
// of their names: what a signature is made over.
func (p Package) sums() []byte {
	var b bytes.Buffer
	files := p.files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return b.Bytes()
}

// Digest names the package: the SHA-256 of the list of its files with theirs, and
// of its signature, in hexadecimal.
func (p Package) Digest() string {
	all := p.sums()
	if p.Signature != nil {
		all = append(all, p.Signature.text()...)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:])
}

// Signer is who signed it; empty: nobody.
func (p Package) Signer() Key {
	if p.Signature == nil {
		return ""
	}
	return p.Signature.Key
}

// tools are the names of its tools.
func tools(m manifest.Manifest) (names []string) {
	for _, t := range m.Tools {
		names = append(names, t.Name)
	}
	return names
}

// addTest takes one case, and says when there are too many.
func addTest(tests map[string][]byte, name string, text []byte) error {
	if !testPattern.MatchString(name) {
		return unusable("%s/%.80q is no name of a case: use letters, digits, ., _ and -, with .json at the end",
			testsFolder, name)
	}
	total := len(text)
	for _, t := range tests {
		total += len(t)
	}
	if len(tests) == maxTests || total > maxTestBytes {
		return unusable("%s holds more than %d cases, or more than %d bytes; carry fewer along", testsFolder, maxTests,
			maxTestBytes)
	}
	tests[name] = text
	return nil
}

// isTest tells whether a path in a package is one of a case, and which.
func isTest(name string) (string, bool) {
	below, ok := strings.CutPrefix(name, testsFolder+"/")
	return below, ok && strings.HasSuffix(below, ".json")
}
