package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"

	"parley/firmware/licences"
	"parley/internal/version"
)

// A subject is a package of which a bill is made.
type subject struct {
	program, arch       string
	depends, recommends string // fields of the package
	made                time.Time
	build               *buildinfo.BuildInfo
	parts               []licences.Part
}

// bill returns the bill of materials as JSON. Its serial number is made from its content.
func (s subject) bill() ([]byte, error) {
	itself, err := s.itself()
	if err != nil {
		return nil, err
	}
	components, err := s.components()
	if err != nil {
		return nil, err
	}
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{
		Timestamp: s.made.Format(time.RFC3339),
		Component: itself,
		Tools: &cdx.ToolsChoice{Components: &[]cdx.Component{
			{Type: cdx.ComponentTypeApplication, Name: "parley/tools/sbom", Version: version.String()},
		}},
	}
	b.Components = &components
	needs := make([]string, len(components))
	for i, c := range components {
		needs[i] = c.BOMRef
	}
	b.Dependencies = &[]cdx.Dependency{{Ref: itself.BOMRef, Dependencies: &needs}}
	content, err := encoded(b)
	if err != nil {
		return nil, err
	}
	b.SerialNumber = "urn:uuid:" + uuid.NewHash(sha256.New(), uuid.NameSpaceURL, content, 8).String()
	return encoded(b)
}

// encoded returns the JSON of a bill.
func encoded(b *cdx.BOM) ([]byte, error) {
	var out bytes.Buffer
	e := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := e.EncodeVersion(b, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// itself returns the package, with the hash of its program and what it was compiled with.
func (s subject) itself() (*cdx.Component, error) {
	sum, err := hashOf(s.program)
	if err != nil {
		return nil, err
	}
	compiler, err := compilerOf(s.program)
	if err != nil {
		return nil, err
	}
	properties := []cdx.Property{{Name: "parley:gcc", Value: compiler}, {Name: "parley:go", Value: s.build.GoVersion}}
	for _, setting := range s.build.Settings {
		properties = append(properties, cdx.Property{Name: "parley:build:" + setting.Key, Value: setting.Value})
	}
	purl := "pkg:deb/parley-box@" + version.String() + "?arch=" + s.arch
	return &cdx.Component{
		BOMRef:     purl,
		PackageURL: purl,
		Type:       cdx.ComponentTypeApplication,
		Name:       "parley-box",
		Version:    version.String(),
		Licenses:   licence("Apache-2.0"),
		Properties: &properties,
		Components: &[]cdx.Component{{
			BOMRef: "/usr/bin/parley",
			Type:   cdx.ComponentTypeFile,
			Name:   "/usr/bin/parley",
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}},
		}},
	}, nil
}

// licence returns an SPDX expression in the form of a bill.
func licence(expression string) *cdx.Licenses {
	return &cdx.Licenses{{Expression: expression}}
}

// hashOf returns the SHA-256 of a file in hexadecimal.
func hashOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// compilerOf returns the compilers of the parts in C, as the program itself names them.
func compilerOf(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	section := f.Section(".comment")
	if section == nil {
		return "", fmt.Errorf("%s names no compiler: it has no section .comment", program)
	}
	text, err := section.Data()
	return strings.Trim(strings.ReplaceAll(string(text), "\x00", "; "), "; "), err
}
