package debian

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"strings"
)

// note says what the licences of Debian's packages ask of those who pass them on.
//
//go:embed sources.txt
var note string

// Sources returns the text that belongs to copies of Debian's packages: which licences they are under, and how to get
// the source of each. suite is the code name of their release.
func Sources(ctx context.Context, suite string, debs []Deb) ([]byte, error) {
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(note, "SUITE", suite) + "\n")
	for _, d := range debs {
		control, err := output(exec.CommandContext(ctx, "dpkg-deb", "-f", d.Path))
		if err != nil {
			return nil, err
		}
		source, version := sourceOf(control)
		fmt.Fprintf(&text, "%s %s: %s=%s\n", fieldOf(control, "Package"), fieldOf(control, "Version"), source, version)
	}
	return []byte(text.String()), nil
}

// sourceOf returns the source package of a package and its version. The field Source is absent if both are the same
// as those of the package, and has no version if that is the same.
func sourceOf(control string) (name, version string) {
	name, version = fieldOf(control, "Package"), fieldOf(control, "Version")
	if source := fieldOf(control, "Source"); source != "" {
		own, in, differs := strings.Cut(source, " ")
		name = own
		if differs {
			version = strings.Trim(in, "()")
		}
	}
	return name, version
}
