// Package licences lists the works inside a box, with their versions, licences and the texts of these licences.
package licences

import (
	_ "embed"
	"runtime/debug"
	"slices"

	"parley/firmware/packs"
	"parley/internal/version"
)

//go:generate go run ../../tools/licences

// Kind is how a part belongs to a box.
type Kind string

// The kinds of parts.
const (
	Program Kind = "program" // Parley itself
	Go      Kind = "go"      // the Go language's library, or a Go module linked into the program
	C       Kind = "c"       // C sources compiled into the program
	Page    Kind = "npm"     // an npm package inside the scripts of the pages
	Pack    Kind = "pack"    // a model pack
	System  Kind = "debian"  // a package of Debian that the program opens or runs
)

// A Part is a work inside a box.
type Part struct {
	Kind      Kind     `json:"kind"`
	Name      string   `json:"name"`
	Version   string   `json:"version,omitempty"` // empty for a package of Debian, whose version Debian chooses
	Licence   string   `json:"licence"`           // SPDX expression; empty if unknown
	Copyright []string `json:"copyright,omitempty"`
	Package   string   `json:"package,omitempty"` // Debian's name
	Texts     []Text   `json:"-"`
}

// A Text is a licence or a notice that belongs to a part.
type Text struct {
	File string // its name in the sources of the part
	Text string
}

// inside has the parts of the program. tools/licences collects them.
//
//go:embed inside.json
var inside []byte

// All returns the parts of a box: those of this program, then the packs, then what Debian provides.
func All() ([]Part, error) {
	info, _ := debug.ReadBuildInfo()
	return Of(info)
}

// Of returns the parts of a box with the program that was built as info says. If info is nil or that of another
// program, such as a test, the modules are those of Parley's sources.
func Of(info *debug.BuildInfo) ([]Part, error) {
	parts, err := decode(inside)
	if err != nil {
		return nil, err
	}
	parts[0].Version = version.String()
	if info != nil && info.Path == "parley/cmd/parley" {
		parts = linked(parts, info.GoVersion, info.Deps)
	}
	models, err := ofPacks()
	if err != nil {
		return nil, err
	}
	return slices.Concat(parts, models, OfDebian()), nil
}

// Library is the name of the part that is Go's standard library and runtime.
const Library = "Go"

// linked returns the parts without the Go modules that are not among the linked ones, and with those that are. A module
// that is linked in another version than the collected one has an unknown licence. Go has the given version.
func linked(parts []Part, goVersion string, modules []*debug.Module) []Part {
	var all []Part
	known := map[string]bool{}
	for _, p := range parts {
		if p.Kind == Go && p.Name == Library {
			p.Version = goVersion
		}
		if p.Kind != Go || p.Name == Library {
			all = append(all, p)
			continue
		}
		for _, m := range modules {
			if m.Path == p.Name && m.Version == p.Version {
				all, known[p.Name] = append(all, p), true
			}
		}
	}
	for _, m := range modules {
		if !known[m.Path] {
			all = append(all, Part{Kind: Go, Name: m.Path, Version: m.Version})
		}
	}
	return all
}

// ofPacks returns the model packs that Parley can fetch.
func ofPacks() ([]Part, error) {
	var parts []Part
	for _, p := range packs.BuiltIn() {
		if p.System != nil {
			continue // OfDebian has it
		}
		text, err := p.LicenceText()
		if err != nil {
			return nil, err
		}
		part := Part{Kind: Pack, Name: p.Name, Version: p.Version, Licence: p.Licence}
		for _, c := range p.Credits {
			part.Copyright = append(part.Copyright, c.Copyright)
		}
		if text != "" {
			part.Texts = append(part.Texts, Text{"LICENSE", text})
		}
		if p.Note != "" {
			part.Texts = append(part.Texts, Text{"NOTE", p.Note + "\n"})
		}
		parts = append(parts, part)
	}
	return parts, nil
}
