package box

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/appliance/engine/remote"
	"parley/appliance/engines"
	"parley/firmware/doctor"
)

// examineServers asks each server that runs engines for the box whether it is there. The error is only
// ctx's.
func examineServers(ctx context.Context, cfg config.Config) (all []doctor.Finding, err error) {
	for _, c := range engines.CheckServers(ctx, cfg) {
		all = append(all, serverFinding(c))
	}
	return all, context.Cause(ctx)
}

// serverFinding reports what a server answered.
func serverFinding(c engines.ServerCheck) doctor.Finding {
	f := doctor.Finding{
		Part:   c.Serves + " server",
		Health: doctor.OK,
		What:   fmt.Sprintf("%s: answers in %d ms", c.Describe(), max(c.Took, time.Millisecond).Milliseconds()),
	}
	switch {
	case c.Err != nil:
		f.Health, f.What = doctor.Problem, c.Describe()+": "+c.Err.Error()
		f.Mend = "start it, or mend its entry in the settings; parley config shows where that is"
		if c.Covered {
			f.Health, f.What = doctor.Warning, f.What+"; others take over"
		}
	case !remote.Has(c.Models, c.Model):
		f.Health = doctor.Warning
		f.What += fmt.Sprintf(", but does not list the model %q: it has %.300s", c.Model, strings.Join(c.Models, ", "))
		f.Mend = "name one of its models in the settings, or load that one there"
	}
	return f
}
