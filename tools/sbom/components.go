package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"parley/firmware/licences"
	"parley/firmware/packs"
)

// components returns the parts of the program, the packs, then the Debian packages that the package names.
func (s subject) components() ([]cdx.Component, error) {
	sums := map[string]string{}
	for _, m := range s.build.Deps {
		sums[m.Path] = m.Sum
	}
	builds := map[string]packs.Build{}
	for _, p := range packs.BuiltIn() {
		if b, ok := p.Builds[s.arch]; ok {
			builds[p.Name] = b
		} else if b, ok := p.Builds["any"]; ok {
			builds[p.Name] = b
		}
	}
	var all []cdx.Component
	for _, p := range s.parts {
		c := cdx.Component{
			Type:      cdx.ComponentTypeLibrary,
			Name:      p.Name,
			Version:   p.Version,
			Licenses:  licence(p.Licence),
			Copyright: strings.Join(p.Copyright, "\n"),
			Scope:     cdx.ScopeRequired,
		}
		switch p.Kind {
		case licences.Go:
			if err := goModule(&c, sums[p.Name]); err != nil {
				return nil, err
			}
		case licences.C:
			c.PackageURL = "pkg:generic/" + url.PathEscape(p.Name) + "@" + p.Version
		case licences.Page:
			c.PackageURL = "pkg:npm/" + p.Name + "@" + p.Version
		case licences.Pack:
			b, ok := builds[p.Name]
			if !ok {
				continue // it has no build for this processor
			}
			pack(&c, b)
		case licences.Program, licences.System:
			continue // the package itself; and named by it
		}
		c.BOMRef = c.PackageURL
		all = append(all, c)
	}
	return append(all, s.ofDebian()...), nil
}

// goModule fills in what a Go module has. The hash of a module, in go.sum, is a SHA-256 of the hashes of its files.
func goModule(c *cdx.Component, sum string) error {
	if c.Name == licences.Library {
		c.Name, c.Version = "std", strings.TrimPrefix(c.Version, "go")
		c.PackageURL = "pkg:golang/std@" + c.Version
		return nil
	}
	c.PackageURL = "pkg:golang/" + c.Name + "@" + c.Version
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
	if err != nil {
		return fmt.Errorf("the hash %q of %s: %w", sum, c.Name, err)
	}
	c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	return nil
}

// pack fills in what a model pack has: its files with their hashes, and the packages that they come from. It is not in
// the Debian package: the owner of the box chooses the packs.
func pack(c *cdx.Component, b packs.Build) {
	c.Type = cdx.ComponentTypeMachineLearningModel
	if strings.HasPrefix(c.Name, "runtime-") {
		c.Type = cdx.ComponentTypeLibrary
	}
	c.Scope = cdx.ScopeOptional
	c.PackageURL = "pkg:generic/parley-pack-" + c.Name + "@" + c.Version
	var files []cdx.Component
	for _, f := range b.Files {
		files = append(files, cdx.Component{
			BOMRef: c.PackageURL + "#" + f.Name,
			Type:   cdx.ComponentTypeFile,
			Name:   f.Name,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: f.SHA256}},
		})
	}
	c.Components = &files
	var from []cdx.ExternalReference
	for _, s := range b.Sources {
		kind := map[string]string{"pip": "pypi", "npm": "npm", "go": "golang"}[s.Client]
		name := strings.Replace(s.Package, "@", "%40", 1)
		from = append(from, cdx.ExternalReference{
			Type: cdx.ERTypeDistribution,
			URL:  "pkg:" + kind + "/" + name + "@" + s.Version,
		})
	}
	c.ExternalReferences = &from
}

// ofDebian returns the packages that the package depends on and recommends. One of several alternatives is optional.
func (s subject) ofDebian() []cdx.Component {
	var all []cdx.Component
	add := func(field string, scope cdx.Scope) {
		for group := range strings.SplitSeq(field, ",") {
			alternatives := strings.Split(group, "|")
			for _, one := range alternatives {
				name, wants, _ := strings.Cut(strings.TrimSpace(one), " ")
				if name == "" {
					continue
				}
				c := cdx.Component{
					BOMRef:     "pkg:deb/debian/" + name,
					PackageURL: "pkg:deb/debian/" + name,
					Type:       cdx.ComponentTypeLibrary,
					Name:       name,
					Scope:      scope,
				}
				if len(alternatives) > 1 {
					c.Scope = cdx.ScopeOptional
				}
				if wants != "" {
					c.Properties = &[]cdx.Property{{Name: "parley:version", Value: strings.Trim(wants, "()")}}
				}
				if p, ok := s.known(name); ok {
					c.Licenses, c.Description = licence(p.Licence), p.Name
				}
				all = append(all, c)
			}
		}
	}
	add(s.depends, cdx.ScopeRequired)
	add(s.recommends, cdx.ScopeOptional)
	return all
}

// known returns the part of the box that a package of Debian is.
func (s subject) known(name string) (licences.Part, bool) {
	for _, p := range s.parts {
		if p.Kind == licences.System && strings.HasPrefix(name, p.Package) {
			return p, true
		}
	}
	return licences.Part{}, false
}
