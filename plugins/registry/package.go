package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// howToBuild ends what is said of anything that is not yet the one file.
const howToBuild = "a plugin is one .wasm file, which parley plugin build DIR makes of its author's folder"

// Package is a plugin as it is installed: one module that carries its manifest,
// and perhaps cases, and a signature. The manifest is valid; no more than that is
// known of the module.
type Package struct {
	Manifest  manifest.Manifest
	Wasm      []byte
	Tests     map[string]string // cases by their file's name
	Signature *Signature        // nil where it has none
}

// newPackage checks what was read. signature is the text of its file; nil where
// there is none.
func newPackage(wasm, signature []byte) (p Package, err error) {
	p.Wasm = wasm
	if len(wasm) > sandbox.MaxModule {
		return p, unusable("the module has more than %d bytes, which is the most", sandbox.MaxModule)
	}
	var has bool
	if p.Manifest, has, err = manifest.Of(wasm); err != nil {
		return p, unusable("%v", err)
	}
	if !has {
		return p, unusable("the module carries no manifest (section %s): %s", manifest.SectionName, howToBuild)
	}
	if p.Tests, err = manifest.Tests(wasm); err != nil {
		return p, unusable("%v", err)
	}
	if p.Signature, err = parseSignature(signature); err == nil && p.Signature != nil {
		err = p.Signature.check(p.sums())
	}
	return p, err
}

// moduleName is what the module is called in what is signed, and in its folder in
// the data folder, whatever its author calls it.
const moduleName = "module.wasm"

// sums is what a signature is made over.
func (p Package) sums() []byte { return sumsOf(map[string][]byte{moduleName: p.Wasm}) }

// sumsOf lists files with their SHA-256, as sha256sum prints them, in the order of
// their names.
func sumsOf(files map[string][]byte) (list []byte) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = fmt.Appendf(list, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return list
}

// Digest names the package: the SHA-256 of the list of its files with theirs, and
// storeError its signature, in hexadecimal.
func (p Package) Digest() string { return digestOf(p.sums(), p.Signature) }

func digestOf(sums []byte, s *Signature) string {
	if s != nil {
		sums = append(sums, s.text()...)
	}
	sum := sha256.Sum256(sums)
	return hex.EncodeToString(sum[:])
}

// Signer is who signed it; empty: nobody.
func (p Package) Signer() Key { return p.Signature.signer() }
