package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/fleet"
)

type hubBoxesCmd struct {
	Name   string   `arg:"" optional:"" help:"Name of a box; without it, all are listed."`
	Add    bool     `xor:"do" help:"Add the box, and print the file with which it joins."`
	Remove bool     `xor:"do" help:"Remove the box: its credentials end, and what it sent stays."`
	Join   bool     `xor:"do" help:"Print a new file for the box; the old credentials end."`
	Groups []string `placeholder:"GROUP" help:"Groups of the box, with commas; alone, they replace its groups."`

	hubFlags
}

func (hubBoxesCmd) Help() string {
	return `Examples:

  parley hub boxes

  parley hub boxes museum-3 --add --groups museum,lobby > museum-3.join

  parley hub boxes museum-3 --groups lobby

  parley hub boxes museum-3 --join > museum-3.join

The file of --add and --join holds a private key: whoever reads it can pose as the box. On the box, the setting ` +
		`fleet.join names it, and nothing else is needed.`
}

// Validate checks the combination of flags.
func (cmd *hubBoxesCmd) Validate() error {
	if cmd.Name == "" {
		if cmd.Add || cmd.Remove || cmd.Join || len(cmd.Groups) > 0 {
			return errors.New("give the name of the box: parley hub boxes NAME --add")
		}
		return nil
	}
	errs := []error{fleet.CheckName(cmd.Name)}
	for _, g := range cmd.Groups {
		errs = append(errs, fleet.CheckName(g))
	}
	if (cmd.Remove || cmd.Join) && len(cmd.Groups) > 0 {
		errs = append(errs, errors.New("--groups goes with --add, or alone"))
	}
	return errors.Join(errs...)
}

const fleetBoxesPath = "/v0/box/fleet/boxes"

// Run lists the boxes, or changes one.
func (cmd *hubBoxesCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	return cmd.with(ctx, cfg, func(b apiBox) error {
		path := fleetBoxesPath + "/" + url.PathEscape(cmd.Name)
		switch {
		case cmd.Add:
			return cmd.printJoin(ctx, c, b, fleetBoxesPath, contract.PostedFleetBox{Name: cmd.Name, Groups: cmd.Groups})
		case cmd.Join:
			return cmd.printJoin(ctx, c, b, path+"/join", nil)
		case cmd.Remove:
			if err := b.request(ctx, http.MethodDelete, path, nil, nil); err != nil {
				return err
			}
			return c.print(cmd.JSON, map[string]string{"removed": cmd.Name}, "%s is removed\n", cmd.Name)
		case len(cmd.Groups) > 0:
			var box contract.ReturnFleetBox
			body := contract.PostedFleetGroups{Groups: cmd.Groups}
			if err := b.request(ctx, http.MethodPatch, path, body, &box); err != nil {
				return err
			}
			return c.print(cmd.JSON, box, "%s is in %s\n", cmd.Name, strings.Join(box.Groups, ", "))
		case cmd.Name != "":
			var box contract.ReturnFleetBox
			if err := b.request(ctx, http.MethodGet, path, nil, &box); err != nil {
				return err
			}
			return c.print(cmd.JSON, box, "%s", describeBox(box))
		}
		var all contract.ReturnFleetBoxes
		if err := b.request(ctx, http.MethodGet, fleetBoxesPath, nil, &all); err != nil {
			return err
		}
		head := []string{"BOX", "GROUPS", "SEEN", "VERSION", "CHATS", "RUNS", "PROBLEM"}
		return list(c, cmd.JSON, all.Boxes, head, boxRow)
	})
}

// printJoin prints the file with which a box joins, so that it can be written to one; what it is goes to the error
// output.
func (cmd *hubBoxesCmd) printJoin(ctx context.Context, c *console, b apiBox, path string, body any) error {
	var added contract.AddedFleetBox
	if err := b.request(ctx, http.MethodPost, path, body, &added); err != nil {
		return err
	}
	if cmd.JSON {
		return c.json(added)
	}
	fmt.Fprintf(c.err, "This is the file with which %s joins. Copy it to the box, and there run\n  parley serve "+
		"--fleet-join %[1]s.join\n", cmd.Name)
	_, err := fmt.Fprint(c.out, added.Join)
	return err
}

func boxRow(b contract.ReturnFleetBox) []string {
	row := []string{b.Name, strings.Join(b.Groups, ","), seen(b), "", "", "", ""}
	if s := b.State; s != nil {
		row[3], row[4] = s.Version, fmt.Sprintf("%d/%d", s.Live, s.Seats)
		row[5] = fmt.Sprintf("%d of %d", s.Running, b.Wanted)
		row[6] = problem(b)
	}
	return row
}

// seen returns when a box was heard of last, in words.
func seen(b contract.ReturnFleetBox) string {
	switch {
	case b.SeenOn == 0:
		return "never"
	case b.Online:
		return "now"
	}
	return time.UnixMilli(b.SeenOn).Format(time.DateTime)
}

// problem returns the first thing that is wrong with a box.
func problem(b contract.ReturnFleetBox) string {
	s := b.State
	switch {
	case s.Why != "":
		return s.Why
	case len(s.Problems) > 0:
		return s.Problems[0]
	case !s.Ready && len(s.Missing) > 0:
		return s.Missing[0]
	}
	return s.Waits
}

func describeBox(b contract.ReturnFleetBox) string {
	var out strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("box", "%s", b.Name)
	line("groups", "%s", strings.Join(b.Groups, ", "))
	line("seen", "%s", seen(b))
	line("stored chats", "%d", b.Chats)
	s := b.State
	if s == nil {
		return out.String()
	}
	line("version", "%s", s.Version)
	line("address", "%s", s.Address)
	line("live chats", "%d of %d", s.Live, s.Seats)
	line("runs", "revision %d of %d", s.Running, b.Wanted)
	line("load", "%.1f of %d cores%s", s.Load, s.Cores, celsius(s.CoreCelsius))
	line("disk", "%.1f GB free of %.1f GB%s", float64(s.DiskFree)/1e9, float64(s.DiskTotal)/1e9, celsius(s.DiskCelsius))
	line("memory", "%.1f GB free of %.1f GB", float64(s.MemoryFree)/1e9, float64(s.MemoryTotal)/1e9)
	line("facts", "%d wait, %d were dropped", s.FactsWaiting, s.FactsDropped)
	if why := problem(b); why != "" {
		line("problem", "%s", why)
	}
	return out.String()
}

func celsius(c *float64) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(", %.0f °C", *c)
}
