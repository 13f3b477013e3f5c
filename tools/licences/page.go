package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/firmware/licences"
)

// documentation is the page whose table of all parts of the program is generated, between two marks.
const (
	documentation = "docs/licences.md"
	begin         = "<!-- parts: go generate ./firmware/licences -->\n"
	end           = "<!-- end of parts -->\n"
)

// withTable returns the page with its table made anew: a licence a row, with the parts of the program under it.
func withTable(page []byte, parts []licences.Part) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		return nil, fmt.Errorf("%s lacks the lines %q and %q", documentation, begin, end)
	}
	under := map[string][]string{}
	for _, p := range parts {
		under[p.Licence] = append(under[p.Licence], p.Name)
	}
	var table strings.Builder
	table.WriteString("\n| licence | parts of the program |\n|---|---|\n")
	for _, licence := range slices.Sorted(maps.Keys(under)) {
		fmt.Fprintf(&table, "| %s | %s |\n", licence, strings.Join(under[licence], ", "))
	}
	table.WriteString("\n")
	return slices.Concat(before, []byte(begin), []byte(table.String()), []byte(end), after), nil
}
