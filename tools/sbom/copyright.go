package main

import (
	"regexp"
	"strings"

	"parley/firmware/licences"
)

// head begins Debian's copyright file.
const head = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Parley
Comment:
 The program contains the works below. Files names where their sources lie when
 "go mod vendor" and tools/web/install have fetched them, and go is the Go
 language's own folder. "go mod download NAME@VERSION" fetches the source of each
 Go module, and "npm pack NAME@VERSION" that of each npm package; sbom.cdx.json
 has the versions. None of them was changed.
`

// copyright returns Debian's copyright file for the parts of the program: a paragraph for those that share their
// licence and its texts.
func copyright(parts []licences.Part) string {
	type paragraph struct{ files, holders []string }
	var order []string
	paragraphs := map[string]*paragraph{}
	for _, p := range parts {
		files := filesOf(p)
		if files == "" {
			continue
		}
		licence := licenceField(p)
		if paragraphs[licence] == nil {
			paragraphs[licence] = &paragraph{}
			order = append(order, licence)
		}
		one := paragraphs[licence]
		one.files = append(one.files, files)
		for _, holder := range p.Copyright {
			if !strings.Contains(strings.Join(one.holders, "\n")+"\n", holder+"\n") {
				one.holders = append(one.holders, holder)
			}
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for _, licence := range order {
		p := paragraphs[licence]
		holders := p.holders
		if len(holders) == 0 {
			holders = []string{"its authors, whom its sources do not name"}
		}
		b.WriteString("\nFiles: " + strings.Join(p.files, "\n "))
		b.WriteString("\nCopyright: " + strings.Join(holders, "\n "))
		b.WriteString("\nLicense: " + licence)
	}
	return b.String()
}

// filesOf returns the pattern of the files of a part, or nothing for a part that is not in the package.
func filesOf(p licences.Part) string {
	switch p.Kind {
	case licences.Program:
		return "*"
	case licences.Go:
		if p.Name == licences.Library {
			return "go/*"
		}
		return "vendor/" + p.Name + "/*"
	case licences.C:
		return "vendor/*/" + p.Texts[0].File
	case licences.Page:
		return "web/node_modules/" + p.Name + "/*"
	case licences.Pack, licences.System:
	}
	return ""
}

// inDebian lists the licences that every Debian system has, by what begins their texts.
var inDebian = []struct {
	begins *regexp.Regexp
	file   string
}{
	{regexp.MustCompile(`(?m)^\s*Apache License\s+Version 2\.0`), "Apache-2.0"},
	{regexp.MustCompile(`(?m)^\s*Mozilla Public License,? [Vv]ersion 2\.0`), "MPL-2.0"},
	{regexp.MustCompile(`(?m)^\s*GNU GENERAL PUBLIC LICENSE\s+Version 2`), "GPL-2"},
	{regexp.MustCompile(`(?m)^\s*Creative Commons Legal Code\s+CC0 1\.0`), "CC0-1.0"},
}

// licenceField returns the field License: the SPDX expression, then the texts. The texts that every Debian system has
// are replaced by their names there.
func licenceField(p licences.Part) string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer(" AND ", " and ", " OR ", " or ").Replace(p.Licence) + "\n")
	seen := map[string]bool{}
	for _, t := range p.Texts {
		text := t.Text
		for _, common := range inDebian {
			if at := common.begins.FindStringIndex(text); at != nil {
				text = text[:at[0]] + "On Debian systems, the text of this licence is in\n/usr/share/common-licenses/" +
					common.file + ".\n"
			}
		}
		if seen[text] {
			continue
		}
		if len(seen) > 0 {
			b.WriteString(" .\n")
		}
		seen[text] = true
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				line = ".\n"
			}
			b.WriteString(" " + line)
		}
	}
	return b.String()
}
