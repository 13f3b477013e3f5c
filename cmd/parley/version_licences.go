package main

import (
	"fmt"
	"io"
	"strings"

	"parley/firmware/licences"
)

// printLicences prints the parts of a box, then the texts of their licences and notices.
func (c *console) printLicences(asJSON bool) error {
	parts, err := licences.All()
	if err != nil {
		return err
	}
	if asJSON {
		return c.json(parts)
	}
	head := []string{"PART", "VERSION", "KIND", "LICENCE"}
	err = list(c, false, parts, head, func(p licences.Part) []string {
		name := p.Name
		if p.Package != "" && p.Package != p.Name {
			name += " (" + p.Package + ")"
		}
		licence := p.Licence
		if licence == "" {
			licence = "unknown"
		}
		return []string{name, p.Version, string(p.Kind), licence}
	})
	if err != nil {
		return err
	}
	const sources = `
The source of a Go module: go mod download PART@VERSION. Of an npm package: npm pack PART@VERSION.
Debian's packages have their licences in /usr/share/doc/PACKAGE/copyright.
`
	_, err = io.WriteString(c.out, sources+textsOf(parts))
	return err
}

// textsOf returns the texts of all parts, each once, below the names of the parts that it belongs to.
func textsOf(parts []licences.Part) string {
	var order []string
	owners := map[string][]string{}
	for _, p := range parts {
		for _, t := range p.Texts {
			if owners[t.Text] == nil {
				order = append(order, t.Text)
			}
			owners[t.Text] = append(owners[t.Text], fmt.Sprintf("%s %s: %s\n", p.Name, p.Version, t.File))
		}
	}
	rule := "\n" + strings.Repeat("-", 80) + "\n"
	var b strings.Builder
	for _, text := range order {
		b.WriteString(rule)
		for _, owner := range owners[text] {
			b.WriteString(owner)
		}
		b.WriteString(rule[1:] + "\n" + text)
	}
	return b.String()
}
