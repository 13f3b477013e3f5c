package config

import (
	"testing"

	"parley/internal/golden"
)

// The files, variables and scripts of operators use these names, old names included.
func TestGoldenSettings(t *testing.T) {
	lines := []string{FileName, fileVariable, cacheVariable}
	for _, s := range allSettings() {
		line := s.Key
		if s.Flag != "" {
			line += " " + s.Env() + " --" + s.Flag + " " + s.Placeholder
		}
		if s.isList {
			line += " list"
		}
		if s.isMap {
			line += " map"
		}
		for _, k := range s.keys {
			line += " " + k.name
		}
		if s.Switch {
			line += " switch"
		}
		if s.PartOf != "" {
			line += " old: " + s.PartOf
		}
		lines = append(lines, line)
	}
	golden.Names(t, "settings", lines)
}
