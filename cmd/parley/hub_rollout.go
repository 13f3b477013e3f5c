package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
)

type hubRolloutCmd struct {
	Kind string `arg:"" optional:"" help:"config, prompt, tool, voice, lexicon, plugin, setting; or a roll-out's id."`
	Item string `arg:"" optional:"" name:"name" help:"Its id or name; for a setting KEY=VALUE."`

	To       string        `placeholder:"TARGET" help:"all, group:NAME or box:NAME."`
	Canary   string        `placeholder:"N|BOX,…" help:"Let so many boxes, or these, run it first."`
	Soak     time.Duration `default:"10m" placeholder:"TIME" help:"How long the canaries must run it well (10m)."`
	Number   *int          `name:"number" placeholder:"N" help:"Version of a config, prompt or tool (the newest)."`
	Remove   bool          `help:"Take it off the target."`
	Account  string        `placeholder:"NAME" predictor:"account" help:"Account that has it (default)."`
	Stop     int64         `xor:"do" placeholder:"ID" help:"Take a roll-out back everywhere it went."`
	Continue int64         `xor:"do" placeholder:"ID" help:"Let a roll-out go to its whole target now."`

	hubFlags
}

func (hubRolloutCmd) Help() string {
	return `Examples:

  parley hub rollout config Guide --to group:museum --canary 1 --soak 30m

  parley hub rollout plugin weather --to all

  parley hub rollout setting speech.locale=en-GB --to box:museum-3

  parley hub rollout

  parley hub rollout --stop 12

A config goes with its prompt, its tools and its saved voice, as they are now; a later edit goes nowhere until it is ` +
		`rolled out too. Without --canary it goes to the whole target at once. If a canary cannot run it, or has a ` +
		`new problem, it is taken back. The id of a roll-out shows how far each box is.`
}

// Validate checks the combination of flags.
func (cmd *hubRolloutCmd) Validate() error {
	switch _, err := strconv.Atoi(cmd.Kind); {
	case cmd.Stop != 0 || cmd.Continue != 0 || cmd.Kind == "":
		if cmd.Kind != "" || cmd.To != "" {
			return errors.New("--stop and --continue take the id of a roll-out, and nothing else")
		}
		return nil
	case err == nil && cmd.Item == "":
		return nil
	case cmd.To == "":
		return errors.New("--to says where it goes: all, group:NAME or box:NAME")
	case cmd.Item == "" && cmd.Kind != string(contract.FleetLexicon):
		return fmt.Errorf("give the name of the %.40s", cmd.Kind)
	case cmd.Soak%time.Minute != 0 || cmd.Soak < 0:
		return fmt.Errorf("--soak %v is not allowed: use whole minutes, such as 10m", cmd.Soak)
	}
	return nil
}

const rolloutsPath = "/v0/box/fleet/rollouts"

// Run lists roll-outs, or begins or changes one.
func (cmd *hubRolloutCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	return cmd.with(ctx, cfg, func(b apiBox) error {
		var one contract.ReturnRollout
		var err error
		switch id, notID := strconv.Atoi(cmd.Kind); {
		case cmd.Stop != 0:
			err = b.request(ctx, http.MethodPost, fmt.Sprint(rolloutsPath, "/", cmd.Stop, "/stop"), nil, &one)
		case cmd.Continue != 0:
			err = b.request(ctx, http.MethodPost, fmt.Sprint(rolloutsPath, "/", cmd.Continue, "/continue"), nil, &one)
		case cmd.Kind == "":
			return cmd.list(ctx, c, b)
		case notID == nil:
			if err = b.request(ctx, http.MethodGet, fmt.Sprint(rolloutsPath, "/", id), nil, &one); err == nil {
				return cmd.show(c, one)
			}
		default:
			err = b.request(ctx, http.MethodPost, rolloutsPath, cmd.posted(), &one)
		}
		if err != nil {
			return err
		}
		return c.print(cmd.JSON, one, "roll-out %d of %s to %s is %s\n", one.ID, what(one), one.Target, one.State)
	})
}

// posted returns the request that begins the roll-out.
func (cmd *hubRolloutCmd) posted() contract.PostedRollout {
	minutes := int(cmd.Soak / time.Minute)
	p := contract.PostedRollout{
		Item:        contract.FleetItem{Kind: contract.FleetItemKind(cmd.Kind), Name: cmd.Item, Account: cmd.Account},
		Version:     cmd.Number,
		Remove:      cmd.Remove,
		Target:      cmd.To,
		SoakMinutes: &minutes,
	}
	if p.Item.Kind == contract.FleetSetting {
		p.Item.Name, p.Value, _ = strings.Cut(cmd.Item, "=")
	}
	if looksLikeID(cmd.Item) {
		p.Item.ID, p.Item.Name = cmd.Item, ""
	}
	if n, err := strconv.Atoi(cmd.Canary); err == nil {
		p.Canary = n
	} else if cmd.Canary != "" {
		p.CanaryBoxes = strings.Split(cmd.Canary, ",")
	}
	return p
}

// looksLikeID reports whether a name is the id of a config, prompt, tool or voice: a UUID.
func looksLikeID(name string) bool { return len(name) == 36 && strings.Count(name, "-") == 4 }

func (cmd *hubRolloutCmd) list(ctx context.Context, c *console, b apiBox) error {
	var page contract.ReturnPagedRollouts
	if err := b.request(ctx, http.MethodGet, rolloutsPath+"?page_size=50", nil, &page); err != nil {
		return err
	}
	head := []string{"ID", "BEGUN", "ITEM", "TARGET", "STATE", "RUN IT", "WHY"}
	return list(c, cmd.JSON, page.RolloutsPage, head, func(r contract.ReturnRollout) []string {
		runs := ""
		if all := r.Running + r.Waiting + r.Failed; all > 0 {
			runs = fmt.Sprintf("%d of %d", r.Running, all)
		}
		return []string{fmt.Sprint(r.ID), minute(r.CreatedOn), what(r), r.Target, r.State, runs, r.Why}
	})
}

func (cmd *hubRolloutCmd) show(c *console, r contract.ReturnRollout) error {
	if cmd.JSON {
		return c.json(r)
	}
	fmt.Fprintf(c.out, "roll-out %d of %s to %s is %s", r.ID, what(r), r.Target, r.State)
	if r.Why != "" {
		fmt.Fprintf(c.out, ": %s", r.Why)
	}
	fmt.Fprintln(c.out)
	return list(c, false, r.Boxes, []string{"BOX", "STATE", "CANARY", "WHY"}, func(b contract.RolloutBox) []string {
		canary := ""
		if b.Canary {
			canary = "yes"
		}
		return []string{b.Box, b.State, canary, b.Why}
	})
}

// what returns the item of a roll-out in words.
func what(r contract.ReturnRollout) string {
	text := string(r.Item.Kind) + " " + r.Item.Name
	switch {
	case r.Remove:
		return "the removal of " + strings.TrimSpace(text)
	case r.Version != nil:
		return text + fmt.Sprintf(" version %d", *r.Version)
	case r.Item.Kind == contract.FleetSetting:
		return text + "=" + r.Content
	case r.Content != "":
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(text), r.Content) // a lexicon has no name
	}
	return text
}
