package main

import (
	"runtime"

	"parley/internal/version"
	"parley/store"
)

// versionFlag prints the version, wherever it is on the command line.
type versionFlag bool

// BeforeReset prints the version instead of running the command.
func (versionFlag) BeforeReset(c *console, s *shown) error {
	s.done, s.err = true, (&versionCmd{}).Run(c)
	return nil
}

// versionCmd prints the version, and the licences.
type versionCmd struct {
	Licences bool `help:"List all parts of the box with their licences, and print the licences."`
	JSON     bool `name:"json" help:"Print JSON."`
}

func (versionCmd) Help() string {
	return "Examples:\n\n  parley version --json\n  parley version --licences | less"
}

// Run prints the version, or the licences.
func (v *versionCmd) Run(c *console) error {
	if v.Licences {
		return c.printLicences(v.JSON)
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	build := runtime.Version() + ", " + platform
	if version.Commit() != "" {
		build = "commit " + version.Commit() + ", " + build
	}
	schema, err := store.NewestSchema()
	if err != nil {
		return err
	}
	return c.print(v.JSON,
		map[string]any{
			"version":  version.String(),
			"commit":   version.Commit(),
			"go":       runtime.Version(),
			"platform": platform,
			"schema":   schema, // of the database; parley update compares it
		},
		"parley %s (%s)\n", version.String(), build)
}
