package config

import (
	"testing"

	"parley/internal/golden"
)

// Files, variables and scripts of operators have these names. No setting has an
// older name that is still read.
func TestGoldenSettings(t *testing.T) {
	lines := []string{FileName, fileVariable, cacheVariable}
	for _, s := range Settings() {
		line := s.Key + " " + s.Env() + " --" + s.Flag + " " + s.Takes
		if s.list {
			line += " list"
		}
		if s.pairs {
			line += " map"
		}
		if s.Switch {
			line += " switch"
		}
		lines = append(lines, line)
	}
	golden.Names(t, "settings", lines)
}
