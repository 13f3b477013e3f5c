package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"parley/internal/signing"
	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// howToBuild ends the errors about files that are not a plugin yet.
const howToBuild = "a plugin is one .wasm file, which parley plugin build DIR makes from a project folder"

// Package is a plugin as it is installed: one module with its manifest and perhaps test
// cases, and perhaps a signature. The manifest is valid; nothing more has been checked of
// the module.
type Package struct {
	Manifest  manifest.Manifest
	Wasm      []byte
	Tests     map[string]string  // test cases by file name
	Signature *signing.Signature // nil if it is not signed
}

// newPackage checks a module. signature is the content of the signature's file, or nil.
func newPackage(wasm, signature []byte) (p Package, err error) {
	p.Wasm = wasm
	if len(wasm) > sandbox.MaxModule {
		return p, unusable("the module is too large: at most %d bytes are allowed", sandbox.MaxModule)
	}
	var has bool
	if p.Manifest, has, err = manifest.Of(wasm); err != nil {
		return p, unusable("%v", err)
	}
	if !has {
		return p, unusable("the module has no manifest (section %s): %s", manifest.SectionName, howToBuild)
	}
	if p.Tests, err = manifest.Tests(wasm); err != nil {
		return p, unusable("%v", err)
	}
	if p.Signature, err = parseSignature(signature); err == nil && p.Signature != nil {
		err = checkSignature(*p.Signature, p.sums())
	}
	return p, err
}

// moduleName is the name of the module in the signed list and in the data folder, whatever
// its author calls it.
const moduleName = "module.wasm"

// sums returns the list of files that a signature is made over.
func (p Package) sums() []byte { return sumsOf(map[string][]byte{moduleName: p.Wasm}) }

// sumsOf lists files with their SHA-256 in the format of sha256sum, by name.
func sumsOf(files map[string][]byte) (list []byte) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = fmt.Appendf(list, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return list
}

// Digest identifies the package: the SHA-256, in hexadecimal, of the list of its files and
// of its signature.
func (p Package) Digest() string { return digestOf(p.sums(), p.Signature) }

func digestOf(sums []byte, s *signing.Signature) string {
	if s != nil {
		sums = append(sums, s.Text()...)
	}
	sum := sha256.Sum256(sums)
	return hex.EncodeToString(sum[:])
}

// Signer returns the key that signed the package; empty if it is not signed.
func (p Package) Signer() signing.Key {
	if p.Signature == nil {
		return ""
	}
	return p.Signature.Key
}
