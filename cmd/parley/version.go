package main

import (
	"fmt"
	"runtime"

	"parley/appliance"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Help shows the command in use.
func (versionCmd) Help() string { return "Example:\n\n  parley version --json" }

// Run prints the version.
func (v *versionCmd) Run(c *console) error {
	if v.JSON {
		return c.json(map[string]string{"version": appliance.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(c.out, "parley %s (%s, %s/%s)\n", appliance.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
