package config

import (
	"testing"

	"parley/internal/golden"
)

// Files, variables and scripts of operators have these names, those that are old too.
func TestGoldenSettings(t *testing.T) {
	lines := []string{FileName, fileVariable, cacheVariable}
	for _, s := range every() {
		line := s.Key
		if s.Flag != "" {
			line += " " + s.Env() + " --" + s.Flag + " " + s.Takes
		}
		if s.list {
			line += " list"
		}
		if s.pairs {
			line += " map"
		}
		if s.Switch {
			line += " switch"
		}
		if s.Into != "" {
			line += " old: " + s.Into
		}
		lines = append(lines, line)
	}
	golden.Names(t, "settings", lines)
}
