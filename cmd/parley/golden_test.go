package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"parley/internal/golden"
)

// Scripts and system units use these commands, flags and variables, also the hidden ones.
func TestGoldenCommands(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, variable := range environment() {
		name, _, _ := strings.Cut(variable, " ")
		lines = append(lines, name)
	}
	golden.Names(t, "commands", append(lines, spelled(parser.Model.Node)...))
}

// spelled returns how n and the commands below it are typed, a line for each flag and
// argument.
func spelled(n *kong.Node) []string {
	lines := []string{n.FullPath()}
	for _, a := range n.Positional {
		lines = append(lines, n.FullPath()+" "+a.Summary())
	}
	for _, f := range n.Flags {
		word := "--" + f.Name
		if f.Short != 0 {
			word = "-" + string(f.Short) + "," + word
		}
		if !f.IsBool() {
			word += "=" + f.FormatPlaceHolder()
		}
		for _, also := range append(f.Aliases, f.Envs...) {
			word += "," + also
		}
		lines = append(lines, n.FullPath()+" "+word)
	}
	for _, sub := range n.Children {
		lines = append(lines, spelled(sub)...)
	}
	return lines
}
